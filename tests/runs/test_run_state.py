"""One run, one rule: what a check concluded by other options does not stay beside what it concludes now."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from salva.core.run_spec import ComponentSpec, RunSpec
from salva.core.verdict import Verdict
from salva.engine.flow import Flow
from salva.engine.progress import SilentProgress
from salva.errors import StoreError
from salva.runs.pipeline import execute
from salva.runs.rejudge import rejudge
from salva.runs.run_state import spec_difference
from salva.store.runfile import read_run_file
from salva.store.sqlite import open_run
from salva.testing.fakes import FakeAnswers, FakeDetector, FakeJudge, FakeSame
from salva.testing.specs import bound, fake_spec

ANSWERS = bound("check", FakeAnswers, "answers")
SPEC = fake_spec(
    6,
    {"omits": 0.3},
    judges=(bound("judge", FakeJudge, "counter"),),
    checks=(bound("check", FakeSame, "same"), ANSWERS),
)
STRICT = dataclasses.replace(SPEC, checks=(bound("check", FakeSame, "same", is_strict=True), ANSWERS))


@pytest.fixture
def judged_twice(tmp_path: Path) -> Path:
    """A run with the verdicts of two detectors, by the checks' first rules."""
    execute(SPEC, tmp_path / "run", SilentProgress())
    rejudge(
        tmp_path / "run", dataclasses.replace(SPEC, detector=bound("detector", FakeDetector, "other")), SilentProgress()
    )
    return tmp_path / "run"


def verdicts(directory: Path) -> list[Verdict]:
    with open_run(directory) as store:
        return list(store.verdicts())


def counts(directory: Path) -> Counter[tuple[str, bool]]:
    """Verdicts by check, and whether the second detector looked."""
    return Counter((verdict.check, "other" in verdict.observers) for verdict in verdicts(directory))


def test_another_rule_drops_what_the_relation_concluded_before_and_nothing_else(judged_twice: Path) -> None:
    assert counts(judged_twice) == {(name, other): 6 for name in ("same", "answers") for other in (True, False)}
    rejudge(judged_twice, STRICT, SilentProgress())
    assert counts(judged_twice) == {("same", False): 6, ("answers", False): 6, ("answers", True): 6}


def test_the_first_command_drops_what_was_concluded_by_another_rule_since(judged_twice: Path) -> None:
    rejudge(judged_twice, STRICT, SilentProgress())
    strict = dataclasses.replace(STRICT, detector=bound("detector", FakeDetector, "other"))
    rejudge(judged_twice, strict, SilentProgress())
    assert counts(judged_twice)["same", True] == 6
    execute(SPEC, judged_twice, SilentProgress())
    assert counts(judged_twice) == {("same", False): 6, ("answers", False): 6, ("answers", True): 6}


def test_killed_in_between_no_verdict_is_left_that_its_rule_did_not_make(
    judged_twice: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(self: Flow, units: Iterator[Any]) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Flow, "run", killed)
        with pytest.raises(KeyboardInterrupt):
            rejudge(judged_twice, STRICT, SilentProgress())
    assert {verdict.check for verdict in verdicts(judged_twice)} == {"answers"}
    execute(SPEC, judged_twice, SilentProgress())
    assert counts(judged_twice) == {("same", False): 6, ("answers", False): 6, ("answers", True): 6}


@pytest.mark.parametrize(("endpoint", "differing"), [("mine", ""), ("", "model.base_url 'http://b'")])
def test_an_endpoint_with_a_name_of_its_own_may_move(endpoint: str, differing: str) -> None:
    asked = [
        RunSpec(
            models=(ComponentSpec(role="model", name="openai", options={"base_url": url, "endpoint": endpoint}),),
        )
        for url in ("http://a", "http://b")
    ]
    assert spec_difference(asked[1], asked[0]) == differing


@pytest.fixture(scope="module")
def run_file(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The run.json of a run."""
    directory = tmp_path_factory.mktemp("complete")
    execute(SPEC, directory, SilentProgress())
    content: dict[str, Any] = json.loads((directory / "run.json").read_text(encoding="utf-8"))
    return content


def without(content: dict[str, Any], place: str, directory: Path) -> Path:
    """A directory whose run.json has lost one key."""
    copy = json.loads(json.dumps(content))
    *outer, last = place.split(".")
    record = copy
    for key in outer:
        record = record[key]
    del record[last]
    (directory / "run.json").write_text(json.dumps(copy), encoding="utf-8")
    return directory


@pytest.mark.parametrize(
    ("place", "code"),
    [
        ("format", "run-format"),
        ("spec", "file-invalid"),
        ("spec.suite", "file-invalid"),
        ("spec.suite.name", "file-invalid"),
        ("spec.suite.role", "file-invalid"),
    ],
)
def test_a_run_file_without_a_needed_key_is_one_error(
    place: str, code: str, run_file: dict[str, Any], tmp_path: Path
) -> None:
    with pytest.raises(StoreError) as refused:
        read_run_file(without(run_file, place, tmp_path))
    assert refused.value.code == code


@pytest.mark.parametrize(
    "place", ["choice", "components", "environment", "spec.checks", "spec.models", "spec.observers"]
)
def test_a_run_file_without_another_key_has_its_default(place: str, run_file: dict[str, Any], tmp_path: Path) -> None:
    value: Any = read_run_file(without(run_file, place, tmp_path))
    for name in place.split("."):
        value = getattr(value, name)
    assert not value
