"""A pipeline in memory gives the images of its checkpoint, and is left unchanged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="pipelines run on torch")
pytest.importorskip("diffusers", reason="pipelines are diffusers'")

from backends.tiny_pipelines import save_flux, save_stable_diffusion, save_unconditional

import salva
from salva.core.case import Prompt
from salva.core.plan import Binding
from salva.core.protocols import RenderRequest
from salva.core.python_objects import register_objects
from salva.core.run_spec import ComponentSpec
from salva.errors import BackendError, RefusedError
from salva.registry import bind
from salva.testing.conformance import check_generator

library: Any = pytest.importorskip("diffusers", reason="pipelines are diffusers'")
"""It has no types."""
pytestmark = pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")

REQUESTS = [RenderRequest(prompt=Prompt(role="a", text=text), seed=i) for i, text in enumerate(("a cat", "two dogs"))]


@pytest.fixture(autouse=True)
def own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_stable_diffusion(tmp_path_factory.mktemp("checkpoints") / "sd")


def loaded(folder: Path) -> Any:
    return library.DiffusionPipeline.from_pretrained(str(folder))


def bound(**options: str) -> Binding:
    return bind(ComponentSpec(role="model", name="pipeline/mine", options={"version": "1", **options}))


def test_conformance(folder: Path) -> None:
    with register_objects({"mine": loaded(folder)}):
        check_generator(bound(steps="2"), REQUESTS)


def test_it_generates_the_same_images_as_its_checkpoint(folder: Path) -> None:
    settings = {"steps": "2", "guidance": "5", "negative": "blurry"}
    from_folder = bind(
        ComponentSpec(role="model", name=f"diffusers/{folder}", options={**settings, "scheduler": "own"})
    ).build()
    wanted = [one.picture.image_id() for one in from_folder.render(REQUESTS)]
    with register_objects({"mine": loaded(folder)}):
        got = bound(**settings).build().render(REQUESTS)
    assert [one.picture.image_id() for one in got] == wanted
    assert len(set(wanted)) == 2


def test_it_keeps_its_own_settings(folder: Path) -> None:
    pipeline = loaded(folder)
    pipeline.scheduler = library.EulerDiscreteScheduler.from_config(pipeline.scheduler.config)
    with register_objects({"mine": pipeline}):
        (own,) = bound(steps="2").build().render(REQUESTS[:1])
    assert own.provenance["scheduler"] == "EulerDiscreteScheduler"
    assert own.provenance["guidance"] is None


def test_its_progress_bar_is_restored(folder: Path) -> None:
    pipeline = loaded(folder)
    pipeline.set_progress_bar_config(desc="mine")
    with register_objects({"mine": pipeline}):
        generator = bound(steps="1").build()
        assert pipeline._progress_bar_config == {"desc": "mine", "disable": True}
        generator.close()
    assert pipeline._progress_bar_config == {"desc": "mine"}


def test_pipelines_without_text_are_refused(folder: Path, tmp_path: Path) -> None:
    noise = library.DDPMPipeline.from_pretrained(str(save_unconditional(tmp_path / "noise")))
    from_image = library.StableDiffusionImg2ImgPipeline(**loaded(folder).components, requires_safety_checker=False)
    for pipeline in (noise, from_image):
        with pytest.raises(salva.UsageError, match=rf"{type(pipeline).__name__}.*\[checkpoint-invalid\]"):
            salva.run_suite("metalogic", pipeline, detector="pocket", size=1, out=tmp_path / "run", version=1)
    assert not (tmp_path / "run").exists()


def test_parts_of_pipelines_are_refused(folder: Path) -> None:
    pipe = loaded(folder)
    for part in (pipe.unet, pipe.vae, pipe.text_encoder):
        with pytest.raises(salva.UsageError, match=r"\[keyword-invalid\]"):
            salva.run_suite("metalogic", model=part, size=2, detector="pocket")


def test_images_replaced_by_the_safety_checker_are_refusals(tmp_path: Path) -> None:
    strict = loaded(save_stable_diffusion(tmp_path / "strict", has_checker=True))
    with register_objects({"mine": strict}):
        (outcome,) = bound(steps="1").build().render(REQUESTS[:1])
    assert isinstance(outcome, RefusedError)


def test_pipelines_and_named_models_in_one_run(folder: Path, tmp_path: Path) -> None:
    flux = library.FluxPipeline.from_pretrained(str(save_flux(tmp_path / "flux")))
    run = salva.run_suite(
        "metalogic",
        {"sd": loaded(folder), "flux": flux, "drawn": "painter"},
        version={"sd": "main", "flux": 2},
        detector="pocket",
        reader="none",
        size=2,
        settings={"model.steps": 2, "flux.steps": 1, "run.preflight": "off"},
        out=tmp_path / "run",
    )
    assert set(run.verdicts["model"]) == {"sd", "flux", "drawn"}
    assert "ERROR" not in set(run.verdicts["outcome"])


def test_the_key_depends_on_the_version(folder: Path, tmp_path: Path) -> None:
    pipeline = loaded(folder)
    flags: dict[str, Any] = {"detector": "pocket", "reader": "none", "size": 1, "out": tmp_path / "one"}
    flags["settings"] = {"model.steps": 1, "run.preflight": "off"}
    salva.run_suite("metalogic", pipeline, name="sd", version=1, **flags)
    with pytest.raises(salva.UsageError, match=r'sd\.version was "1", now "2"'):
        salva.run_suite("metalogic", pipeline, name="sd", version=2, **flags)


def test_nan_weights_are_an_error(folder: Path) -> None:
    pipe = loaded(folder)
    pipe.vae.decoder.conv_out.weight.data.fill_(float("nan"))
    with register_objects({"mine": pipe}):
        (outcome,) = bound(steps="2").build().render(REQUESTS[:1])
    assert isinstance(outcome, BackendError)
    assert outcome.code == "generation-failed"
