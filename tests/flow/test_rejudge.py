"""`salva rejudge`: verdicts from what is stored; new looks and new verdicts stand beside the old."""

from __future__ import annotations

import dataclasses
from collections import Counter
from pathlib import Path

import pytest
from in_process import salva

from salva.core.verdict import Outcome, observers_text
from salva.engine.progress import SilentProgress
from salva.errors import UsageError
from salva.report.summary import decided, summarise_run
from salva.results.gate import Gate
from salva.run_results import results_of_run
from salva.runs.gates import keep_decisions
from salva.runs.pipeline import execute
from salva.runs.rejudge import rejudge
from salva.runs.verify import verify
from salva.store.queries import read_records
from salva.store.runfile import read_run_file
from salva.store.sqlite import open_run
from salva.testing.fakes import CALLS, FakeAnswers, FakeDetector, FakeJudge, FakeSame
from salva.testing.specs import bound, fake_spec

SPEC = fake_spec(10, {"omits": 0.3}, repeats=2, control=True)


@pytest.fixture
def finished(tmp_path: Path) -> Path:
    execute(SPEC, tmp_path / "run", SilentProgress())
    CALLS.clear()
    return tmp_path / "run"


def counts(directory: Path, arm: str = "pair") -> Counter[tuple[str, str]]:
    with open_run(directory) as store:
        return Counter((v.check, observers_text(v.observers)) for v in store.verdicts() if v.arm == arm)


