"""Checkpoints through diffusers: tiny ones of the real classes, from a prompt to a report."""

from __future__ import annotations

import inspect
import json
import math
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="checkpoints run on torch")
pytest.importorskip("diffusers", reason="checkpoints are loaded with diffusers")

import diffusers
import numpy as np
import torch
from backends.tiny_pipelines import (
    save_flux,
    save_pixart,
    save_qwen_image,
    save_sana,
    save_sd3,
    save_sdxl,
    save_stable_diffusion,
)

from salva.api import run_suite
from salva.core.case import Prompt
from salva.core.image import Picture
from salva.core.options import keyed_options
from salva.core.plan import Binding
from salva.core.protocols import Rendered, RenderRequest
from salva.core.run_spec import ComponentSpec
from salva.errors import BackendError, MissingExtraError, RefusedError, SalvaError, UnusableError, UsageError
from salva.generators import diffusers_pipeline
from salva.generators.diffusers_device import n_tokens_cut, parse_size
from salva.generators.diffusers_pipeline import DiffusersOptions, DiffusersPipeline
from salva.generators.diffusers_presets import choose_preset
from salva.registry import bind
from salva.report.methods import methods_of
from salva.report.summary import summarise_run
from salva.store.queries import read_records
from salva.testing.conformance import check_generator

# A scheduler of diffusers mixes numpy and torch in a way numpy will not take for ever.
pytestmark = pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")

FAMILIES: dict[str, Callable[[Path], Path]] = {
    "stable-diffusion": save_stable_diffusion,
    "sdxl": save_sdxl,
    "flux": save_flux,
    "sd3": save_sd3,
    "pixart": save_pixart,
    "sana": save_sana,
    "qwen-image": save_qwen_image,
}


@pytest.fixture(autouse=True)
def own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    made: dict[str, Path] = {}

    def checkpoint(family: str) -> Path:
        if family not in made:
            made[family] = FAMILIES[family](tmp_path_factory.mktemp("checkpoints") / family)
        return made[family]

    return checkpoint


@pytest.fixture(scope="module")
def sd(checkpoints: Callable[[str], Path]) -> Path:
    return checkpoints("stable-diffusion")


def _generator(folder: Path, **options: Any) -> DiffusersPipeline:
    return DiffusersPipeline(DiffusersOptions(**{"checkpoint": str(folder), "size": "32", "steps": 2, **options}))


def _request(seed: int, text: str = "a cat and a dog") -> RenderRequest:
    return RenderRequest(prompt=Prompt(role="a", text=text), seed=seed)


def _pictures(outcomes: Sequence[Rendered | SalvaError]) -> list[Picture]:
    assert all(isinstance(outcome, Rendered) for outcome in outcomes), outcomes
    return [outcome.picture for outcome in outcomes if isinstance(outcome, Rendered)]


def _difference(one: Picture, other: Picture) -> int:
    pixels = [np.frombuffer(picture.rgb, np.uint8).astype(int) for picture in (one, other)]
    return int(np.abs(pixels[0] - pixels[1]).max())


def _stored_parameters(folder: Path) -> dict[str, int]:
    """By the headers of its files: how many numbers each part has."""
    counts: dict[str, int] = {}
    for path in sorted(folder.glob("*/*.safetensors")):
        data = path.read_bytes()
        header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
        # Stable Diffusion 3 stores its sines of positions, which are a buffer.
        shapes = [
            entry["shape"] for name, entry in header.items() if name not in ("__metadata__", "pos_embed.pos_embed")
        ]
        counts[path.parent.name] = counts.get(path.parent.name, 0) + sum(map(math.prod, shapes))
    return counts


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_in_a_run(family: str, checkpoints: Callable[[str], Path], tmp_path: Path) -> None:
    out, settings = tmp_path / "run", {"model.size": "64", "model.steps": "2", "model.device": "cpu"}
    model = f"diffusers/{checkpoints(family)}"
    run = run_suite("metalogic", model, out=out, settings=settings, size="4", reader="none", detector="pocket")
    verdicts = run.verdicts
    assert len(verdicts[verdicts["check"] == "same-scene"]) > 0
    assert "ERROR" not in set(verdicts["outcome"]), "every image was generated and observed"
    stored = json.loads((out / "run.json").read_text())
    assert str(checkpoints(family)) in json.dumps(stored)
    parts = _stored_parameters(checkpoints(family))
    records = read_records(out)
    assert records.parameters == {model: parts}
    told = dict(methods_of(summarise_run(out), records))["parameters"]
    assert all(f"{part} {n:,}" in told for part, n in parts.items())


