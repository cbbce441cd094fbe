"""Agreement: against scipy, against definitions written out, and at the edges."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from salva.stats.agreement import (
    binned,
    cohen,
    kendall,
    krippendorff,
    pearson,
    spearman,
)

scores = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=3, max_size=40)


@given(scores)
def test_correlations_are_scipys(pairs: list[tuple[int, int]]) -> None:
    x, y = [float(a) + 1000 for a, _ in pairs], [float(b) / 7 for _, b in pairs]
    has_spread = len(set(x)) > 1 and len(set(y)) > 1
    for ours, theirs in (
        (pearson, scipy_stats.pearsonr),
        (spearman, scipy_stats.spearmanr),
        (kendall, scipy_stats.kendalltau),
    ):
        value = ours(x, y).value
        if not has_spread:
            assert value is None
        else:
            assert value == pytest.approx(float(theirs(x, y).statistic), abs=1e-9)


def test_kendall_of_many_things_is_scipys_too() -> None:
    rng = np.random.default_rng(3)
    x = rng.integers(0, 20, 3500).astype(float)
    y = x + rng.integers(-15, 16, 3500)
    ours = kendall(x.tolist(), y.tolist())
    assert ours.value == pytest.approx(float(scipy_stats.kendalltau(x, y).statistic), abs=1e-12)
    assert ours.value is not None
    assert ours.low is not None
    assert ours.high is not None
    assert ours.low < ours.value < ours.high
    assert ours.high - ours.low < 0.1


def test_intervals_cover_the_truth_about_as_often_as_they_say() -> None:
    rng = np.random.default_rng(5)
    n_covered = 0
    for _ in range(200):
        x = rng.normal(size=60)
        y = 0.6 * x + 0.8 * rng.normal(size=60)
        found = pearson(x.tolist(), y.tolist())
        assert found.low is not None
        assert found.high is not None
        n_covered += found.low <= 0.6 <= found.high
    assert 180 <= n_covered <= 198


def test_cohens_kappa_by_hand() -> None:
    # 50 things: both yes 20, both no 15, only a 5, only b 10: observed 0.7, chance 0.5, kappa 0.4.
    a = [1] * 25 + [0] * 25
    b = [1] * 20 + [0] * 5 + [1] * 10 + [0] * 15
    assert cohen(a, b, 2).value == pytest.approx(0.4, abs=1e-12)
    assert cohen(a, a, 2).value == pytest.approx(1.0)
    assert cohen([1] * 9, [1] * 9, 2).value is None, "two observers who always say the same word show nothing"


def kappa_by_definition(a: list[int], b: list[int], power: int) -> float | None:
    """Weighted kappa from its definition: mean distance of pairs against mean distance of all crossed pairs."""

    def d(i: int, j: int) -> float:
        return float(i != j) if power == 0 else abs(i - j) ** power

    seen = sum(d(i, j) for i, j in zip(a, b, strict=True)) / len(a)
    chance = sum(d(i, j) for i in a for j in b) / len(a) ** 2
    return None if chance == 0 else 1 - seen / chance


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=30))
def test_kappa_is_its_definition_weighted_and_not(pairs: list[tuple[int, int]]) -> None:
    a, b = [i for i, _ in pairs], [j for _, j in pairs]
    for weights, power in (("none", 0), ("linear", 1), ("quadratic", 2)):
        ours, theirs = cohen(a, b, 5, weights).value, kappa_by_definition(a, b, power)
        assert (ours is None) == (theirs is None)
        if theirs is not None:
            assert ours == pytest.approx(theirs, abs=1e-12)


def test_unknown_weights_and_levels_are_refused() -> None:
    with pytest.raises(ValueError, match="quadratic"):
        cohen([0, 1], [0, 1], 2, "cubic")
    with pytest.raises(ValueError, match="ordinal"):
        krippendorff([[1, 2], [2, 2]], "ratio")


def alpha_by_definition(ratings: list[list[float | None]], distance: object) -> float | None:
    """Krippendorff's alpha from its definition: pairs within things against pairs over all."""
    units = [[v for v in row if v is not None] for row in ratings]
    units = [row for row in units if len(row) >= 2]
    everything = [v for row in units for v in row]
    n = len(everything)
    d = distance
    assert callable(d)
    observed = sum(sum(d(a, b) for a, b in permutations(row, 2)) / (len(row) - 1) for row in units) / n
    expected = sum(d(a, b) for a, b in permutations(everything, 2)) / (n * (n - 1))
    return None if expected == 0 else 1 - observed / expected


ratings = st.lists(
    st.lists(st.one_of(st.none(), st.integers(0, 4).map(float)), min_size=3, max_size=3), min_size=2, max_size=12
)


@given(ratings)
def test_alpha_is_its_definition(rows: list[list[float | None]]) -> None:
    for level, distance in (("nominal", lambda a, b: float(a != b)), ("interval", lambda a, b: (a - b) ** 2)):
        usable = [row for row in rows if sum(v is not None for v in row) >= 2]
        ours = krippendorff(rows, level).value
        theirs = alpha_by_definition(rows, distance) if len(usable) >= 2 else None
        if theirs is None:
            assert ours is None
        else:
            assert ours == pytest.approx(theirs, abs=1e-9)


def test_alpha_of_krippendorffs_own_example() -> None:
    """Four observers, twelve units, with gaps: the textbook prints 0.743, 0.815 and 0.849."""
    gaps = None
    a = [1, 2, 3, 3, 2, 1, 4, 1, 2, gaps, gaps, gaps]
    b = [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, gaps, 3]
    c = [gaps, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, gaps]
    d = [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, gaps]
    rows = [list(row) for row in zip(a, b, c, d, strict=True)]
    for level, printed in (("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)):
        assert krippendorff(rows, level).value == pytest.approx(printed, abs=5e-4)


def test_bins_take_their_lower_edge() -> None:
    assert binned([0, 9.99, 10, 49, 50], [0, 10, 20, 50]) == [0, 0, 1, 2, 2]


def test_different_numbers_of_things_are_refused() -> None:
    with pytest.raises(ValueError, match="2 and 3"):
        pearson([1, 2], [1, 2, 3])
    assert math.isclose(pearson([1, 2], [3, 4]).value or 0, 1.0)
