"""How many pairs it takes: by hand, and turned round."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from salva.stats.paired import detectable
from salva.stats.rates import Counted, macro, seeds_interval
from salva.stats.sample_size import (
    VarianceParts,
    beside_worse,
    evenly,
    fewest,
    half_of,
    pairs_for_difference,
    pairs_for_half_width,
    parts_of,
    shown_by,
)


def test_a_textbook_number_of_pairs() -> None:
    # Independent halves of 50 %: a pair's difference has variance 0.5; (1.96 + 0.84)^2 * 0.5 / 0.1^2 = 392 pairs.
    made = pairs_for_difference(0.1, 0.5, 1)
    assert made is not None
    assert made == pytest.approx(392, rel=0.05)
    # And for the half-width 1.96^2 * 0.25 / 0.05^2 = 384, less Wilson's 4.
    assert pairs_for_half_width(0.05, 0.5, VarianceParts(between=0.25, within=None), 1) == 381


@given(st.floats(0.02, 0.5), st.floats(0.01, 1.0), st.integers(1, 30))
def test_so_many_are_enough_and_fewer_are_not(difference: float, variance: float, n_categories: int) -> None:
    n = pairs_for_difference(difference, variance, n_categories)
    assert n is not None
    assert n % n_categories == 0
    assert detectable(evenly(variance, n, n_categories)) <= difference
    if n > 2 * n_categories:
        assert detectable(evenly(variance, n - n_categories, n_categories)) > difference


def test_what_nobody_has_is_none() -> None:
    assert fewest(lambda _: False) is None
    assert fewest(lambda n: n >= 37, 5) == 40
    assert fewest(lambda _: True, 7) == 7


def test_repeats_take_the_noise_apart() -> None:
    rng = Random(2)
    cases = []
    for _ in range(4000):
        chance = rng.choice((0.1, 0.9))
        cases.append([float(rng.random() < chance) for _ in range(3)])
    made = parts_of({"": cases})
    assert made is not None
    assert made.within == pytest.approx(0.09, abs=0.005)
    assert made.between == pytest.approx(0.16, abs=0.01)
    assert made.total(1) == pytest.approx(0.25, abs=0.01)
    assert made.times(2) == VarianceParts(between=2 * made.between, within=2 * made.within if made.within else None)


def test_one_repeat_cannot_say_what_repeats_would_help() -> None:
    made = parts_of({"a": [[0.0], [1.0]], "b": [[1.0]]})
    assert made == VarianceParts(between=0.5, within=None)
    assert made.total(8) == made.total(1)
    assert parts_of({"a": [[1.0]], "b": [[0.0]]}) is None


@pytest.mark.parametrize(("n_categories", "n_repeats"), [(1, 1), (4, 1), (4, 3)])
def test_the_half_width_is_that_of_the_interval(n_categories: int, n_repeats: int) -> None:
    rng = Random(n_categories)
    groups = {
        f"{t}": [[float(rng.random() < 0.2 + 0.1 * t) for _ in range(n_repeats)] for _ in range(60)]
        for t in range(n_categories)
    }
    parts = parts_of(groups)
    assert parts is not None
    cases = [Counted(category=name, n_hits=sum(case), n=len(case)) for name, group in groups.items() for case in group]
    rate, interval = macro(cases), seeds_interval(cases)
    assert rate is not None
    assert interval is not None
    half = half_of(rate, parts, len(cases), n_categories, n_repeats)
    assert half == pytest.approx((interval.high - interval.low) / 2, rel=0.02)


def test_the_other_model_has_the_variance_of_its_own_rate() -> None:
    single = VarianceParts(between=0.05 * 0.95, within=None)
    assert beside_worse(single, 0.05, 0.1).between == pytest.approx(0.05 * 0.95 + 0.15 * 0.85)
    assert beside_worse(single, 0.95, 0.1).between == pytest.approx(0.05 * 0.95 + 0.15 * 0.85)
    assert beside_worse(single, 0.0, 0.1).between == 2 * single.between


@given(st.floats(0.02, 0.9), st.integers(20, 2000))
def test_what_so_many_show_takes_so_many(rate: float, n: int) -> None:
    def variance_at(difference: float) -> float:
        return beside_worse(VarianceParts(between=rate * (1 - rate), within=None), rate, difference).total(1)

    shown = shown_by(variance_at, n, 1)
    needed = pairs_for_difference(shown, variance_at(shown), 1)
    assert needed is not None
    assert needed == pytest.approx(n, abs=1)
