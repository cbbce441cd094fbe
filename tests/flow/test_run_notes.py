"""What a run says of itself, in run.json and in its store, and what happens when that is changed, damaged or lost."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from flow.same_command import run, verdicts

from salva.core.case import Case
from salva.core.observation import Detections
from salva.engine.budget import Limits
from salva.engine.progress import SilentProgress
from salva.errors import StoreError, UnusableError, UsageError
from salva.runs.cases import planned_cases
from salva.runs.pipeline import execute
from salva.store.runfile import read_run_file
from salva.store.sqlite import open_run
from salva.testing.fakes import (
    CALLS,
    FakeDetector,
    FakeSame,
    FakeSuite,
)
from salva.testing.specs import bound, fake_spec


def test_a_directory_of_another_run_is_refused_and_left_alone(tmp_path: Path) -> None:
    run(tmp_path / "run", n=3)
    before = verdicts(tmp_path / "run")
    with pytest.raises(UsageError, match=r"repeats was 1, now 2; seed was 0, now 7.*\[run-differs\]"):
        run(tmp_path / "run", n=3, repeats=2, seed=7)
    assert verdicts(tmp_path / "run") == before
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "holiday.jpg").touch()
    with pytest.raises(UsageError, match=r"'holiday.jpg'.*\[out-not-empty\]"):
        run(tmp_path / "photos")
    with pytest.raises(UsageError, match=r"\[out-is-file\]"):
        run(tmp_path / "photos" / "holiday.jpg")
    assert [path.name for path in (tmp_path / "photos").iterdir()] == ["holiday.jpg"]


def test_another_version_of_a_relation_judges_again_and_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    class NewSame(FakeSame):
        version = "2"

    run(tmp_path, n=3)
    again = run(tmp_path, n=3, checks=(bound("check", NewSame, "fake-same"),))
    assert (again.n_reused, CALLS["render"], CALLS["detect"]) == (6, 0, 0)
    told = capsys.readouterr().err
    assert told.startswith("salva: ")
    assert told.endswith(": fake-same (version 1, now 2). [verdicts-made-anew]\n")


@pytest.mark.parametrize("is_finished", [True, False])
def test_a_run_keeps_its_cases_when_the_suite_gets_another_version(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], is_finished: bool
) -> None:
    class NewSuite(FakeSuite):
        version = "2"

        def cases(self, size: str) -> Iterator[Case]:
            return (dataclasses.replace(case, case_id=f"other-{case.case_id}") for case in super().cases(size))

    execute(fake_spec(3), tmp_path, SilentProgress(), limits=None if is_finished else Limits(max_images=2))
    before = read_run_file(tmp_path)
    assert run(tmp_path, suite=bound("suite", NewSuite, "fake", n=3)).outcomes == {"PASS": 3}
    assert {verdict.case_id for verdict in verdicts(tmp_path)} == {case.case_id for case in planned_cases(fake_spec(3))}
    assert read_run_file(tmp_path) == before, "run.json names the suite that made the cases"
    assert ("[cases-kept]" in capsys.readouterr().err) == (not is_finished)


@pytest.mark.parametrize("lost", ["cases", "rules"])
def test_a_run_that_lost_a_note_about_itself_names_no_version(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], lost: str
) -> None:
    run(tmp_path, n=3)
    with open_run(tmp_path, "write") as store:
        store.set_meta(lost, {})
    assert run(tmp_path, n=3).outcomes == {"PASS": 3}
    assert "is installed" not in capsys.readouterr().err


@pytest.mark.parametrize("note", [{}, "many", {"n_cases": "three", "n_prompts": 6}, {"n_cases": 3}])
def test_cases_whose_count_is_damaged_are_planned_again(tmp_path: Path, note: Any) -> None:
    run(tmp_path, n=3)
    with open_run(tmp_path, "write") as store:
        store.set_meta("cases", note)
    assert run(tmp_path, n=3).n_rendered == 0
    with open_run(tmp_path) as store:
        assert store.is_whole()


def test_a_finished_run_is_not_finished_once_new_work_has_begun_in_it(tmp_path: Path) -> None:
    class NewDetector(FakeDetector):
        version = "2"

        def observe(self, requests: Any) -> Any:
            if CALLS["detect"] > 8:
                raise UnusableError("the licence has expired")
            CALLS.add("detect", len(requests))
            return [Detections() for _ in requests]

    run(tmp_path, n=20)
    before = verdicts(tmp_path)
    with pytest.raises(UnusableError, match="expired"):
        run(tmp_path, n=20, detector=bound("detector", NewDetector, "fake-detector"))
    assert verdicts(tmp_path) != before, "some verdicts are the new detector's"
    assert run(tmp_path, n=20).n_observed == 0
    assert verdicts(tmp_path) == before


def test_run_json_says_what_was_asked_who_answered_and_where(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_API_KEY", "sk-planted-123")
    options = {"healed_by": "sk-planted-123", "fails": 1.0}
    run(tmp_path, n=3, generator=options, seed=5)
    content = read_run_file(tmp_path)
    assert content is not None
    assert content.spec == fake_spec(3, options, seed=5).run_spec()
    assert next(part for part in content.components if part.role == "model").identity["version"] == "1"
    assert {"python", "platform", "n_cores", "packages"} <= set(content.environment)
    for path in tmp_path.rglob("*"):
        assert path.is_dir() or b"sk-planted-123" not in path.read_bytes()


def test_a_run_json_somebody_broke_is_named(tmp_path: Path) -> None:
    run(tmp_path, n=3)
    (tmp_path / "run.json").write_text("{")
    with pytest.raises(StoreError, match=r"\[file-invalid\]"):
        run(tmp_path, n=3)


def test_a_lost_run_json_is_written_again_for_the_same_run_only(tmp_path: Path) -> None:
    run(tmp_path, n=3)
    (tmp_path / "run.json").unlink()
    with pytest.raises(UsageError, match=r"\[run-differs\]"):
        run(tmp_path, n=3, seed=9)
    assert run(tmp_path, n=3).n_rendered == 0
    assert (tmp_path / "run.json").exists()


def test_cases_somebody_removed_come_back(tmp_path: Path) -> None:
    import sqlite3

    run(tmp_path, n=3, generator={"fails": 1.0})
    connection = sqlite3.connect(tmp_path / "salva.db")
    connection.execute("DELETE FROM cases WHERE ordinal = 1")
    connection.commit()
    connection.close()
    assert run(tmp_path, n=3, generator={"fails": 1.0}).outcomes == {"ERROR": 3}
    with open_run(tmp_path) as store:
        assert [case.case_id for case in store.cases()] == [case.case_id for case in planned_cases(fake_spec(3))]
