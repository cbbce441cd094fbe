"""LoRAs tuned on what a run selected: from `salva export` to a checkpoint that generates with them."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

torch: Any = pytest.importorskip("torch", reason="needs the extra torch")
pytest.importorskip("diffusers", reason="needs the extra diffusers")
pytest.importorskip("peft", reason="needs peft")
pytest.importorskip("pyarrow", reason="needs the extra parquet")

from backends.tiny_pipelines import save_sdxl, save_stable_diffusion  # noqa: E402
from in_process import salva  # noqa: E402

sys.path.append(str(Path(__file__).parents[2] / "training"))
import tune_diffusers  # noqa: E402

# A scheduler of diffusers mixes numpy and torch in a way numpy will not take for ever.
pytestmark = pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")

SAVERS = {"sd": save_stable_diffusion, "sdxl": save_sdxl}


@pytest.fixture(scope="module")
def exports(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Right images, and preferences, of a painter that leaves things out."""
    folder = tmp_path_factory.mktemp("exports")
    run, sft, dpo = folder / "run", folder / "sft", folder / "dpo.parquet"
    faults = ("--set", "model.faults=entity-omission:0.5", "--no-progress")
    assert salva("run", "metalogic", "--model", "painter", *faults, "--size", "10", "--out", str(run)).returncode == 0
    assert salva("export", str(run), "--as", "sft", "-o", str(sft)).returncode == 0
    assert salva("export", str(run), "--as", "dpo", "-o", str(dpo)).returncode == 0
    return sft, dpo


def learn(tuner: Any, loss_of: Callable[[], Any]) -> list[float]:
    """Some steps over one and the same draw of noise and times, so that what is learnt shows soon."""
    optimiser = torch.optim.AdamW(tuner.weights(), lr=3e-2)
    losses = []
    for _ in range(8):
        tuner.random.manual_seed(0)
        loss = loss_of()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    return losses


@pytest.mark.parametrize(("kind", "part"), [("sd", "unet"), ("sdxl", "text")])
def test_preferences_are_learnt_and_the_lora_changes_what_is_generated(
    exports: tuple[Path, Path], tmp_path: Path, kind: str, part: str
) -> None:
    checkpoint = SAVERS[kind](tmp_path / "checkpoint")
    examples = tune_diffusers.read_dpo(exports[1])[:2]
    tuner = tune_diffusers.Tuner(str(checkpoint), part, rank=4, side=0, device="cpu", seed=0)
    losses = learn(tuner, lambda: tuner.dpo_loss(examples, beta=5000.0))
    assert losses[0] == pytest.approx(math.log(2)), "without anything learnt, neither image is preferred"
    assert losses[-1] < 0.9 * losses[0]
    tuner.save(tmp_path / "lora")
    generate = [
        *("run", "metalogic", "--model", f"diffusers/./{checkpoint.relative_to(tmp_path)}", "--size", "1"),
        *("--set", "model.steps=1", "--detector", "pocket", "--reader", "none", "--no-progress"),
    ]
    lora = ("--set", "model.lora=lora/pytorch_lora_weights.safetensors")
    images = []
    for name, more in (("before", ()), ("after", lora)):
        out = tmp_path / name
        done = salva(*generate, *more, "--out", str(out), cwd=tmp_path)
        images.append({path.name for path in (out / "images").rglob("*.*")})
        assert images[-1], done.stderr
    assert images[0].isdisjoint(images[1])


def test_the_script_reads_right_images_and_their_error_falls(exports: tuple[Path, Path], tmp_path: Path) -> None:
    checkpoint = save_stable_diffusion(tmp_path / "checkpoint")
    examples = tune_diffusers.read_sft(exports[0])[:2]
    tuner = tune_diffusers.Tuner(str(checkpoint), "unet", rank=4, side=0, device="cpu", seed=0)
    losses = learn(tuner, lambda: tuner.sft_loss(examples))
    assert losses[-1] < 0.98 * losses[0], losses
