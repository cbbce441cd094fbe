"""Two models of one checkpoint, told apart by a name and a LoRA of its own: names are used wherever they are shown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="checkpoints run on torch")
pytest.importorskip("peft", reason="LoRAs are loaded with peft")

from backends.tiny_pipelines import save_stable_diffusion
from in_process import salva

import salva as package

pytestmark = pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")


def save_lora(folder: Path, place: Path) -> Path:
    """A tiny LoRA of random weights for a checkpoint."""
    import diffusers
    from peft import LoraConfig
    from peft.utils import get_peft_model_state_dict

    library: Any = diffusers
    pipeline = library.StableDiffusionPipeline.from_pretrained(str(folder))
    pipeline.unet.add_adapter(LoraConfig(r=2, init_lora_weights=False, target_modules=["to_q", "to_k", "to_v"]))
    pipeline.save_lora_weights(place, unet_lora_layers=get_peft_model_state_dict(pipeline.unet))
    return place


def test_a_lora_of_one_model_is_set_by_its_name_and_names_are_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = save_stable_diffusion(tmp_path / "the-checkpoint")
    lora = save_lora(folder, tmp_path / "lora")
    run = tmp_path / "run"
    done = salva(
        *("run", "metalogic", "--size", "4", "--detector", "pocket", "--reader", "none", "--out", str(run)),
        *("--model", f"v1.0=diffusers/{folder}", "--model", f"v1.1=diffusers/{folder}"),
        *("--set", f"v1.1.lora={lora}", "--set", "model.steps=1", "--set", "run.preflight=off", "--no-progress"),
    )
    assert done.returncode in (0, 3), done.stderr
    assert "metalogic on v1.0" in done.stdout
    assert str(folder) not in done.stdout
    images = package.open_run(run).images
    assert set(images["model"]) == {"v1.0", "v1.1"}
    pictures = images.pivot(index=["case_id", "role"], columns="model", values="image_id")
    assert (pictures["v1.0"] != pictures["v1.1"]).all(), "the LoRA paints otherwise"

    told = json.loads(salva("report", str(run), "--format", "json").stdout)
    assert set(told["by_model"]) == {"v1.0", "v1.1"}
    assert str(folder) not in json.dumps([model["tables"] for model in told["by_model"].values()])
    for form in ("md", "csv"):
        text = salva("report", str(run), "--format", form).stdout
        assert "v1.1" in text
        assert str(folder) not in text, form
    assert salva("report", str(run)).returncode == 0
    charts = [path.read_text("utf-8") for path in (run / "report" / "figures").glob("*.svg")]
    assert any("v1.1" in chart for chart in charts)
    assert not any("the-checkpoint" in chart for chart in charts)