@pytest.mark.parametrize("family", FAMILIES)
def test_an_image_does_not_depend_on_its_batch(family: str, checkpoints: Callable[[str], Path]) -> None:
    prompts = ["a cat", "two dogs and a cat", "a horse to the left of a cow", "no cat"]
    batch = [_request(seed, text) for seed, text in enumerate(prompts)]
    by_four, by_one = (_generator(checkpoints(family), batch_size=size) for size in (4, 1))
    together = _pictures(by_four.render(batch))
    shuffled = _pictures(by_four.render([batch[2], batch[0]]))
    assert shuffled == [together[2], together[0]], "to the last bit"
    alone = _pictures(by_one.render(batch))
    assert max(_difference(one, other) for one, other in zip(together, alone, strict=True)) <= 1, "up to rounding"
    assert min(_difference(together[0], other) for other in together[1:]) > 1


def test_conformance(sd: Path) -> None:
    binding = _bound(sd, size="32", steps="2")
    check_generator(binding, [_request(1), _request(2)])


def test_an_image_depends_on_prompt_and_seed_only(sd: Path) -> None:
    first = _pictures(_generator(sd).render([_request(1), _request(2), _request(1, "a horse")]))
    again = _pictures(_generator(sd).render([_request(1)]))[0]
    assert first[0] == again
    assert first[0] != first[1]
    assert first[0] != first[2]


def test_stable_diffusion_has_the_settings_of_the_study(sd: Path) -> None:
    (outcome,) = _generator(sd, steps=None).render([_request(1)])
    assert isinstance(outcome, Rendered)
    known = {name: outcome.provenance[name] for name in ("scheduler", "steps", "guidance", "dtype")}
    assert known == {
        "scheduler": "DPMSolverMultistepScheduler",
        "steps": 30,
        "guidance": 7.5,
        "dtype": "float32",
    }


@pytest.mark.parametrize(
    ("pipeline", "config", "preset"),
    [
        ("StableDiffusionPipeline", {"cross_attention_dim": 768}, "sd15"),
        ("StableDiffusionPipeline", {"cross_attention_dim": 1024}, "sd21"),
        ("StableDiffusionXLPipeline", {"cross_attention_dim": 2048}, "sdxl"),
        ("StableDiffusion3Pipeline", {}, "sd3"),
        ("FluxPipeline", {"guidance_embeds": True}, "flux"),
        ("FluxPipeline", {"guidance_embeds": False}, "flux-schnell"),
        ("QwenImagePipeline", {"guidance_embeds": False}, "qwen-image"),
        ("SomethingNewPipeline", {}, "own"),
    ],
)
def test_families_are_recognised_by_class_and_config(pipeline: str, config: dict[str, object], preset: str) -> None:
    assert choose_preset(pipeline, config) == preset


def test_the_default_size_is_that_of_the_checkpoint(tmp_path: Path) -> None:
    folder = save_stable_diffusion(tmp_path / "own", sample_size=24)
    (picture,) = _pictures(_generator(folder, size="auto").render([_request(1)]))
    assert (picture.width, picture.height) == (48, 48)
    (picture,) = _pictures(_generator(folder, size="32x40").render([_request(1)]))
    assert (picture.width, picture.height) == (32, 40)


@pytest.mark.parametrize("text", ["big", "0", "512x", "512x0", "-64", "64x64x64"])
def test_invalid_sizes_are_refused(text: str) -> None:
    if text == "512x":
        assert parse_size(text) == (512, 512)
    else:
        with pytest.raises(UsageError, match=r"\[option-invalid\]"):
            parse_size(text)


@pytest.mark.parametrize(
    ("changes", "is_other"),
    [
        ({"guidance": 1.5}, True),
        ({"negative": "a dog"}, True),
        ({"scheduler": "euler"}, True),
        ({"steps": 3}, True),
        ({"batch_size": 1}, False),
    ],
)
def test_only_options_that_change_the_image_are_keyed(sd: Path, changes: dict[str, Any], is_other: bool) -> None:
    plain = _pictures(_generator(sd).render([_request(1), _request(2)]))
    changed = _pictures(_generator(sd, **changes).render([_request(1), _request(2)]))
    assert (_difference(plain[1], changed[1]) > 1) is is_other
    keys = [keyed_options(DiffusersOptions(**options)) for options in ({"steps": 2}, {"steps": 2, **changes})]
    assert (keys[0] != keys[1]) is is_other


