"""What enters a rate, and what stands around it."""

from __future__ import annotations

from random import Random

import pytest
from report.fake_runs import make_case, make_verdict

from salva.core.judgements import CaseVerdict
from salva.core.verdict import Outcome
from salva.results.rates import figure_of, hits_of
from salva.results.tally import category_mean, macro_rate, tally
from salva.stats.rates import Counted, share_interval

PASS, FAIL, UNDECIDED, ERROR = Outcome


def test_only_decided_verdicts_enter_the_rate_and_bounds_hold_the_rest() -> None:
    case = make_case()
    outcomes = [FAIL] * 3 + [PASS] * 3 + [UNDECIDED] * 2 + [ERROR] * 2
    counted = tally(CaseVerdict(case, make_verdict(outcome=outcome)) for outcome in outcomes)
    assert counted.rate == 0.5
    assert (counted.n, counted.failed, counted.undecided) == (6, 3, 4)
    bounds = counted.bounds()
    assert bounds is not None
    assert (bounds.low, bounds.high) == (0.3, 0.7)


def test_nothing_decided_is_no_rate_instead_of_zero() -> None:
    counted = tally([CaseVerdict(make_case(), make_verdict(outcome=ERROR))])
    assert counted.rate is None
    assert counted.interval() is None
    assert macro_rate([CaseVerdict(make_case(), make_verdict(outcome=ERROR))]).rate is None


def test_the_macro_average_weighs_categories_and_not_cases() -> None:
    big, small = make_case("big", category="big"), make_case("small", category="small")
    judged = [CaseVerdict(big, make_verdict(outcome=PASS))] * 9 + [CaseVerdict(small, make_verdict(outcome=FAIL))]
    assert category_mean(judged).rate == 0.5
    assert tally(judged).rate == 0.1


def test_a_spotless_run_still_has_an_interval() -> None:
    cases = [make_case(f"case-{index}", cluster=f"c{index % 4}") for index in range(40)]
    macro = macro_rate([CaseVerdict(case, make_verdict(case.case_id)) for case in cases])
    assert macro.rate == 0.0
    assert macro.interval is not None
    assert 0.05 < macro.interval.high < 0.12


@pytest.mark.parametrize("seed", range(30))
def test_a_share_that_is_the_mean_over_categories_has_its_interval(seed: int) -> None:
    """A rate has one interval, in the headline and in every table: these prompts, other seeds."""
    rng = Random(seed)
    n_cases, repeats, n_categories = rng.randint(1, 6), rng.randint(1, 3), rng.randint(1, 8)
    chance = rng.choice([0.0, 0.05, 0.5, 1.0])
    judged = []
    for number in range(n_categories * n_cases):
        case = make_case(f"case-{number}", category=f"category-{number % n_categories}", cluster=f"c{number % 3}")
        for repeat in range(repeats):
            outcome = FAIL if rng.random() < chance else PASS
            judged.append(CaseVerdict(case, make_verdict(case.case_id, outcome, repeat=repeat)))
    counted, mean = tally(judged), macro_rate(judged)
    interval = counted.interval()
    assert counted.rate == pytest.approx(mean.rate)
    assert interval is not None
    assert mean.interval is not None
    assert (interval.low, interval.high) == pytest.approx((mean.interval.low, mean.interval.high))
    led = figure_of(hits_of(judged), "truth", "macro", None).interval
    assert led is not None
    assert (interval.low, interval.high) == pytest.approx((led.low, led.high))


def test_a_large_category_weighs_more_in_the_interval_of_a_share_too() -> None:
    """Where a few cases all break and many break at times, the many make the share uncertain."""
    many = [make_case(f"many-{n}", category="many") for n in range(90)]
    few = [make_case(f"few-{n}", category="few") for n in range(10)]
    judged = [CaseVerdict(case, make_verdict(outcome=FAIL if n % 2 else PASS)) for n, case in enumerate(many)]
    judged += [CaseVerdict(case, make_verdict(outcome=PASS)) for case in few]
    interval = tally(judged).interval()
    assert interval is not None
    # As sure as 100 cases make a share of 0.45: plus or minus 9.6 points, and not the 5 of the mean over categories.
    assert interval.high - interval.low == pytest.approx(2 * 0.096, abs=0.002)


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
