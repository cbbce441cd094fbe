"""Thresholds belong to checks: another one asks for no look, the old name means the new one, and old runs go on."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from salva.cli.main import salva as command_line
from salva.core.observation import Detections
from salva.detectors.pocket_detector import PocketDetector
from salva.engine.progress import SilentProgress
from salva.errors import UsageError
from salva.generators.painter.component import Painter
from salva.registry import rebind
from salva.runs.ask import Ask, make_spec
from salva.runs.directory import RUNS
from salva.runs.pipeline import execute
from salva.store.runfile import read_run_file
from salva.store.sqlite import open_run

COMMAND = (
    *("run", "metalogic", "--model", "painter", "--detector", "pocket", "--reader", "none", "--size", "6"),
    *("--set", "model.faults=entity-omission:0.3", "--no-progress"),
)
ASK = Ask(
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
    assert "was found in 0 of 12 pictures" in told(done), "as `salva run` says it"
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
    assert "\nsalva: painter: none of 6 pairs could be decided" in told(done)
    assert salva("rejudge", "run", "--no-progress").exit_code == 0, "its own rule decides them"


def test_the_page_shows_the_boxes_that_count(no_models: Path) -> None:
    assert salva("rejudge", "run", "--set", "check.threshold=0.9999", "--no-progress").exit_code == 3
    with open_run(no_models) as store:
        kept = [look.observation for _, look in store.needs() if isinstance(look.observation, Detections)]
    assert sum(len(seen.boxes) for seen in kept) > 0
    assert salva("export", "run", "--as", "counterexamples", "-o", "shown").exit_code == 0
    assert '"boxes": [{' not in (no_models.parent / "shown" / "index.jsonl").read_text()


def test_every_look_says_from_which_score_it_keeps_boxes(made: Path) -> None:
    with closing(sqlite3.connect(made / "salva.db")) as connection:
        floors = connection.execute("SELECT DISTINCT box_floor FROM observations").fetchall()
    assert floors == [(0.05,)]
    with open_run(made) as store:
        seen = next(look.observation for _, look in store.needs())
    assert isinstance(seen, Detections)
    assert (seen.floor, seen.threshold) == (0.05, 0.4)


@pytest.mark.parametrize("command", [(*COMMAND, "--out", "other"), ("rejudge", "run", "--no-progress")])
def test_a_threshold_below_what_is_kept_is_refused_with_what_to_do(no_models: Path, command: tuple[str, ...]) -> None:
    before = verdicts(no_models)
    done = salva(*command, "--set", "check.threshold=0.02")
    assert isinstance(done.exception, UsageError)
    assert "pocket keeps boxes with a score of 0.05 or more" in str(done.exception)
    assert "--set detector.floor=0.02" in str(done.exception)
    assert verdicts(no_models) == before
    assert not (no_models.parent / "other").exists()


def test_a_lower_floor_looks_again_and_stands_beside(made: Path) -> None:
    settings = ("--set", "check.threshold=0.02", "--set", "detector.floor=0.02", "--set", "run.preflight=off")
    done = salva("rejudge", "run", *settings, "--no-progress")
    assert done.exit_code in (0, 3), told(done)
    assert "pocket(floor=0.02)" in done.output
    with open_run(made) as store:
        assert {look.observation.floor for _, look in store.needs() if isinstance(look.observation, Detections)} == {
            0.02,
            0.05,
        }


def test_the_old_name_means_the_new_one_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = salva(*COMMAND, "--set", "detector.threshold=0.3")
    assert done.exit_code == 0, told(done)
    assert done.output.count("detector.threshold means check.threshold now: check.threshold=0.3 is set") == 1
    (directory,) = (tmp_path / RUNS).iterdir()
    content = read_run_file(directory)
    assert content is not None
    assert content.choice is not None
    assert content.choice["check.threshold"] == 0.3
    assert "detector.threshold" not in content.choice
    again = salva(*COMMAND, "--set", "check.threshold=0.3")
    assert f"run directory: {RUNS / directory.name}" in again.output, told(again)


def test_both_names_must_say_the_same() -> None:
    settings = {**ASK.settings, "detector.threshold": "0.3", "check.threshold": "0.4"}
    with pytest.raises(UsageError, match="leave one of them out"):
        make_spec(replace(ASK, settings=settings))


@pytest.mark.parametrize(("in_file", "typed"), [("detector", "check"), ("check", "detector")])
def test_what_is_typed_wins_over_a_config_file_by_either_name(
    in_file: str, typed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("salva.toml").write_text(f"[set.{in_file}]\nthreshold = 0.3\n", encoding="utf-8")
    done = salva(*COMMAND, "--config", "salva.toml", "--set", f"{typed}.threshold=0.45", "--out", "run")
    assert done.exit_code == 0, told(done)
    content = read_run_file(tmp_path / "run")
    assert content is not None
    assert content.choice is not None
    assert content.choice["check.threshold"] == 0.45


@pytest.mark.parametrize("out", [("--out", "old"), ()])
def test_a_run_made_with_the_old_name_is_found_finished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, out: tuple[str, ...]
) -> None:
    """As version 0.1 made it: the threshold is in the detector's key, and the checks know none."""
    monkeypatch.chdir(tmp_path)
    spec = make_spec(ASK)
    assert spec.detector is not None
    old = replace(spec, detector=rebind(spec.detector, {"threshold": "0.35"}))
    directory = tmp_path / (out[1] if out else RUNS / old.directory_name())
    execute(old, directory, SilentProgress())
    before = verdicts(directory)

    def refuse(self: object, options: object) -> None:
        raise AssertionError(f"{type(self).__name__} was asked for work that is stored")

    monkeypatch.setattr(PocketDetector, "__init__", refuse)
    done = salva(*COMMAND, "--set", "detector.threshold=0.35", *out)
    assert done.exit_code == 0, told(done)
    assert f"run directory: {directory.relative_to(tmp_path)}" in done.output
    assert verdicts(directory) == before
    other = salva(*COMMAND, "--set", "detector.threshold=0.36", "--out", str(directory))
    assert "was asked differently" in str(other.exception)