@pytest.mark.parametrize(
    ("family", "options", "words"),
    [
        ("stable-diffusion", {"scheduler": "flow-euler"}, r"'flow-euler'.*\[checkpoint-invalid\]"),
        ("flux", {"scheduler": "dpm\\+\\+2m"}, r"dpm.*\[checkpoint-invalid\]"),
        ("stable-diffusion", {"safety_checker": True}, r"safety_checker.*\[checkpoint-invalid\]"),
        ("stable-diffusion", {"offload": "model", "device": "cpu"}, "there is cpu.*option-invalid"),
        ("stable-diffusion", {"device": "cuda:7"}, "cuda:7"),
    ],
)
def test_conflicting_options_are_refused(
    family: str, options: dict[str, Any], words: str, checkpoints: Callable[[str], Path]
) -> None:
    plain = {name: value.replace("\\", "") if isinstance(value, str) else value for name, value in options.items()}
    with pytest.raises(UsageError, match=words):
        _generator(checkpoints(family), **plain)


def test_an_impossible_size_stops_the_run(sd: Path) -> None:
    with pytest.raises(UsageError, match=r"divisible by 8"):
        _generator(sd, size="36").render([_request(1)])


def test_images_replaced_by_the_safety_checker_are_refusals(tmp_path: Path) -> None:
    folder = save_stable_diffusion(tmp_path / "checked", has_checker=True)
    outcomes = _generator(folder, safety_checker=True).render([_request(1), _request(2)])
    assert [type(outcome) for outcome in outcomes] == [RefusedError, RefusedError]
    assert [outcome.code for outcome in outcomes if isinstance(outcome, RefusedError)] == ["prompt-refused"] * 2
    _pictures(_generator(folder).render([_request(1)]))


def _no_number_in_red(last: Any) -> None:
    last.weight.data[0].fill_(float("nan"))


def _all_black(last: Any) -> None:
    last.bias.data.fill_(-1000.0)


@pytest.mark.parametrize("spoil", [_no_number_in_red, _all_black])
def test_nan_and_black_images_are_errors(sd: Path, spoil: Callable[[Any], None]) -> None:
    generator = _generator(sd)
    spoil(generator._copies[0]._pipeline.vae.decoder.conv_out)
    (outcome,) = generator.render([_request(1)])
    assert isinstance(outcome, BackendError)
    assert not outcome.is_retryable
    assert outcome.code == "generation-failed"
    assert "'a cat and a dog'" in str(outcome)
    assert "model.dtype" not in str(outcome), "on a CPU it is full precision already"


def _patched(monkeypatch: pytest.MonkeyPatch, before: Callable[[list[str]], None]) -> None:
    """Have something happen before each call of the pipeline, given its prompts."""
    call = diffusers.StableDiffusionPipeline.__call__

    def patched(self: Any, prompt: list[str], **given: Any) -> Any:
        before(prompt)
        return call(self, prompt=prompt, **given)

    patched.__signature__ = inspect.signature(call)  # type: ignore[attr-defined]  # read by our own code
    monkeypatch.setattr(diffusers.StableDiffusionPipeline, "__call__", patched)


