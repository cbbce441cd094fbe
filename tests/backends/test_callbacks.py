"""A watched training: rates in TensorBoard, the training undisturbed, and no error that ends it."""

from __future__ import annotations

import json
import random
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch", reason="trainings run on torch")
pytest.importorskip("diffusers", reason="pipelines are diffusers'")
pytest.importorskip("tensorboardX", reason="rates are written with tensorboardX")

import torch
from architecture.doc_pages import DOCS
from architecture.doc_reader import Reader
from backends.tiny_pipelines import save_stable_diffusion
from PIL import Image

import salva
from salva.callbacks import Watch

pytestmark = [
    pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:.*:DeprecationWarning:tensorboardX"),
]
FLAGS: dict[str, Any] = {"size": 3, "detector": "pocket", "reader": "none"}


class Log:
    """A writer that keeps what it is told."""

    def __init__(self) -> None:
        self.scalars: dict[str, dict[int, float]] = defaultdict(dict)
        self.images: dict[str, Any] = {}
        self.texts: dict[str, str] = {}

    def add_scalar(self, tag: str, scalar_value: float, global_step: int) -> None:
        self.scalars[tag][global_step] = scalar_value

    def add_image(self, tag: str, img_tensor: Any, global_step: int, *, dataformats: str) -> None:
        assert dataformats == "HWC"
        self.images[tag] = img_tensor

    def add_text(self, tag: str, text_string: str, global_step: int) -> None:
        self.texts[tag] = text_string

    def flush(self) -> None:
        """Nothing is held."""


@pytest.fixture(autouse=True)
def own_place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)


def grey(prompt: str, seed: int) -> Image.Image:
    return Image.new("RGB", (64, 64), (128, 128, 128))


def watched(log: Log, **more: Any) -> Watch:
    settings: dict[str, Any] = {"run.preflight": "off"}
    return Watch(**{"every": 2, "writer": log, "settings": settings, **FLAGS, **more})


def test_the_page_s_loop_trains_and_logs(tmp_path: Path) -> None:
    save_stable_diffusion(tmp_path / "my-checkpoint")
    reader = Reader(tmp_path)
    reader.follow(
        DOCS / "how-to" / "watch-a-training.md",
        {'"mm-grounding-dino"': '"pocket"', '{"model.steps": 20}': '{"model.steps": 2, "run.preflight": "off"}'},
    )
    left = reader.python
    assert left["unet"].training
    assert left["loss"].isfinite()
    frame = salva.open_runs(left["watch"].folder)
    assert sorted(frame["run"]) == ["step-00000000", "step-00000002", "step-00000004"]
    assert set(frame["model"]) == {"training"}
    (events,) = (tmp_path / "logs").iterdir()
    written = events.read_bytes()
    assert b"metalogic/failure_rate" in written
    assert b"metalogic/counterexample_1" in written
    first, last = (salva.open_run(left["watch"].folder / name) for name in ("step-00000000", "step-00000004"))
    assert set(first.images["seed"]) == set(last.images["seed"])
    assert set(first.images["image_id"]) != set(last.images["image_id"]), "the weights are others"


def test_rates_and_counterexamples_are_those_of_the_run() -> None:
    log = Log()
    watch = watched(log, images=2)
    runs = {step: watch(step, grey) for step in range(5)}
    assert [step for step, run in runs.items() if run is not None] == [0, 2, 4]
    last = runs[4]
    assert last is not None
    assert log.scalars["metalogic/failure_rate"] == {0: 1.0, 2: 1.0, 4: last.summary.failure_rate}
    assert (log.scalars["metalogic/low"][4], log.scalars["metalogic/high"][4]) == last.summary.interval
    assert log.scalars["metalogic/coverage"][4] == 1.0
    assert set(log.images) == set(log.texts) == {"metalogic/counterexample_1", "metalogic/counterexample_2"}
    assert log.images["metalogic/counterexample_1"].shape == (64, 64 + 4 + 64, 3)
    assert all(line.startswith("    ") for text in log.texts.values() for line in text.splitlines())


