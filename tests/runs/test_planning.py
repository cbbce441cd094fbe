"""What is known before anything is generated is said then: nobody observes a foreign model's images unless named."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from PIL import Image

import salva
from salva.cli.main import salva as command_line
from salva.core.run_spec import RunSpec
from salva.detectors.pocket_detector import PocketDetector
from salva.errors import MissingRoleError, UsageError
from salva.generators.folder import FolderImages
from salva.generators.pocket import Pocket
from salva.runs.cases import planned_cases
from salva.runs.forecast import Forecast, forecast
from salva.runs.plans import AllButSuite, make_plan

QUICK = ("--size", "2", "--reader", "none", "--no-progress")


@pytest.fixture
def pictures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a picture of nothing for each of the prompts that are asked for."""
    folder = tmp_path / "pictures"
    folder.mkdir()
    for case in planned_cases(make_plan(RunSpec.of(suite="metalogic", size="2"))):
        for prompt in case.prompts:
            Image.new("RGB", (32, 32), "white").save(folder / f"{prompt.text}.png")
    monkeypatch.chdir(tmp_path)
    return folder


def run(*words: str) -> Result:
    return CliRunner().invoke(command_line, ["run", *words], catch_exceptions=False)


def refused(*words: str) -> str:
    with pytest.raises(UsageError) as error:
        run(*words)
    return str(error.value)


@pytest.fixture
def no_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever paints or looks fails."""

    def refuse(self: object, requests: object) -> None:
        raise AssertionError(f"{type(self).__name__} was asked for work")

    for component, method in ((FolderImages, "render"), (Pocket, "render"), (PocketDetector, "observe")):
        monkeypatch.setattr(component, method, refuse)


def test_painter_and_pocket_say_who_looks_at_their_pictures() -> None:
    for models in ((), ("painter",), ("pocket",), ("painter", "pocket")):
        spec = make_plan(RunSpec.of(suite="metalogic", models=models))
        assert spec.detector is not None
        assert spec.detector.label == "pocket"
        assert not spec.wanting
    assert (
        make_plan(RunSpec.of(suite="faithfulness", models=("painter",), detector="none", judges=("none",))).detector
        is None
    )


@pytest.mark.usefixtures("pictures", "no_pictures")
@pytest.mark.parametrize(
    "words",
    [
        ("metalogic", "--model", "folder/pictures"),
        ("metalogic", "--model", "painter", "--model", "folder/pictures"),
        ("metalogic", "--model", "folder/pictures", "--check", "same-scene"),
        ("metalogic", "--model", "folder/pictures", "--published"),
        ("metalogic", "--model", "folder/pictures", "--embedder", "pocket"),
        ("metalogic", "--model", "folder/pictures", "--set", "suite.entities=cat,dog,teddy bear"),
        ("semvar", "--model", "folder/pictures"),
        ("faithfulness", "--model", "folder/pictures"),
    ],
)
def test_for_a_foreign_model_a_detector_must_be_named(words: tuple[str, ...], tmp_path: Path) -> None:
    message = refused(*words, *(("--size", "2") if "--published" in words else QUICK))
    asked = shlex.split(next(line for line in message.splitlines() if line.startswith("  ")))
    assert asked[:2] == ["salva", "run"]
    assert asked[2 : 2 + len(words)] == list(words)
    assert asked[-2:] == ["--detector", "mm-grounding-dino"]
    assert "folder/pictures" in message
    assert "[detector-missing]" in message
    assert not (tmp_path / "runs").exists()


@pytest.mark.usefixtures("pictures", "no_pictures")
def test_in_python_the_call_is_given_with_its_keyword(tmp_path: Path) -> None:
    call = r"salva.run_suite('metalogic', model='folder/pictures', size='2', detector='mm-grounding-dino')"
    with pytest.raises(UsageError, match=re.escape(call)):
        salva.run_suite("metalogic", model="folder/pictures", size="2")
    assert not (tmp_path / "runs").exists()


def planned(ask: RunSpec, directory: Path) -> Forecast:
    return forecast(make_plan(ask, foreign=AllButSuite()), directory / "run")


@pytest.mark.usefixtures("pictures")
def test_whoever_judges_or_embeds_alone_needs_no_detector(tmp_path: Path) -> None:
    embeds = ("--model", "folder/pictures", "--embedder", "pocket", "--judge", "none")
    for ask in (
        RunSpec.of(suite="semvar", models=("folder/pictures",), judges=("openai/some-judge",)),
        RunSpec.of(suite="faithfulness", models=("folder/pictures",), judges=("openai/some-judge",)),
        RunSpec.of(suite="metalogic", models=("folder/pictures",), judges=("openai/j",), check="same-answers"),
        RunSpec.of(suite="metalogic", models=("folder/pictures",), judges=("openai/j",), detector="none"),
    ):
        assert make_plan(ask).detector is None
        assert planned(ask, tmp_path).n_decidable
    with pytest.raises(MissingRoleError):
        planned(RunSpec.of(suite="metalogic", models=("folder/pictures",), embedder="pocket"), tmp_path)
    done = run("metalogic", *embeds, *QUICK, "--check", "same-similarity", "--out", "embedded")
    assert done.exit_code == 0, done.output
