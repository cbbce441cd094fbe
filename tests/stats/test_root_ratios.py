"""Intervals of PRR and RRR: golden numbers, another reckoning, coverage, and what they must not do."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from salva.stats.root_ratios import root_ratio_interval

T_95 = {8: 2.364624, 9: 2.306004, 10: 2.262157, 11: 2.228139, 12: 2.200985, 13: 2.178813, 14: 2.160369}
"""Student's two-sided 95 % quantile at n - 1, from a printed table."""
SCORE = st.floats(0, 1).map(lambda score: round(score, 2))


@pytest.mark.parametrize(
    ("before", "after", "ratio", "low", "high"),
    [
        ([1.0] * 12, [1.0] * 12, 1.0, 0.7124, 1.0),
        ([1, 0.9, 1, 0.4, 1, 1, 0.8, 1, 1, 1], [1, 0, 0.5, 0, 1, 0.3, 0, 1, 0, 0.5], 0.4508, 0.1865, 0.7595),
    ],
)
def test_the_golden_numbers_come_out(
    before: list[float], after: list[float], ratio: float, low: float, high: float
) -> None:
    interval = root_ratio_interval(before, after)
    assert interval is not None
    assert np.mean(after) / sqrt(np.mean(before)) == pytest.approx(ratio, abs=5e-5)
    assert [interval.low, interval.high] == pytest.approx([low, high], abs=5e-5)


def reckoned(before: Sequence[float], after: Sequence[float]) -> list[float]:
    """The same by other means: influences as numeric derivatives over weights, Wilson's ends by bisection."""
    n, t = len(after), T_95[len(after)]

    def ratio(weights: np.ndarray) -> float:
        w = weights / weights.sum()
        return float(w @ np.array(after) / sqrt(w @ np.array(before)))

    step = 1e-6
    influences = [
        n * (ratio(np.ones(n) + step * np.eye(n)[i]) - ratio(np.ones(n) - step * np.eye(n)[i])) / (2 * step)
        for i in range(n)
    ]
    a, b = float(np.mean(after)), float(np.mean(before))
    variance = (sum(value**2 for value in influences) + 8 * a * (1 - a) / b) / ((n + 7) * n)
    n_effective = float(n) if a in (0, 1) else a * (1 - a) / (b * variance)
    if min(a, 1 - a) * n < 1:
        n_effective = min(n_effective, n)

    def end(inside: float, outside: float) -> float:
        for _ in range(200):
            middle = (inside + outside) / 2
            is_inside = abs(a - middle) <= t * sqrt(middle * (1 - middle) / n_effective)
            inside, outside = (middle, outside) if is_inside else (inside, middle)
        return inside

    low, high = end(a, 0.0) / sqrt(b), end(a, 1.0) / sqrt(b)
    if a == 1:
        half = t * sqrt(sum(value**2 for value in influences) / ((n - 1) * n))
        low, high = max(0.0, min(low, 1 / sqrt(b) - half)), 1 / sqrt(b) + half
    return [low, high]


ALL_RIGHT = [(0.2 + 0.1 * i, 1.0) for i in range(8)]
ALL_RIGHT_OVER_NEXT_TO_NOTHING = [(1.0, 1.0), *[(0.0, 1.0)] * 7]
ALMOST_RIGHT = [(1.0, 1.0)] * 11 + [(1.0, 0.9)]


@given(st.lists(st.tuples(SCORE, SCORE), min_size=8, max_size=14))
@example(ALL_RIGHT)
@example(ALL_RIGHT_OVER_NEXT_TO_NOTHING)
@example(ALMOST_RIGHT)
@example([(0.5, 0.0)] * 9)
def test_another_reckoning_gives_the_same_ends(groups: list[tuple[float, float]]) -> None:
    before, after = [b for b, _ in groups], [a for _, a in groups]
    interval = root_ratio_interval(before, after)
    if not sum(before):
        assert interval is None
        return
    assert interval is not None
    wanted = reckoned(before, after)
    assert [interval.low, interval.high] == pytest.approx(wanted, abs=2e-4)
    assert 0 <= interval.low <= np.mean(after) / sqrt(np.mean(before)) + 1e-12
    assert interval.high >= np.mean(after) / sqrt(np.mean(before)) - 1e-12


def test_few_groups_and_a_mean_of_zero_have_no_interval() -> None:
    assert root_ratio_interval([1.0] * 7, [0.5] * 7) is None
    assert root_ratio_interval([1.0] * 8, [0.5] * 8) is not None
    assert root_ratio_interval([0.0] * 20, [0.5] * 20) is None
    assert root_ratio_interval([], []) is None


def test_an_upper_end_may_lie_above_one() -> None:
    interval = root_ratio_interval([0.25] * 10, [0.9] * 10)
    assert interval is not None
    assert interval.high > 1.8


@pytest.mark.parametrize(("n", "is_gated"), [(8, True), (12, True), (20, False), (50, True)])
def test_the_interval_holds_the_truth_as_often_as_it_says(n: int, is_gated: bool) -> None:
    rng = np.random.default_rng(n)

    def drawn(groups: int) -> tuple[np.ndarray, np.ndarray]:
        ability = rng.normal(0.8, 1.0, groups)
        before = 1 / (1 + np.exp(-ability - rng.normal(1, 1, groups)))
        after = (rng.random(groups) < 1 / (1 + np.exp(-ability + 1))) * rng.choice([0.5, 1.0], groups)
        return before, after * (before >= 0.5) if is_gated else after

    b, a = drawn(400_000)
    truth = a.mean() / sqrt(b.mean())
    held = 0
    for _ in range(400):
        interval = root_ratio_interval(*(values.tolist() for values in drawn(n)))
        held += interval is not None and interval.low <= truth <= interval.high
    assert held / 400 >= 0.92