def test_out_of_memory_halves_the_batch(sd: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    batch = [_request(seed) for seed in range(7)]
    wanted = _pictures(_generator(sd).render(batch))
    sizes: list[int] = []

    def before(prompts: list[str]) -> None:
        sizes.append(len(prompts))
        if len(prompts) > 2:
            raise torch.OutOfMemoryError("CUDA out of memory")

    _patched(monkeypatch, before)
    got = _pictures(_generator(sd, batch_size=7).render(batch))
    assert sizes == [7, 3, *[1] * 7]
    assert max(_difference(one, other) for one, other in zip(wanted, got, strict=True)) <= 1


def test_out_of_memory_for_one_image_is_unusable(sd: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def before(prompts: list[str]) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 80.00 GiB")

    _patched(monkeypatch, before)
    with pytest.raises(UnusableError, match=r"80\.00 GiB.*\[memory-too-small\]"):
        _generator(sd).render([_request(1), _request(2)])


def test_an_error_concerns_its_own_prompt_only(sd: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def before(prompts: list[str]) -> None:
        if "bad" in prompts:
            raise RuntimeError("the tokenizer stumbled")

    _patched(monkeypatch, before)
    outcomes = _generator(sd, batch_size=3).render([_request(1), _request(2, "bad"), _request(3)])
    assert [type(outcome) for outcome in outcomes] == [Rendered, BackendError, Rendered]
    assert "the tokenizer stumbled" in str(outcomes[1])


def test_a_failed_gpu_is_unusable(sd: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def before(prompts: list[str]) -> None:
        raise RuntimeError("CUDA error: an illegal memory access was encountered")

    _patched(monkeypatch, before)
    with pytest.raises(UnusableError, match=r"GPU.*\[generation-failed\]"):
        _generator(sd).render([_request(1)])


def test_many_expected_images_compile_nothing_on_a_cpu(sd: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    generator = _generator(sd)
    _patched(monkeypatch, lambda _: pytest.fail("generated before there is work"))
    generator.expect(10**6)


@pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")
def test_a_compiled_model_gets_one_batch_size(sd: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    batch = [_request(seed) for seed in range(5)]
    wanted = _pictures(_generator(sd).render(batch))
    sizes: list[int] = []
    _patched(monkeypatch, lambda prompts: sizes.append(len(prompts)))
    torch.compiler.set_stance("force_eager")
    try:
        got = _pictures(_generator(sd, batch_size=3, compile="true").render(batch))
    finally:
        torch.compiler.set_stance("default")
    assert sizes == [3, 3, 3], "the first compiles it, before there is work"
    assert max(_difference(one, other) for one, other in zip(wanted, got, strict=True)) <= 1


def test_two_devices_work_at_the_same_time(sd: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    meeting = threading.Barrier(2)
    monkeypatch.setattr(diffusers_pipeline, "choose_devices", lambda _: ("cpu", "cpu"))

    def before(prompts: list[str]) -> None:
        # Each call waits for the other: on one device, or one after the other, both would wait in vain.
        meeting.wait(60)

    _patched(monkeypatch, before)
    generator = _generator(sd)
    assert generator.habits.depth == 2
    with ThreadPoolExecutor(2) as pool:
        painted = list(pool.map(generator.render, [[_request(1)], [_request(2)]]))
    assert all(isinstance(outcome, Rendered) for outcomes in painted for outcome in outcomes), painted


def test_truncated_tokens_are_recorded(sd: Path, checkpoints: Callable[[str], Path]) -> None:
    long = "cat " * 40
    outcomes = _generator(sd).render([_request(1, long), _request(1)])
    assert isinstance(outcomes[0], Rendered)
    assert isinstance(outcomes[1], Rendered)
    assert outcomes[0].provenance["tokens_cut"] == 40 * 3 + 2 - 77
    assert "tokens_cut" not in outcomes[1].provenance
    assert n_tokens_cut(_generator(checkpoints("flux"))._copies[0]._pipeline, long) == 0, (
        "its second encoder sees it all"
    )


def test_a_missing_library_prints_its_install_line(sd: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "diffusers", None)
    with pytest.raises(MissingExtraError, match=r"pip install .*\[torch\]"):
        _generator(sd)


def _bound(folder: Path, **options: str) -> Binding:
    return bind(ComponentSpec(role="model", name=f"diffusers/{folder}", options=options))


def _started(folder: Path, out: Path) -> subprocess.Popen[str]:
    """A process with a slow run, after its first image."""
    command = [
        *(sys.executable, "-c", "from salva.cli.main import main; main()", "run", "metalogic", "--size", "20"),
        *("--model", f"diffusers/{folder}", "--set", "model.size=32", "--set", "model.steps=60"),
        *("--detector", "pocket", "--reader", "none", "--set", "run.preflight=off", "--out", str(out), "--no-progress"),
    ]
    process = subprocess.Popen(
        command,
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        # A shell that starts us in the background has Ctrl-C ignored, and children inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    until = time.monotonic() + 300
    while not list(out.glob("images/*/*.webp")):
        assert process.poll() is None, process.communicate()[1]
        if time.monotonic() > until:
            process.kill()
            pytest.fail("no picture in five minutes")
        time.sleep(0.05)
    return process


@pytest.mark.parametrize("n_times", [1, 2])
def test_ctrl_c_during_generation_ends_with_130(sd: Path, tmp_path: Path, n_times: int) -> None:
    process = _started(sd, tmp_path / "run")
    for _ in range(n_times):
        process.send_signal(signal.SIGINT)
        time.sleep(0.2)
    _, told = process.communicate(timeout=120)
    assert process.returncode == 130, told
    assert "terminate called" not in told
    assert "Traceback" not in told
    assert "[run-interrupted]" in told


def test_without_a_compiler_no_kernels_are_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("salva.generators.diffusers_pipeline.DiffusersOptions.may_optimise", lambda *_: True)
    monkeypatch.setattr("salva.hardware.kernels.triton", None)
    folder = save_stable_diffusion(tmp_path / "sd")
    options = DiffusersOptions(checkpoint=str(folder), size="32", steps=2, device="cpu", dtype="bfloat16")
    (outcome,) = DiffusersPipeline(options).render([RenderRequest(prompt=Prompt(role="a", text="a cat"), seed=1)])
    assert isinstance(outcome, Rendered), outcome
    assert "fused_blocks" not in outcome.provenance
    assert "Triton" in str(outcome.provenance["no_kernels"])
