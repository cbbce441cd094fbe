"""Paired differences: the arithmetic by hand and by another route, and what so many pairs can show."""

from __future__ import annotations

from math import isclose, sqrt
from random import Random
from statistics import NormalDist, fmean, stdev

import pytest
from hypothesis import given
from hypothesis import strategies as st

from salva.stats.intervals import t_95
from salva.stats.paired import (
    chance_to_show,
    detectable,
    holm,
    paired_difference,
    pseudo_values,
    spread_of,
)
from salva.stats.rates import Counted

THINGS = ("cat", "dog", "cow", "apple", "banana", "bus")


def pairs(firsts: list[int], seconds: list[int], category: str = "") -> list[Counted]:
    return [
        Counted(category=category, entities=(THINGS[place % 6],), n_hits=b - a, n=1)
        for place, (a, b) in enumerate(zip(firsts, seconds, strict=True))
    ]


def test_one_category_is_a_paired_t_with_one_difference_more_each_way() -> None:
    firsts, seconds = [0, 0, 1, 0, 1, 0, 0, 0, 1, 0], [1, 0, 1, 1, 0, 0, 1, 0, 1, 0]
    each = [b - a for a, b in zip(firsts, seconds, strict=True)]
    made = paired_difference(pairs(firsts, seconds))
    assert made is not None
    assert made.value == pytest.approx(fmean(each))
    half = t_95(9) * sqrt(stdev(each) ** 2 / 10 + 2 / 10**2)
    assert (made.interval.low, made.interval.high) == pytest.approx((fmean(each) - half, fmean(each) + half))
    assert (made.half_width, made.t) == pytest.approx((half, t_95(9)))
    assert made.effect_size == pytest.approx(fmean(each) / stdev(each))


def test_categories_weigh_the_same_and_their_own_means_are_in_no_variance() -> None:
    # One category is worse by 1 in every case and the other by 0: what differs between them is no noise.
    many = pairs([0] * 8, [1] * 8, "one") + pairs([0] * 4, [0] * 4, "other")
    made = paired_difference(many)
    assert made is not None
    assert made.value == pytest.approx(0.5)
    n_even = 4 / (1 / 8 + 1 / 4)
    assert made.interval.high - made.value == pytest.approx(t_95(10) * sqrt(2) / n_even)


def test_the_same_twice_is_no_difference_and_not_a_certain_one() -> None:
    made = paired_difference(pairs([0, 1] * 20, [0, 1] * 20))
    assert made is not None
    assert (made.value, made.effect_size, made.p) == (0, None, 1.0)
    assert made.interval.low < 0 < made.interval.high
    assert made.detectable > 0


def test_fewer_than_five_cases_have_no_difference() -> None:
    assert paired_difference(pairs([0] * 4, [1] * 4)) is None
    assert paired_difference([]) is None
    made = paired_difference(pairs([0] * 5, [1] * 5))
    assert made is not None
    assert made.value == 1


def test_an_interval_stays_inside_what_a_difference_can_be() -> None:
    scores = [Counted(category="", n_hits=4 if place % 2 else 0, n=1) for place in range(5)]
    shares, kappas, free = (paired_difference(scores, is_share=False, reach=reach) for reach in (1.0, 4.0, None))
    assert shares is not None
    assert kappas is not None
    assert free is not None
    assert shares.interval.high == 1
    assert kappas.interval.high == 4 < free.interval.high
    assert free.interval.high == pytest.approx(free.value + free.half_width)


def test_p_and_interval_tell_the_same_story() -> None:
    rng = Random(3)
    for _ in range(200):
        firsts = [int(rng.random() < 0.3) for _ in range(40)]
        seconds = [int(rng.random() < 0.45) for _ in range(40)]
        made = paired_difference(pairs(firsts, seconds))
        assert made is not None
        assert (made.p < 0.05) == (not made.interval.low <= 0 <= made.interval.high)


def test_other_things_are_never_surer_than_other_seeds() -> None:
    # Only prompts about cats got worse.
    firsts, seconds = [0] * 60, [int(place % 6 == 0) for place in range(60)]
    made = paired_difference(pairs(firsts, seconds))
    assert made is not None
    assert made.interval_entities is not None
    assert made.interval_entities.low < made.interval.low
    assert made.interval_entities.high > made.interval.high
    # Six cases of two categories leave four degrees of freedom, their entities more.
    rng = Random(3)
    for _ in range(50):
        cases = [
            Counted(category=f"{place % 2}", entities=tuple(rng.sample("abcdefgh", 2)), n_hits=rng.randint(-1, 1), n=1)
            for place in range(6)
        ]
        made = paired_difference(cases, reach=None)
        assert made is not None
        assert made.interval_entities is not None
        assert made.interval_entities.low <= made.interval.low
        assert made.interval_entities.high >= made.interval.high
    few = paired_difference([Counted(category="", entities=("cat",), n_hits=1, n=1)] * 9)
    assert few is not None
    assert few.interval_entities is None
    assert "different entities" in few.why_no_entities


