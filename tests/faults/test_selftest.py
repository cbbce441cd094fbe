"""The selftest praises an oracle that sees, and finds out one that does not."""

from __future__ import annotations

import re

import pytest
from faults import knowing
from snapshot import check_snapshot

from salva import registry
from salva.cli.selftest_command import print_report
from salva.core.verdict import ENTITY_OMISSION, OPTICAL_CHARACTER, X_MISPOSITION
from salva.engine.progress import SilentProgress
from salva.errors import BackendError, UsageError
from salva.logic.equivalence import are_equivalent
from salva.logic.notation import parse
from salva.runs.selftest import FAULTS, selftest
from salva.runs.selftest_cases import COLOURED, TEMPLATES, THINGS, case_for, nameable
from salva.runs.selftest_report import FEWEST, Score, SelftestReport

THRESHOLD = 0.97


@pytest.fixture(autouse=True)
def _told_detectors(monkeypatch: pytest.MonkeyPatch) -> None:
    knowing.register(monkeypatch)


def tried(detector: str, *, n_pairs: int = 30, seed: int = 1, **settings: str) -> SelftestReport:
    return selftest(
        detector=detector,
        reader="none",
        settings={key.replace("__", "."): value for key, value in settings.items()},
        n_pairs=n_pairs,
        seed=seed,
        progress=SilentProgress(),
    )


@pytest.fixture(scope="module")
def knowing_report() -> SelftestReport:
    """What sees everything."""
    with pytest.MonkeyPatch.context() as patch:
        knowing.register(patch)
        return tried("knowing", n_pairs=60)


@pytest.fixture(scope="module")
def forgetful_report() -> SelftestReport:
    """What overlooks things."""
    with pytest.MonkeyPatch.context() as patch:
        knowing.register(patch)
        return tried("forgetful")


@pytest.fixture(scope="module")
def blind_report() -> SelftestReport:
    """What sees nothing."""
    with pytest.MonkeyPatch.context() as patch:
        knowing.register(patch)
        return tried("blind", n_pairs=40)


def test_an_oracle_that_sees_everything_makes_no_mistake(knowing_report: SelftestReport) -> None:
    report = knowing_report
    assert report.mistakes == ()
    assert report.passes(1.0), report.problems(1.0)
    assert {score.name for score in report.errors} == set(FAULTS) - {OPTICAL_CHARACTER}
    for score in report.errors:
        assert score.n_true >= FEWEST, "too few planted faults to call this a test"
        assert score.n_true == score.n_found == score.n_both
    assert {score.name: score.n_judged for score in report.faultless}["truth"] == 60


def test_overlooked_things_cost_precision_of_omission_and_show_as_mistakes(forgetful_report: SelftestReport) -> None:
    report = forgetful_report
    assert not report.passes(THRESHOLD)
    scores = {score.name: score for score in report.errors}
    precision = scores[ENTITY_OMISSION].precision
    assert precision is not None
    assert precision < 0.5
    assert any(score.n_found > 0 for score in report.faultless)
    overlooked = [mistake for mistake in report.mistakes if ENTITY_OMISSION in mistake.found]
    assert any(mistake.planted == "" and not mistake.true for mistake in overlooked)
    assert re.search(r"(no|\d) \w+.* expected", overlooked[0].why), "what was seen and what was asked for"


def test_a_blind_oracle_does_not_pass_by_saying_nothing(blind_report: SelftestReport) -> None:
    problems = blind_report.problems(THRESHOLD)
    assert any("x-misposition: recall" in problem for problem in problems)
    assert any(re.match(r"[a-z-]+: \d+ of \d+ faultless pairs", problem) for problem in problems)


def test_a_fault_seen_but_called_by_another_name_is_a_mistake(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry.BUILT_IN["check"], "truth", registry.BuiltIn(source="faults.knowing:MisnamingTruth"))
    report = tried("knowing", n_pairs=50)
    assert {(mistake.true, mistake.found) for mistake in report.mistakes} == {((X_MISPOSITION,), (ENTITY_OMISSION,))}
    assert any("x-misposition: recall 0.000" in problem for problem in report.problems(THRESHOLD))


def test_a_broken_detector_stops_the_test() -> None:
    with pytest.raises(BackendError, match="fell off"):
        tried("broken", n_pairs=2)


