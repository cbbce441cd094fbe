"""Rates over any group of results, as tables show them."""

from __future__ import annotations

from random import Random

import pytest
from report.fake_runs import judged, make_case, make_verdict

from salva.core.judgements import CaseVerdict
from salva.core.verdict import Outcome
from salva.results.rates import failure_rate
from salva.results.tally import mean_of_categories, rate_cells, results_of_check
from salva.stats.rates import Counted, share_interval

PASS, FAIL, UNDECIDED, ERROR = Outcome


def test_a_group_shows_what_is_decided_and_how_much_is_not() -> None:
    outcomes = [FAIL] * 3 + [PASS] * 3 + [UNDECIDED] * 2 + [ERROR] * 2
    pairs = [CaseVerdict(make_case(f"c{n}"), make_verdict(f"c{n}", one)) for n, one in enumerate(outcomes)]
    n, failed, rate, low, high, undecided = rate_cells(results_of_check(pairs))
    assert (n, failed, rate, undecided) == (6, 3, 0.5, 4)
    assert isinstance(low, float)
    assert isinstance(high, float)
    assert low < 0.5 < high
    assert rate_cells(results_of_check(pairs[6:])) == (0, 0, None, None, None, 4)


def test_the_macro_average_weighs_categories_and_not_cases() -> None:
    big = [CaseVerdict(make_case(f"big-{n}", category="big"), make_verdict(f"big-{n}")) for n in range(9)]
    small = CaseVerdict(make_case("small", category="small"), make_verdict("small", FAIL))
    found = results_of_check([*big, small])
    assert (mean_of_categories(found), mean_of_categories([])) == (0.5, None)


@pytest.mark.parametrize("seed", range(30))
def test_a_share_that_is_the_mean_over_categories_has_its_interval(seed: int) -> None:
    """A rate has one interval, in the headline and in every table: these prompts, other seeds."""
    rng = Random(seed)
    n_cases, repeats, n_categories = rng.randint(1, 6), rng.randint(1, 3), rng.randint(1, 8)
    chance = rng.choice([0.0, 0.05, 0.5, 1.0])
    cases = [make_case(f"case-{n}", category=f"category-{n % n_categories}") for n in range(n_categories * n_cases)]
    verdicts = [
        make_verdict(case.case_id, FAIL if rng.random() < chance else PASS, repeat=repeat, check="truth")
        for case in cases
        for repeat in range(repeats)
    ]
    found = judged(cases, verdicts).results
    rate = failure_rate(found)
    assert rate.interval is not None
    assert rate_cells(found)[2:5] == pytest.approx((rate.rate, rate.interval.low, rate.interval.high))


def test_a_large_category_weighs_more_in_the_interval_of_a_share_too() -> None:
    """Where a few cases all break and many break at times, the many make the share uncertain."""
    many = [
        CaseVerdict(make_case(f"many-{n}", category="many"), make_verdict(outcome=FAIL if n % 2 else PASS))
        for n in range(90)
    ]
    few = [CaseVerdict(make_case(f"few-{n}", category="few"), make_verdict()) for n in range(10)]
    low, high = rate_cells(results_of_check([*many, *few]))[3:5]
    assert isinstance(low, float)
    assert isinstance(high, float)
    # As sure as 100 cases make a share of 0.45: plus or minus 9.6 points, and not the 5 of the mean over categories.
    assert high - low == pytest.approx(2 * 0.096, abs=0.002)


@pytest.mark.parametrize(
    ("sizes", "rates"), [((40, 1), (0.02, 0.9)), ((20, 1, 1), (0.03, 0.6, 0.6)), ((100, 1, 1), (0.005, 0.5, 0.5))]
)
def test_a_small_category_that_breaks_makes_no_share_certain(sizes: tuple[int, ...], rates: tuple[float, ...]) -> None:
    """Fixed prompts, other seeds: the interval holds the true share at least as often as it says, or nearly."""
    rng = Random(1)
    true = sum(n * p for n, p in zip(sizes, rates, strict=True)) / sum(sizes)
    n_held = 0
    for _ in range(300):
        cases = [
            Counted(category=str(p), n_hits=int(rng.random() < p), n=1)
            for n, p in zip(sizes, rates, strict=True)
            for _ in range(n)
        ]
        interval = share_interval(cases)
        assert interval is not None
        n_held += interval.low <= true <= interval.high
    assert n_held > 0.93 * 300