def test_repeats_are_one_case() -> None:
    repeated = [Counted(category="", entities=("cat",), n_hits=place % 2 * 4, n=4) for place in range(10)]
    once = [Counted(category="", entities=("cat",), n_hits=place % 2, n=1) for place in range(10)]
    ours, theirs = paired_difference(repeated), paired_difference(once)
    assert ours is not None
    assert theirs is not None
    assert ours.value == theirs.value
    # Cases that speak with one voice in every repeat are as few as they are.
    assert isclose(ours.interval.low, theirs.interval.low, abs_tol=0.02)


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=5, max_size=60))
def test_turned_round_everything_turns_round(outcomes: list[tuple[int, int]]) -> None:
    firsts, seconds = [a for a, _ in outcomes], [b for _, b in outcomes]
    one, other = paired_difference(pairs(firsts, seconds)), paired_difference(pairs(seconds, firsts))
    assert one is not None
    assert other is not None
    assert one.value == pytest.approx(-other.value)
    assert (one.interval.low, one.interval.high) == pytest.approx((-other.interval.high, -other.interval.low))
    assert one.p == pytest.approx(other.p)
    assert -1 <= one.interval.low <= one.value <= one.interval.high <= 1


def test_holm_by_hand() -> None:
    assert holm({"a": 0.01, "b": 0.04, "c": 0.03, "d": None}) == {
        "a": pytest.approx(0.03),
        "b": pytest.approx(0.06),
        "c": pytest.approx(0.06),
        "d": None,
    }
    assert holm({"a": 0.9, "b": 0.8}) == {"a": 1.0, "b": 1.0}
    assert holm({}) == {}


@given(st.dictionaries(st.text(max_size=3), st.floats(0, 1), max_size=12))
def test_holm_never_makes_surer_and_keeps_the_order(given_p: dict[str, float]) -> None:
    adjusted = holm(given_p)
    for name, p in given_p.items():
        value = adjusted[name]
        assert value is not None
        assert p <= value <= 1
        for other, q in given_p.items():
            assert p > q or value <= (adjusted[other] or 0) + 1e-12


def test_pseudo_values_of_a_mean_are_the_values_and_of_a_ratio_have_its_spread() -> None:
    rows = [(0.2, 1.0), (0.4, 0.9), (0.3, 0.5), (0.9, 1.0)]
    assert pseudo_values(rows, [1] * 4, lambda means: means[0]) == pytest.approx([0.2, 0.4, 0.3, 0.9])
    values = pseudo_values(rows, [1] * 4, lambda means: means[0] / means[1])
    assert values is not None
    # The textbook's linearised variance of a ratio of means.
    ratio = sum(a for a, _ in rows) / sum(b for _, b in rows)
    linear = [(a - ratio * b) / (sum(b for _, b in rows) / 4) for a, b in rows]
    assert stdev(values) == pytest.approx(stdev(linear), rel=0.1)


def test_pseudo_values_of_what_is_not_defined() -> None:
    assert pseudo_values([(0.0,), (1.0,)], [1, 1], lambda means: 1 / means[0] if means[0] else None) is None
    assert pseudo_values([], [], lambda means: means[0]) is None
    assert pseudo_values([(0.5,)], [1], lambda means: means[0]) == [0.5]


def test_the_detectable_difference_is_the_one_that_is_shown_so_often() -> None:
    rng = Random(1)
    spread = spread_of([Counted(category="", n_hits=rng.choice((-1, 0, 0, 0, 1)), n=1) for _ in range(300)])
    assert spread is not None
    assert chance_to_show(detectable(spread), spread) == pytest.approx(0.8, abs=1e-6)
    assert chance_to_show(0.0, spread) == pytest.approx(0.025, abs=0.01)
    # Half-way to certainty a textbook's normal power is near.
    se = sqrt(spread.pure)
    assert chance_to_show(2 * se, spread) == pytest.approx(NormalDist().cdf(2 - 1.96), abs=0.06)


def test_false_alarms_are_as_rare_as_promised() -> None:
    """At a true difference equal to the margin; bench/compare.py has the whole study."""
    rng = Random(5)
    n_alarms = 0
    for _ in range(800):
        firsts = [int(rng.random() < 0.3) for _ in range(60)]
        seconds = [int(rng.random() < 0.4) for _ in range(60)]
        made = paired_difference(pairs(firsts, seconds))
        assert made is not None
        n_alarms += made.interval.low > 0.1
    assert n_alarms / 800 < 0.045