def test_the_same_seed_gives_the_same_report_and_another_seed_other_pairs() -> None:
    first, again, other = (tried("forgetful", n_pairs=8, seed=s) for s in (1, 1, 2))
    assert first == again
    assert {mistake.case_id for mistake in first.mistakes} != {mistake.case_id for mistake in other.mistakes}


def test_faults_of_the_users_own_are_refused() -> None:
    with pytest.raises(UsageError, match=r"model\.faults"):
        tried("knowing", model__faults="entity-omission:0.5")


def test_painter_options_reach_the_painter() -> None:
    with pytest.raises(UsageError, match="side"):
        tried("knowing", model__side="3")


def test_printing_names_figures_mistakes_and_the_verdict(
    forgetful_report: SelftestReport, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    print_report(forgetful_report)
    printed = capsys.readouterr().out
    assert "entity-omission" in printed
    assert "true nothing wrong; found entity-omission" in printed
    assert "more mistakes" in printed
    assert "does not pass:" in printed
    assert "Not covered" in printed
    assert all(len(line) <= 80 for line in printed.splitlines())


def score(n_true: int, n_found: int, n_both: int, n_judged: int = 1000) -> Score:
    return Score(name="thing", n_judged=n_judged, n_true=n_true, n_found=n_found, n_both=n_both)


def report_of(error: Score, n_false: int = 0) -> SelftestReport:
    faultless = score(0, n_false, 0)
    return SelftestReport(errors=(error,), faulty=(), faultless=(faultless,), mistakes=(), rate=0.3, seed=0)


def test_the_threshold_is_met_by_being_reached() -> None:
    assert report_of(score(100, 100, 97)).passes(0.97)
    assert not report_of(score(100, 97, 96)).passes(0.97)
    assert not report_of(score(97, 100, 96)).passes(0.97)


def test_few_faults_say_nothing_either_way() -> None:
    for n_found in (0, FEWEST - 1):
        few = report_of(score(FEWEST - 1, n_found, n_found))
        assert few.problems(0.97) == ()
        assert few.too_few()
        assert not few.passes(0.0)
    assert report_of(score(FEWEST, FEWEST, FEWEST)).passes(0.97)
    assert report_of(score(FEWEST, FEWEST - 1, FEWEST - 1)).problems(0.97)


def test_every_template_is_an_equivalence_and_shows_its_fault() -> None:
    for fault in {template.shows for template in TEMPLATES}:
        things = COLOURED if fault == "wrong-colour" else THINGS
        for number in range(len(TEMPLATES)):
            case = case_for(fault, number, 3, things)
            first, second = (parse(prompt.formula or "") for prompt in case.prompts)
            assert are_equivalent(first, second), case
            assert fault == "" or next(t for t in TEMPLATES if t.name == case.category).shows == fault


def test_a_detector_without_the_words_is_refused() -> None:
    assert nameable(None) == THINGS
    assert nameable(("cat", "dog", "cow", "zebra")) == ("cat", "dog", "cow")
    with pytest.raises(UsageError, match=r"\[selftest-words-few\]"):
        nameable(("cat", "zebra"))


def test_what_is_printed_is_the_snapshot(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    print_report(report_of(score(100, 97, 96), n_false=20))
    print_report(report_of(score(FEWEST - 1, FEWEST - 1, FEWEST - 1)))
    print_report(report_of(score(100, 100, 100)))
    check_snapshot("selftest", "".join(f"{line.rstrip()}\n" for line in capsys.readouterr().out.splitlines()))


def test_what_was_never_shown_was_not_measured() -> None:
    report = report_of(score(0, 0, 0))
    assert report.problems(0.97) == ()
    (sentence,) = report.too_few()
    assert "planted 0 times" in sentence
    assert not report.passes(0.0)


def test_false_violations_fail_whatever_the_threshold() -> None:
    assert report_of(score(100, 100, 100), n_false=5).passes(0.97)
    assert not report_of(score(100, 100, 100), n_false=6).passes(0.0)


def test_tables_show_rates_with_their_intervals() -> None:
    table = report_of(score(100, 100, 97)).tables()[0]
    assert table.rows == (("thing", 100, 100, "0.970 (0.92-0.99)", "0.970 (0.92-0.99)"),)
