"""What enters a rate, and what stands around it."""

from __future__ import annotations

from report.fake_runs import make_case, make_verdict

from salva.core.judged import Judged
from salva.core.verdict import Outcome
from salva.judging.tally import category_mean, macro_rate, tally

HOLDS, VIOLATED, INCONCLUSIVE, FAILED = Outcome


def test_only_decided_verdicts_enter_the_rate_and_bounds_hold_the_rest() -> None:
    case = make_case()
    outcomes = [VIOLATED] * 3 + [HOLDS] * 3 + [INCONCLUSIVE] * 2 + [FAILED] * 2
    counted = tally(Judged(case, make_verdict(outcome=outcome)) for outcome in outcomes)
    assert counted.rate == 0.5
    assert (counted.n, counted.violated, counted.undecided) == (6, 3, 4)
    bounds = counted.bounds()
    assert bounds is not None
    assert (bounds.low, bounds.high) == (0.3, 0.7)


def test_nothing_decided_is_no_rate_instead_of_zero() -> None:
    counted = tally([Judged(make_case(), make_verdict(outcome=FAILED))])
    assert counted.rate is None
    assert counted.interval() is None
    assert macro_rate([Judged(make_case(), make_verdict(outcome=FAILED))]).rate is None


def test_the_macro_average_weighs_categories_and_not_cases() -> None:
    big, small = make_case("big", category="big"), make_case("small", category="small")
    judged = [Judged(big, make_verdict(outcome=HOLDS))] * 9 + [Judged(small, make_verdict(outcome=VIOLATED))]
    assert category_mean(judged).rate == 0.5
    assert tally(judged).rate == 0.1


def test_a_spotless_run_still_has_an_interval() -> None:
    cases = [make_case(f"case-{index}", cluster=f"c{index % 4}") for index in range(40)]
    macro = macro_rate([Judged(case, make_verdict(case.case_id)) for case in cases])
    assert macro.rate == 0.0
    assert macro.interval is not None
    assert 0.05 < macro.interval.high < 0.12
