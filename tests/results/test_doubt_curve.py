"""The rate as doubt is raised: who is given up, what is left, and between which ends it lies."""

from __future__ import annotations

from report.fake_runs import judged, make_case, make_verdict

from salva.core.judged import Judgements
from salva.core.options import NoOptions
from salva.core.verdict import CERTAINTY, FAIL_AT_THRESHOLD, Outcome
from salva.results.doubt_curve import MOST_POINTS, doubt_curve
from salva.results.metrics.failure_rates import FailureRates

PASS, FAIL, UNDECIDED, ERROR = Outcome


def run(*sure: tuple[Outcome, float | None], open_as: float | None = None) -> Judgements:
    """A pair each, all in one category, by outcome and certainty."""
    cases = [make_case(f"c{i}", labels={"law": "x"}, category="one") for i in range(len(sure))]
    verdicts = []
    for case, (outcome, certainty) in zip(cases, sure, strict=True):
        scores = {} if certainty is None else {CERTAINTY: certainty}
        if outcome is UNDECIDED and open_as is not None:
            scores[FAIL_AT_THRESHOLD] = open_as
        reason = "" if outcome in (PASS, FAIL) else "open"
        verdicts.append(make_verdict(case.case_id, outcome, check="truth", scores=scores, reason=reason))
    return judged(cases, verdicts)


def shown(judgements: Judgements) -> list[tuple[float, int, float, float, float]]:
    return [(p.doubt, p.n, round(p.rate, 3), round(p.low, 3), round(p.high, 3)) for p in doubt_curve(judgements)]


def test_the_weakest_are_given_up_first() -> None:
    assert shown(run((PASS, 0.5), (FAIL, 0.7), (PASS, 0.8), (FAIL, 1.0))) == [
        (0.0, 4, 0.5, 0.5, 0.5),
        (0.5, 3, 0.667, 0.5, 0.75),
        (0.7, 2, 0.5, 0.25, 0.75),
    ]


def test_a_pair_left_open_for_doubt_counts_below_it_as_it_would_have_been_decided() -> None:
    points = shown(run((UNDECIDED, 0.5), (PASS, 0.9), (PASS, 1.0), open_as=1.0))
    assert points == [(0.0, 3, 0.333, 0.333, 0.333), (0.5, 2, 0.0, 0.0, 0.333)]


def test_what_nobody_could_tell_is_never_decided() -> None:
    points = shown(run((UNDECIDED, None), (ERROR, None), (PASS, 0.6), (FAIL, 1.0)))
    assert points == [(0.0, 2, 0.5, 0.25, 0.75), (0.6, 1, 1.0, 0.25, 1.0)]


def test_without_scores_there_is_no_curve() -> None:
    assert doubt_curve(run((PASS, None), (FAIL, None))) == ()
    assert doubt_curve(run((PASS, 0.5), (FAIL, None))) == (), "nor where only some have them"
    assert doubt_curve(run((FAIL, 1.0), (FAIL, 1.0))) == (), "nor where nothing hangs on a box"
    assert doubt_curve(run()) == ()


def test_many_pairs_make_few_points_and_half_of_them_stay() -> None:
    points = doubt_curve(run(*((PASS if i % 3 else FAIL, i / 1000) for i in range(1, 301))))
    assert 10 <= len(points) <= MOST_POINTS + 1
    assert points[-1].n == 150
    assert [p.n for p in points] == sorted((p.n for p in points), reverse=True)
    assert all(p.low <= p.rate <= p.high for p in points)


def test_equal_scores_give_a_curve_of_nothing() -> None:
    """Whatever is given up is all of it."""
    assert doubt_curve(run((PASS, 0.5), (FAIL, 0.5))) == ()


def test_cases_that_are_counted_apart_are_left_out() -> None:
    whole = run((PASS, 0.5), (FAIL, 0.7), (PASS, 0.8))
    apart = make_case("n", labels={"law": "numbering"}, category="n")
    more = judged(
        [*whole.cases, apart],
        [*(one.verdict for one in whole.pairs), make_verdict("n", FAIL, check="truth", scores={CERTAINTY: 0.1})],
        apart=("law", "numbering"),
    )
    assert shown(more) == shown(whole)


def test_the_report_has_a_table_and_a_chart_of_it() -> None:
    measured = FailureRates(NoOptions()).measure(run((PASS, 0.5), (FAIL, 0.7), (PASS, 0.8), (FAIL, 1.0)))
    table = next(table for table in measured.tables if table.name == "rate by doubt")
    assert table.rows[1] == (0.5, 3, 0.75, 2 / 3, 0.5, 0.75)
    assert "rate-by-doubt" in {chart.name for chart in measured.charts}
