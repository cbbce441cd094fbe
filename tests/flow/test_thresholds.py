"""Thresholds belong to checks: another one asks for no look, the old name means the new one, and old runs go on."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from salva.cli.main import salva as command_line
from salva.core.observation import Detections
from salva.core.run_spec import RunSpec
from salva.detectors.pocket_detector import PocketDetector
from salva.errors import UsageError
from salva.generators.painter.component import Painter
from salva.store.sqlite import open_run

COMMAND = (
    *("run", "metalogic", "--model", "painter", "--detector", "pocket", "--reader", "none", "--size", "6"),
    *("--set", "model.faults=entity-omission:0.3", "--no-progress"),
)
ASK = RunSpec.of(
    suite="metalogic",
    models=("painter",),
    detector="pocket",
    reader="none",
    size="6",
    settings={"model.faults": "entity-omission:0.3"},
)


def salva(*arguments: str) -> Result:
    return CliRunner().invoke(command_line, list(arguments))


def told(done: Result) -> str:
    return f"{done.output} {done.exception or ''}"


def verdicts(directory: Path) -> list[Any]:
    with open_run(directory) as store:
        return [(v.case_id, v.check, v.outcome, v.failure_types) for v in store.verdicts()]


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    done = salva(*COMMAND, "--out", "run")
    assert done.exit_code == 0, told(done)
    return tmp_path / "run"


@pytest.fixture
def no_models(made: Path, monkeypatch: pytest.MonkeyPatch) -> Path:  # the run comes first
    """Whoever paints or looks from now on fails."""

    def refuse(self: object, options: object) -> None:
        raise AssertionError(f"{type(self).__name__} was asked for work that is stored")

    for component in (Painter, PocketDetector):
        monkeypatch.setattr(component, "__init__", refuse)
    return made


def test_another_threshold_judges_what_is_stored(no_models: Path) -> None:
    before = verdicts(no_models)
    done = salva("rejudge", "run", "--set", "check.threshold=0.9999", "--no-progress")
    assert done.exit_code == 3, told(done)
    assert " 0 of 12 " in told(done), "as `salva run` says it"
    assert {outcome for _, check, outcome, _ in verdicts(no_models) if check == "truth"} == {"FAIL"}
    done = salva("rejudge", "run", "--set", "check.threshold=none", "--no-progress")
    assert done.exit_code == 0, told(done)
    assert verdicts(no_models) == before


def test_judging_again_with_too_little_decided_is_no_success(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    faultless = [word for word in COMMAND if word != "--set" and not word.startswith("model.faults")]
    assert salva(*faultless, "--out", "run").exit_code == 0
    done = salva("rejudge", "run", "--set", "check.doubt=0.9999", "--no-progress")
    assert done.exit_code == 3, told(done)
    assert "[few-decided]" in told(done)
    assert salva("rejudge", "run", "--no-progress").exit_code == 0, "its own rule decides them"


def test_the_page_shows_the_boxes_that_count(no_models: Path) -> None:
    assert salva("rejudge", "run", "--set", "check.threshold=0.9999", "--no-progress").exit_code == 3
    with open_run(no_models) as store:
        kept = [look.observation for _, look in store.observations() if isinstance(look.observation, Detections)]
    assert sum(len(seen.boxes) for seen in kept) > 0
    assert salva("export", "run", "--as", "counterexamples", "-o", "shown").exit_code == 0
    assert '"boxes": [{' not in (no_models.parent / "shown" / "index.jsonl").read_text()


def test_every_look_says_from_which_score_it_keeps_boxes(made: Path) -> None:
    with closing(sqlite3.connect(made / "salva.db")) as connection:
        floors = connection.execute("SELECT DISTINCT json_extract(observation, '$.floor') FROM observations").fetchall()
    assert floors == [(0.05,)]
    with open_run(made) as store:
        seen = next(look.observation for _, look in store.observations())
    assert isinstance(seen, Detections)
    assert (seen.floor, seen.threshold) == (0.05, 0.4)


@pytest.mark.parametrize("command", [(*COMMAND, "--out", "other"), ("rejudge", "run", "--no-progress")])
def test_a_threshold_below_what_is_kept_is_refused_with_what_to_do(no_models: Path, command: tuple[str, ...]) -> None:
    before = verdicts(no_models)
    done = salva(*command, "--set", "check.threshold=0.02")
    assert isinstance(done.exception, UsageError)
    assert "[threshold-below-floor]" in str(done.exception)
    assert "--set detector.floor=0.02" in str(done.exception)
    assert verdicts(no_models) == before
    assert not (no_models.parent / "other").exists()


def test_a_lower_floor_looks_again_and_stands_beside(made: Path) -> None:
    settings = ("--set", "check.threshold=0.02", "--set", "detector.floor=0.02", "--set", "run.preflight=off")
    done = salva("rejudge", "run", *settings, "--no-progress")
    assert done.exit_code in (0, 3), told(done)
    assert "pocket(floor=0.02)" in done.output
    with open_run(made) as store:
        assert {
            look.observation.floor for _, look in store.observations() if isinstance(look.observation, Detections)
        } == {
            0.02,
            0.05,
        }