def test_what_is_said_of_the_components_is_said_again(finished: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rejudge(finished, dataclasses.replace(SPEC, notes=("fake: no military use",)), SilentProgress())
    assert "fake: no military use" in capsys.readouterr().err


def test_judging_again_without_changes_looks_at_nothing_and_changes_nothing(finished: Path) -> None:
    with open_run(finished) as store:
        before = list(store.verdicts())
    before_file = read_run_file(finished)
    summary = rejudge(finished, SPEC, SilentProgress())
    assert (summary.n_rendered, summary.n_observed, summary.n_reused) == (0, 0, 40)
    assert [CALLS[name] for name in ("suite built", "generator built", "detector built")] == [0, 0, 0]
    with open_run(finished) as store:
        assert list(store.verdicts()) == before
    assert read_run_file(finished) == before_file


def deciding(directory: Path) -> set[str]:
    """The observers whose verdicts make the results."""
    results = results_of_run(read_records(directory))
    return {result.verdict.observers[0] for result in results if result.verdict is not None}


def test_whoever_comes_back_to_the_run_s_own_observers_is_shown_these(finished: Path) -> None:
    other = dataclasses.replace(SPEC, detector=bound("detector", FakeDetector, "a-second", blind_to="cat"))
    for spec, label in ((other, "a-second"), (SPEC, "fake-detector"), (other, "a-second")):
        rejudge(finished, spec, SilentProgress())
        (observer,) = deciding(finished)
        assert observer.startswith(label)
    CALLS.clear()
    for _ in range(2):
        execute(SPEC, finished, SilentProgress())
        assert deciding(finished) == {"fake-detector"}
    assert CALLS["render"] == CALLS["detect"] == 0


def test_what_a_gate_decided_on_the_verdicts_before_is_forgotten(finished: Path) -> None:
    summary = decided(summarise_run(finished), Gate(max_failure_rate=0.9))
    keep_decisions(finished, summary.decisions(), 3)
    kept = summarise_run(finished)
    assert (kept.gates, kept.max_errors) == (summary.gates, 3)
    assert kept.gates
    rejudge(finished, SPEC, SilentProgress())
    assert summarise_run(finished).gates == ()


def test_another_detector_adds_its_looks_and_verdicts(finished: Path) -> None:
    other = dataclasses.replace(SPEC, detector=bound("detector", FakeDetector, "other"))
    summary = rejudge(finished, other, SilentProgress())
    assert (summary.n_observed, CALLS["detect"], CALLS["render"]) == (40, 40, 0)
    assert counts(finished) == {("fake-same", "fake-detector"): 20, ("fake-same", "other"): 20}
    assert counts(finished, "control") == {("fake-same", "fake-detector"): 20, ("fake-same", "other"): 20}
    CALLS.clear()
    rejudge(finished, other, SilentProgress())
    assert CALLS["detect"] == 0, "what it saw is stored"
    assert verify(finished, SilentProgress()).is_sound


def test_the_same_detector_at_another_setting_is_told_apart(finished: Path) -> None:
    blind = dataclasses.replace(SPEC, detector=bound("detector", FakeDetector, "fake-detector", blind_to="cat"))
    rejudge(finished, blind, SilentProgress())
    assert counts(finished) == {("fake-same", "fake-detector"): 20, ("fake-same", "fake-detector(blind_to=cat)"): 20}
    with open_run(finished) as store:
        image_id = next(store.verdicts()).images["a"]
        assert {look.label for look in store.observations_of(image_id)} == {
            "fake-detector",
            "fake-detector(blind_to=cat)",
        }


def test_a_relation_with_other_options_judges_everything_anew_until_the_run_is_run_again(finished: Path) -> None:
    with open_run(finished) as store:
        before = list(store.verdicts())
    strict = bound("check", FakeSame, "fake-same", is_strict=True)
    rejudge(finished, dataclasses.replace(SPEC, checks=(strict,)).asking(check="fake-same"), SilentProgress())
    assert counts(finished) == {("fake-same", "fake-detector"): 20}
    with open_run(finished) as store:
        outcomes = {verdict.outcome for verdict in store.verdicts() if verdict.arm == "pair"}
    assert outcomes == {Outcome.FAIL}, "cat, dog is never dog, cat"
    content = read_run_file(finished)
    assert content is not None
    assert content.judging is not None
    assert content.judging.spec.check == "fake-same"
    assert content.judging.deciding == ("fake-detector",)
    CALLS.clear()
    assert execute(SPEC, finished, SilentProgress()).n_reused == 40, "the first command still names this run"
    assert (CALLS["render"], CALLS["detect"]) == (0, 0)
    with open_run(finished) as store:
        assert list(store.verdicts()) == before
    again = read_run_file(finished)
    assert again is not None
    assert again.judging is not None
    assert again.judging.spec == again.spec, "by its own rules"


def test_a_judge_added_later_uses_what_the_detector_saw(finished: Path) -> None:
    spec = dataclasses.replace(
        SPEC, judges=(bound("judge", FakeJudge, "counter"),), checks=(bound("check", FakeAnswers, "answers"),)
    )
    rejudge(finished, spec, SilentProgress())
    assert counts(finished) == {("fake-same", "fake-detector"): 20, ("answers", "fake-detector+counter"): 20}
    assert (CALLS["detect"], CALLS["judge"]) == (0, 80)


def test_cases_that_are_not_painted_yet_are_left_out_and_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = fake_spec(10)
    execute(spec, tmp_path, SilentProgress())
    with open_run(tmp_path, "write") as store:
        keys = [key for key, _ in store.renders()]
        for key in keys[:3]:
            store._write("DELETE FROM renders WHERE render_key = :key", {"key": key})
    summary = rejudge(tmp_path, spec, SilentProgress())
    assert not summary.is_complete
    assert 2 <= summary.n_unpainted <= 3
    assert "[cases-not-generated]" in capsys.readouterr().err


def test_judging_what_is_no_run_says_so(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is no run"):
        rejudge(tmp_path, SPEC, SilentProgress())
    assert list(tmp_path.iterdir()) == []


def test_a_run_judged_again_by_the_published_rule_has_the_figures_of_a_published_run(tmp_path: Path) -> None:
    faults = ("--set", "model.faults=entity-omission:0.3,optical-character:0.3")
    asked = ("run", "metalogic", "--size", "21", "--model", "painter", *faults, "--set", "run.preflight=off")
    own = salva(*asked, "--out", "own", cwd=tmp_path)
    published = salva(*asked, "--published", "--out", "published", cwd=tmp_path)
    again = salva("rejudge", "own", "--published", cwd=tmp_path)
    assert [done.returncode for done in (own, published, again)] == [0] * 3, again.stderr
    figures = [summarise_run(tmp_path / name).to_json() for name in ("own", "published")]
    differing = {name for name in figures[0] if figures[0][name] != figures[1][name]}
    assert differing == {"run"}
    (text,) = (
        row[3]
        for table in summarise_run(tmp_path / "own").tables
        for row in table.rows
        if row[0] == "text in the image"
    )
    assert text == "not measured"
