"""Rates corrected by people: golden numbers of an independent reference, and simulated cover."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from salva.stats.correction import Stratum, correct_rate, kish, stratum_of
from salva.stats.rates import rate_interval

KNOWN = (Stratum(weight=0.6, share=0.05, n=20), Stratum(weight=0.3, share=0.9, n=20))


@pytest.mark.parametrize(
    ("last", "rate", "low", "high"),
    [
        (Stratum(weight=0.1), None, 0.2083, 0.5084),
        (Stratum(weight=0.1, share=0.5, n=20), 0.35, 0.2540, 0.4599),
    ],
)
def test_the_reference_has_the_same_ends(last: Stratum, rate: float | None, low: float, high: float) -> None:
    found = correct_rate((*KNOWN, last), 200)
    assert found.rate == (None if rate is None else pytest.approx(rate))
    assert (found.interval.low, found.interval.high) == pytest.approx((low, high), abs=5e-5)


def test_without_reviews_everything_is_possible() -> None:
    found = correct_rate([Stratum(weight=1.0)], 50)
    assert (found.rate, found.interval.low, found.interval.high) == (None, 0.0, 1.0)


def test_labels_that_all_agree_are_no_certainty() -> None:
    """At 0 and 1 the variance counts one label more of each kind, and never more results than the run has."""
    few = correct_rate([Stratum(weight=0.5, share=0.0, n=4), Stratum(weight=0.5, share=0.0, n=4)], 800)
    near = (0 * 4 + 1) / (4 + 2)
    expected = rate_interval(0.0, near * (1 - near) / (2 * 0.25 * near * (1 - near) / 4))
    assert few.rate == 0.0
    assert few.interval.high == pytest.approx(expected.high)
    many = correct_rate([Stratum(weight=1.0, share=1.0, n=1000)], 30)
    assert many.interval.low == pytest.approx(rate_interval(1.0, 30).low)


def test_a_label_counts_as_much_as_its_result_weighs() -> None:
    found = stratum_of([0.1, 0.1, 0.3], [(0.1, True), (0.3, False)])
    assert found.weight == pytest.approx(0.5)
    assert found.share == pytest.approx(0.25)
    assert found.n == pytest.approx(kish([0.1, 0.3])) == pytest.approx(1.6)
    assert stratum_of([0.1], []) == Stratum(weight=0.1)


def test_what_nobody_can_tell_leaves_bounds() -> None:
    half = stratum_of([0.25, 0.25], [(0.25, True), (0.25, None)])
    assert (half.share, half.n, half.bounds) == (1.0, 1.0, (0.5, 1.0))
    unclear = stratum_of([0.5], [(0.5, None)])
    assert (unclear.share, unclear.bounds) == (None, (0.0, 1.0))
    found = correct_rate([half, stratum_of([0.5], [(0.5, False)])], 10)
    assert found.rate == pytest.approx(0.5)
    assert (found.bounds.low, found.bounds.high) == pytest.approx((0.25, 0.5))


@given(
    st.lists(st.tuples(st.floats(0.01, 1), st.none() | st.integers(0, 10), st.integers(1, 10)), min_size=1, max_size=4),
    st.integers(10, 1000),
)
def test_ends_enclose_the_rate_and_stay_within_0_and_1(drawn: list[tuple[float, int | None, int]], n: int) -> None:
    total = sum(weight for weight, *_ in drawn)
    strata = [
        Stratum(weight=weight / total, share=None if hits is None else min(hits, of) / of, n=float(of))
        for weight, hits, of in drawn
    ]
    found = correct_rate(strata, n)
    assert (found.rate is None) == any(one.share is None for one in strata)
    middle = found.interval.low if found.rate is None else found.rate
    assert 0 <= found.interval.low <= middle + 1e-9
    assert middle - 1e-9 <= found.interval.high <= 1


def corrected_of_sample(
    rng: np.random.Generator, truth: np.ndarray, sizes: tuple[int, ...], *, n_each: int
) -> tuple[float, float]:
    """Ends from so many random reviews of each result of a run; its observers are right about most images."""
    weight = np.repeat(1 / len(sizes) / np.array(sizes), sizes)
    fails = rng.random(len(truth)) < truth
    undecided, is_right = rng.random(len(truth)) < 0.1, rng.random(len(truth)) < 0.85
    results = np.where(undecided, 2, np.where(is_right, fails, ~fails))
    strata = []
    for result in np.unique(results):
        inside = np.flatnonzero(results == result)
        reviewed = rng.permutation(inside)[:n_each]
        strata.append(stratum_of(weight[inside], [(weight[i], bool(fails[i])) for i in reviewed]))
    interval = correct_rate(strata, kish(weight)).interval
    return interval.low, interval.high


@pytest.mark.parametrize(
    ("rate", "sizes", "n_each"),
    [(0.05, (200,) * 4, 20), (0.26, (40,) * 20, 20), (0.26, (20, 20, 360), 40), (0.5, (100,) * 3, 10)],
)
def test_intervals_cover_the_rate_under_other_seeds(rate: float, sizes: tuple[int, ...], n_each: int) -> None:
    """The smallest cover of the reference is 92.3 %; 1,000 draws know it to about two points."""
    rng = np.random.default_rng(4)
    by_category = rng.beta(40 * rate, 40 * (1 - rate), len(sizes))
    truth = np.repeat(by_category, sizes)
    ends = [corrected_of_sample(rng, truth, sizes, n_each=n_each) for _ in range(1000)]
    assert np.mean([low <= by_category.mean() <= high for low, high in ends]) >= 0.92
