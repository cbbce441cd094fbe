"""Runs of version 0.1.0: each opens for run, report, judge and export, and nothing is asked of a model again."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from salva.checks.truth import Truth
from salva.cli.main import salva as command_line
from salva.detectors import pocket_detector
from salva.detectors.pocket_detector import PocketDetector
from salva.errors import UsageError
from salva.generators.painter.component import Painter
from salva.store.runfile import read_run_file
from salva.store.sqlite import open_run

NAMED = "runs/metalogic-painter-4-9b63d073"
COMMAND = (
    *("run", "metalogic", "--model", "painter", "--reader", "none", "--size", "4", "--no-progress"),
    *("--set", "model.side=256", "--set", "model.background=white", "--set", "model.faults=entity-omission:0.5"),
)
JUDGED = ("--judge", "scene", "--set", "check.counts=at-least")


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The runs unpacked, in a version whose painter and detector are still those that made them."""
    with tarfile.open(Path(__file__).parent / "stored_runs" / "runs.tar.xz") as archive:
        archive.extractall(tmp_path, filter="data")
    content = read_run_file(tmp_path / "plain")
    assert content is not None
    identities = {part.role: part.identity for part in content.components}
    for role, component in (("model", Painter), ("detector", PocketDetector)):
        weights = str(identities[role]["weights"])
        monkeypatch.setattr(component, "weights", lambda _options, pin=weights: pin)
        monkeypatch.setattr(component, "version", identities[role]["version"])
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def no_models(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever paints or looks fails."""

    def refuse(self: object, options: object) -> None:
        raise AssertionError(f"{type(self).__name__} was asked for work that is stored")

    for component in (Painter, PocketDetector):
        monkeypatch.setattr(component, "__init__", refuse)


def salva(*arguments: str) -> Result:
    return CliRunner().invoke(command_line, list(arguments), catch_exceptions=False)


def verdicts(directory: Path) -> list[Any]:
    """As expected.json lists them."""
    with open_run(directory) as store:
        return sorted(
            [
                v.case_id,
                v.repeat,
                v.arm,
                v.model,
                v.check,
                "+".join(v.observers),
                v.outcome.value,
                list(v.failure_types),
            ]
            for v in store.verdicts()
        )


def expected(runs: Path, name: str) -> list[Any]:
    return json.loads((runs / "expected.json").read_text())[name]  # type: ignore[no-any-return]  # JSON


@pytest.mark.usefixtures("no_models")
@pytest.mark.parametrize(("name", "out"), [("plain", ("--out", "plain")), (NAMED, ())])
def test_the_same_command_finds_its_run_finished(
    runs: Path, name: str, out: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Truth, "version", "1")
    before = (runs / name / "run.json").read_bytes()
    done = salva(*COMMAND, *out)
    assert done.exit_code == 0, done.output
    assert f"run directory: {name}" in done.output
    assert ("under the name of an earlier version" in done.output) == (not out)
    assert verdicts(runs / name) == expected(runs, name)
    assert (runs / name / "run.json").read_bytes() == before
    assert sorted(path.name for path in (runs / "runs").iterdir()) == [Path(NAMED).name]


@pytest.mark.usefixtures("no_models")
def test_a_rule_of_another_version_judges_what_is_stored_and_says_so(runs: Path) -> None:
    done = salva(*COMMAND, "--out", "plain")
    assert done.exit_code == 0, done.output
    told = f"made anew from what is stored: the verdicts of truth (version 1 judged, {Truth.version} is installed)"
    assert told in done.output
    assert verdicts(runs / "plain") == expected(runs, "plain")


@pytest.mark.usefixtures("runs")
@pytest.mark.parametrize("name", ["plain", NAMED, "judged", "partial", "imported"])
def test_no_honest_run_is_called_false_because_a_rule_changed_since(name: str) -> None:
    done = salva("verify", name)
    assert done.exit_code == 0, done.output
    why = f"not made anew: the check 'truth' was of version 1, and version {Truth.version} is installed"
    assert (why in done.output) == (name != "imported")


@pytest.mark.usefixtures("no_models")
def test_a_run_judged_otherwise_goes_back_to_its_own_rules_and_may_be_judged_so_again(runs: Path) -> None:
    assert verdicts(runs / "judged") == expected(runs, "judged")
    done = salva(*COMMAND, *JUDGED, "--out", "judged")
    assert done.exit_code == 0, done.output
    content = read_run_file(runs / "judged")
    assert content is not None
    assert content.judged is not None
    assert content.judged.asked == content.asked, "its own rules, and its own eyes lead"
    assert content.choice is not None
    assert content.choice["check.counts"] == "at-least"
    done = salva("rejudge", "judged", "--counts", "exact", "--set", "check.merge_iou=0.6", "--no-progress")
    assert done.exit_code == 0, done.output
    assert verdicts(runs / "judged") == expected(runs, "judged")


def test_a_run_that_was_stopped_is_finished(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the rule it was begun with, which knew no doubt."""
    monkeypatch.setattr(pocket_detector, "DOUBT", 1.0)
    done = salva(*COMMAND, "--out", "partial")
    assert done.exit_code == 0, done.output
    assert verdicts(runs / "partial") == expected(runs, "plain")


@pytest.mark.usefixtures("no_models")
@pytest.mark.parametrize("name", ["plain", NAMED, "partial"])
def test_a_stored_run_is_judged_again_from_what_is_stored(runs: Path, name: str) -> None:
    done = salva("rejudge", name, "--no-progress")
    assert done.exit_code == (3 if name == "partial" else 0), done.output
    assert verdicts(runs / name) == expected(runs, name)


@pytest.mark.usefixtures("no_models")
@pytest.mark.parametrize("name", ["plain", NAMED, "judged", "partial", "imported"])
def test_a_stored_run_is_reported_and_exported(runs: Path, name: str) -> None:
    shown = json.loads(salva("report", name, "--format", "json").stdout)
    assert shown["models"] == ["unnamed" if name == "imported" else "painter"]
    assert salva("report", name).exit_code == 0
    page = (runs / name / "report" / "index.html").read_text()
    assert ("salva run metalogic --model painter --detector pocket" in page) == (name != "imported")
    table = salva("export", name, "--as", "csv", "-o", "verdicts.csv")
    assert table.exit_code == 0, table.output
    assert len((runs / "verdicts.csv").read_text().splitlines()) == 1 + len(expected(runs, name))
    assert verdicts(runs / name) == expected(runs, name)


@pytest.mark.usefixtures("no_models")
def test_looks_of_an_old_run_count_as_kept_from_its_threshold_on(runs: Path) -> None:
    with pytest.raises(UsageError, match=r"looks of pocket that are stored have boxes with a score of 0\.4 or more"):
        salva("rejudge", "plain", "--set", "check.threshold=0.3", "--no-progress")
    assert verdicts(runs / "plain") == expected(runs, "plain")
    done = salva("rejudge", "plain", "--set", "check.threshold=0.5", "--no-progress")
    assert done.exit_code == 0, done.output


@pytest.mark.usefixtures("runs")
def test_asking_something_else_of_a_stored_run_is_refused() -> None:
    with pytest.raises(UsageError, match=r"was asked differently \(seed was 0, now 1\)"):
        salva(*COMMAND, "--seed", "1", "--out", "plain")
    with pytest.raises(
        UsageError, match=r"differently \(model was painter, now pocket; model\.background was \"white\""
    ):
        salva("run", "metalogic", "--reader", "none", "--out", "plain")
    with pytest.raises(UsageError, match="was asked differently"):
        salva(*COMMAND, "--out", "imported")
    with pytest.raises(UsageError, match="was imported"):
        salva("rejudge", "imported")


@pytest.mark.usefixtures("runs", "no_models")
def test_the_rate_of_old_can_still_be_had_exactly() -> None:
    def reported() -> Any:
        return json.loads(salva("report", "plain", "--format", "json").output)

    before = reported()["failure_rate"]
    assert before == 0.75
    assert salva("rejudge", "plain").exit_code == 0
    assert reported()["headline"]["check"] == "truth"
    assert salva("rejudge", "plain", "--check", "same-scene", "--set", "check.average=pooled").exit_code == 0
    assert (reported()["headline"]["check"], reported()["failure_rate"]) == ("same-scene", before)