def test_what_is_not_decided_is_no_number() -> None:
    log = Log()

    def broken(prompt: str, seed: int) -> Image.Image:
        raise RuntimeError("no paint")

    watched(log)(0, broken)
    assert log.scalars["metalogic/failure_rate"] == {}
    assert log.scalars["metalogic/coverage"] == {0: 0.0}
    assert log.scalars["metalogic/errors"] == {0: 3.0}


def test_no_error_ends_the_training_unless_asked(capsys: pytest.CaptureFixture[str]) -> None:
    stepless = {"model.steps": 2}
    assert watched(Log(), settings=stepless)(0, grey) is None, "a function has no such option"
    assert "step 0" in capsys.readouterr().err
    with pytest.raises(salva.UsageError, match="steps"):
        watched(Log(), settings=stepless, raises=True)(0, grey)

    class Full(Log):
        def flush(self) -> None:
            raise OSError("disk full")

    assert watched(Full())(0, grey) is None
    assert "disk full" in capsys.readouterr().err


def test_ctrl_c_ends_it_all_the_same() -> None:
    def stopped(prompt: str, seed: int) -> Image.Image:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        watched(Log())(0, stopped)


def test_the_training_goes_on_as_if_nobody_had_looked(tmp_path: Path) -> None:
    import diffusers

    library: Any = diffusers
    pipeline = library.DiffusionPipeline.from_pretrained(str(save_stable_diffusion(tmp_path / "sd")))
    pipeline.unet.train()
    pipeline.unet.conv_in.eval()
    modes = [module.training for module in pipeline.unet.modules()]
    random.seed(1), np.random.seed(1), torch.manual_seed(1)
    alone = random.random(), np.random.random(), float(torch.rand(()))
    random.seed(1), np.random.seed(1), torch.manual_seed(1)
    watch = watched(Log(), raises=True, size=1, settings={"model.steps": 1, "run.preflight": "off"})
    assert watch(0, pipeline) is not None
    assert (random.random(), np.random.random(), float(torch.rand(()))) == alone
    assert [module.training for module in pipeline.unet.modules()] == modes
    assert all(parameter.requires_grad for parameter in pipeline.unet.parameters())


def test_two_trainings_share_nothing() -> None:
    first, second = watched(Log()), watched(Log())
    one, other = first(0, grey), second(0, grey)
    assert one is not None
    assert other is not None
    assert first.folder != second.folder
    versions = {
        json.loads((run.directory / "run.json").read_text())["spec"]["models"][0]["options"]["version"]
        for run in (one, other)
    }
    assert len(versions) == 2
    assert all(version.startswith("step 0 of ") for version in versions)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"every": 0}, "keyword-invalid"),
        ({"every": 2.5}, "keyword-invalid"),
        ({"log_dir": "logs"}, "flag-needed"),
        ({"writer": None}, "flag-needed"),
        ({"detector": "nobody"}, "name-unknown"),
        ({"detector": None}, r"Watch\(\.\.\., detector='"),
        ({"suite": "metalogik"}, "Did you mean 'metalogic'"),
        ({"size": "huge"}, "size"),
        ({"settings": {"check.nothing": 1}}, "nothing"),
    ],
)
def test_what_cannot_be_watched_is_said_at_once(more: dict[str, Any], said: str) -> None:
    with pytest.raises(salva.UsageError, match=said):
        watched(Log(), **more)


def test_a_step_that_comes_again_is_not_shown_its_old_pictures(capsys: pytest.CaptureFixture[str]) -> None:
    watch = watched(Log())
    assert watch(0, grey) is not None
    assert watch(0, lambda _prompt, _seed: Image.new("RGB", (64, 64), (9, 9, 9))) is None
    assert "step= is 0" in capsys.readouterr().err
    again = watched(Log(), raises=True)
    again(0, grey)
    with pytest.raises(salva.UsageError, match="keyword-invalid"):
        again(0, grey)
