"""The failure rate: macro or pooled, its bounds, its categories."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from report.fake_runs import judged, make_case, make_verdict

from salva.core.result import Result
from salva.core.verdict import Outcome
from salva.results.rates import ends_either_way, failure_rate

PASS, FAIL, UNDECIDED, ERROR = Outcome


def results(**categories: Sequence[Outcome]) -> list[Result]:
    """A case for each outcome, by category."""
    outcomes = {f"{name}-{n}": (name, one) for name, said in categories.items() for n, one in enumerate(said)}
    cases = [make_case(case_id, category=name) for case_id, (name, _) in outcomes.items()]
    verdicts = [make_verdict(case_id, one, check="truth") for case_id, (_, one) in outcomes.items()]
    return list(judged(cases, verdicts).results)


def test_the_average_is_over_categories_unless_a_suite_pools() -> None:
    found = results(a=[PASS] * 3, b=[FAIL])
    assert failure_rate(found).rate == 0.5
    assert failure_rate(found, "pooled").rate == 0.25
    assert (failure_rate(found).n_averaged, failure_rate(found, "pooled").n_averaged) == (2, 1)


def test_only_decided_results_enter_the_rate_and_bounds_hold_the_rest() -> None:
    rate = failure_rate(results(a=[FAIL] * 3 + [PASS] * 3 + [UNDECIDED] * 2 + [ERROR] * 2))
    assert (rate.rate, rate.n, rate.failed, rate.total, rate.coverage) == (0.5, 6, 3, 10, 0.6)
    assert rate.bounds is not None
    assert (rate.bounds.low, rate.bounds.high) == (0.3, 0.7)


def test_bounds_are_averaged_as_the_rate_is() -> None:
    rate = failure_rate(results(a=[PASS, UNDECIDED], b=[FAIL]))
    assert rate.bounds is not None
    assert (rate.rate, rate.bounds.low, rate.bounds.high) == (0.5, 0.5, 0.75)


def test_a_category_without_a_decided_case_is_not_averaged_and_stays_listed() -> None:
    rate = failure_rate(results(a=[PASS, FAIL], b=[UNDECIDED]))
    assert (rate.rate, rate.n_averaged) == (0.5, 1)
    assert [(one.name, one.n, one.failed, one.rate, one.total) for one in rate.categories] == [
        ("a", 2, 1, 0.5, 2),
        ("b", 0, 0, None, 1),
    ]


@pytest.mark.parametrize("said", [[], [UNDECIDED], [ERROR, UNDECIDED]])
def test_nothing_decided_is_no_rate_instead_of_zero(said: list[Outcome]) -> None:
    rate = failure_rate(results(a=said))
    assert (rate.rate, rate.interval, rate.interval_entities, rate.n, rate.n_effective) == (None, None, None, 0, 0.0)
    assert rate.why_no_entities or not said


def test_golden_numbers_of_the_statistics() -> None:
    """21 categories of 3: 15 with two failures, 6 with one."""
    categories = {f"c{n}": [FAIL, FAIL if n < 15 else PASS, PASS] for n in range(21)}
    rate = failure_rate(results(**categories))
    assert rate.interval is not None
    shown = [rate.rate, rate.interval.low, rate.interval.high, rate.n_effective, rate.kish]
    assert shown == pytest.approx([0.5714, 0.4444, 0.6897, 58.7565, 63], abs=5e-5)


def test_the_undecided_widen_what_a_gate_goes_by() -> None:
    found = results(a=[FAIL] * 34 + [PASS] * 306 + [UNDECIDED] * 60)
    ends = ends_either_way(found, "pooled")
    assert ends is not None
    # 94 failures of 400 at most, 34 at least.
    assert ends.high == pytest.approx(0.279, abs=5e-4)
    least = failure_rate(results(a=[FAIL] * 34 + [PASS] * 366)).interval
    assert least is not None
    assert ends.low == least.low
    assert ends_either_way([], "macro") is None
