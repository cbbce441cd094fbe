"""Two intervals of a rate, recomputed by hand and fed with garbage."""

from __future__ import annotations

import re
from fractions import Fraction
from itertools import permutations
from math import sqrt

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.stats import binom

from salva.stats.intervals import Interval, t_95, wilson
from salva.stats.rates import (
    Counted,
    clusters_interval,
    difference_interval,
    entities_interval,
    kish_n,
    macro,
    n_effective,
    seeds_interval,
)


def _cases(*hits: tuple[str, int], n: int = 4) -> list[Counted]:
    """For each category so many hits among n cases."""
    return [
        Counted(category=category, entities=(f"entity {i}",), n_hits=int(i < k), n=1)
        for category, k in hits
        for i in range(n)
    ]


def _of(category: str, n_hits: int, n: int = 1) -> Counted:
    return Counted(category=category, n_hits=n_hits, n=n)


_EVEN = [_of(str(c), int(i < (2 if c < 15 else 1))) for c in range(21) for i in range(3)]
_UNEVEN = [_of("0", 1), _of("0", 0)] + [_of(str(c), 0) for c in range(1, 5) for _ in range(2)] + [_of("z", 0)] * 40
_REPEATED = [_of(str(c), hits, 3) for c in range(21) for hits in (1, 0, 3)]


@pytest.mark.parametrize(
    ("cases", "rate", "low", "high", "n", "kish"),
    [
        (_EVEN, 0.5714, 0.4444, 0.6897, 58.7565, 63),
        ([_of("a", 0)] * 63, 0.0, 0.0, 0.0575, 63, 63),
        ([_of("a", 1)] + [_of("a", 0)] * 62, 0.0159, 0.0006, 0.0854, 62.1127, 63),
        (_UNEVEN, 0.0833, 0.0051, 0.3307, 13.8990, 14.2574),
        (_REPEATED, 0.4444, 0.3838, 0.5068, 247.2897, 189),
    ],
)
def test_golden_numbers(cases: list[Counted], rate: float, low: float, high: float, n: float, kish: float) -> None:
    interval = seeds_interval(cases)
    assert interval is not None
    assert (macro(cases), interval.low, interval.high) == pytest.approx((rate, low, high), abs=5e-5)
    assert (n_effective(cases), kish_n(cases)) == pytest.approx((n, kish), abs=5e-5)


def _reckoned(cases: list[Counted], z: float) -> tuple[float, float, float]:
    """Both ends and n_eff by other means: fractions, Wilson's ends as roots of the score, Poisson's by hits."""
    groups = [[case for case in cases if case.category == name] for name in dict.fromkeys(c.category for c in cases)]
    sizes = [sum(case.n for case in group) for group in groups]
    shares = [Fraction(sum(int(c.n_hits) for c in group), n) for group, n in zip(groups, sizes, strict=True)]
    rate = sum(shares, Fraction(0)) / len(groups)
    variance = Fraction(0)
    for group, n, p in zip(groups, sizes, shares, strict=True):
        ss, df = n * p * (1 - p), n - 1
        if max(case.n for case in cases) > 1:
            each = [Fraction(int(case.n_hits), case.n) for case in group]
            ss = sum((case.n * x * (1 - x) for case, x in zip(group, each, strict=True)), Fraction(0))
            df = n - len(group)
        variance += (ss + 8 * rate * (1 - rate)) / (df + 8) / n / len(groups) ** 2
    even = Fraction(len(groups) ** 2) / sum(Fraction(1, n) for n in sizes)
    n_eff = float(even if rate in (0, 1) else rate * (1 - rate) / variance)

    def lower(r: float) -> float:
        end = brentq(lambda p: (r - p) - z * sqrt(p * (1 - p) / n_eff), 0, r - 1e-12) if r > 1e-9 else 0.0
        x = r * n_eff
        if 0 < x < 8:
            factor = max(0.0, 1 - 1 / (9 * x) - 1.6448536269514722 * z / 1.959963984540054 / 3 / sqrt(x))
            end = min(end, x * factor**3 / n_eff)
        return float(max(0.0, end))

    return lower(float(rate)), 1 - lower(float(1 - rate)), n_eff


@st.composite
def _some_cases(draw: st.DrawFn) -> list[Counted]:
    k = draw(st.sampled_from([1, 1, 3, 10]))
    sizes = draw(st.lists(st.integers(1, 12), min_size=1, max_size=6))
    n_of = st.integers(1, k)
    each = [(str(name), draw(n_of)) for name, size in enumerate(sizes) for _ in range(size)]
    is_low = draw(st.booleans())
    return [
        _of(name, min(n, draw(st.integers(0, n + 2)) if is_low else draw(st.integers(0, n))), n) for name, n in each
    ]


@given(_some_cases(), st.sampled_from([1.959963984540054, 2.908]))
@example([_of("a", 1, 2), _of("a", 2, 2)], 1.959963984540054)
@example([_of("a", 7, 7), _of("b", 49, 49)], 1.959963984540054)
def test_another_reckoning_gives_the_same_ends(cases: list[Counted], z: float) -> None:
    interval = seeds_interval(cases, z)
    assert interval is not None
    low, high, n = _reckoned(cases, z)
    assert (interval.low, interval.high, n_effective(cases)) == pytest.approx((low, high, n), abs=1e-6, rel=1e-6)
    rate = macro(cases)
    assert rate is not None
    assert 0 <= interval.low <= rate <= interval.high <= 1


def test_misses_mirror_hits() -> None:
    mirrored = [_of(case.category, case.n - int(case.n_hits), case.n) for case in _UNEVEN]
    interval, other = seeds_interval(_UNEVEN), seeds_interval(mirrored)
    assert interval is not None
    assert other is not None
    assert (1 - other.high, 1 - other.low) == pytest.approx((interval.low, interval.high))


def test_every_repeat_narrows_the_interval() -> None:
    once = seeds_interval([_of(str(i % 5), i % 2) for i in range(40)])
    thrice = seeds_interval([_of(str(i % 5), 1 + i % 2, 3) for i in range(40)])
    assert once is not None
    assert thrice is not None
    assert thrice.high - thrice.low < once.high - once.low


def test_nothing_and_everything_wrong_leave_room_and_all_or_nothing_is_not_certain() -> None:
    none, every = seeds_interval(_cases(("one", 0), ("two", 0))), seeds_interval(_cases(("one", 4), ("two", 4)))
    assert none == wilson(0.0, 8.0)
    assert every == wilson(1.0, 8.0)
    split = seeds_interval(_cases(("one", 0), ("two", 4)))
    assert split is not None
    assert split.low < 0.3 < 0.7 < split.high
    assert seeds_interval([]) is None


def _of_five_entities(hit_if: str) -> list[Counted]:
    names = ("cat", "dog", "apple", "banana", "cow")
    return [
        Counted(category=category, entities=pair, n_hits=int(hit_if in pair), n=1)
        for category in ("one", "two")
        for pair in permutations(names, 2)
    ]


def test_the_interval_for_other_things_is_the_jackknife_of_the_whole_rate() -> None:
    cases = _of_five_entities("cat")
    left_out = [
        macro(case for case in cases if entity not in case.entities) or 0.0
        for entity in ("apple", "banana", "cat", "cow", "dog")
    ]
    centre = sum(left_out) / 5
    variance = 4 / 5 * sum((rate - centre) ** 2 for rate in left_out)
    rate = macro(cases) or 0.0
    outer, inner = wilson(rate, rate * (1 - rate) / variance, t_95(4)), seeds_interval(cases)
    assert inner is not None
    assert entities_interval(cases) == Interval(low=min(outer.low, inner.low), high=max(outer.high, inner.high))
    seeds = seeds_interval(cases)
    entities = entities_interval(cases)
    assert isinstance(entities, Interval)
    assert seeds is not None
    assert entities.high - entities.low > 2 * (seeds.high - seeds.low), "one entity makes all the difference"


def test_where_other_things_cannot_be_spoken_of_the_reason_is_given() -> None:
    four = [case for case in _of_five_entities("cat") if "cow" not in case.entities]
    too_few = entities_interval(four)
    quick = [Counted(category=f"c{i}", entities=(f"entity {i}",), n_hits=0, n=1) for i in range(9)]
    reasons = [too_few, entities_interval(quick), entities_interval([])]
    assert all(isinstance(reason, str) for reason in reasons)
    assert len(set(reasons)) == 3
    assert re.findall(r"\d", str(too_few)) == ["5", "4"]


def test_clusters_of_one_voice_count_as_one_and_zero_hits_are_widened_too() -> None:
    loud = [Counted(category="", n_hits=10 * (i % 2), n=10) for i in range(6)]
    even = [Counted(category="", n_hits=5, n=10) for _ in range(6)]
    wide, narrow = clusters_interval(loud), clusters_interval(even)
    assert wide is not None
    assert narrow is not None
    assert wide.high - wide.low > 1.5 * (narrow.high - narrow.low)
    silent = clusters_interval([Counted(category="", n_hits=0, n=10) for _ in range(6)])
    assert silent == wilson(0.0, 60 / (1 + 0.1 * 9), t_95(5))
    assert clusters_interval(loud[:4]) is None


def test_a_difference_is_paired_students_and_as_wide_as_one_more_each_way_makes_it() -> None:
    values = [0.0, 1.0, 0.0, 1.0, 1.0]
    interval = difference_interval({"": values})
    assert interval is not None
    half = t_95(4) * sqrt(sum((v - 0.6) ** 2 for v in values) / 4 / 5 + 2 / 25)
    assert interval.low == pytest.approx(0.6 - half)
    assert interval.high == 1.0, "no difference of shares is larger"
    many = difference_interval({"": values * 100})
    assert many is not None
    assert many.high - many.low == pytest.approx(2 * t_95(499) * sqrt(0.24 / 499 + 2 / 500**2))
    assert difference_interval({"a": [1.0, 0.0], "b": [0.0, 0.5]}) is None, "four cases"
    assert difference_interval({"a": [1.0, 0.0], "b": [0.0, 0.5, 0.0]}) is not None


def test_no_difference_seen_is_not_none_for_sure() -> None:
    few, many = difference_interval({"": [0.0] * 20}), difference_interval({"": [0.0] * 2000})
    assert few is not None
    assert many is not None
    assert few.high == -few.low > 3 / 20 * 0.8, "three in twenty would show none once in twenty times"
    assert 0 < many.high < 0.002
    repeated = difference_interval({"": [0.0] * 20}, n_repeats=4)
    assert repeated is not None
    assert few.high / 4 < repeated.high < few.high


def _at_most(limit: float, n: int, hits: int) -> bool | None:
    """What a gate says of so many failures among n; None where it is inconclusive."""
    interval = seeds_interval([_of("", int(place < hits)) for place in range(n)])
    assert interval is not None
    return True if interval.high <= limit else False if interval.low > limit else None


@pytest.mark.parametrize(
    ("limit", "distance", "percent"),
    [
        (0.05, 0.05, {16: (6, 0), 63: (46, 0), 120: (67, 100), 400: (98, 100)}),
        (0.2, 0.05, {16: (8, 8), 63: (19, 15), 120: (28, 26), 400: (70, 75)}),
        (0.2, 0.1, {16: (18, 19), 63: (53, 55), 120: (74, 86), 400: (100, 100)}),
        (0.5, 0.1, {16: (7, 7), 63: (33, 35), 120: (61, 61), 400: (98, 98)}),
        (0.5, 0.2, {16: (24, 25), 63: (89, 90), 120: (100, 100), 400: (100, 100)}),
    ],
)
def test_gates_decide_as_often_as_the_table_says(
    limit: float, distance: float, percent: dict[int, tuple[int, int]]
) -> None:
    """Exact, by binomial probabilities; the table was simulated."""
    for n, (failed, passed) in percent.items():
        said = [_at_most(limit, n, hits) for hits in range(n + 1)]
        above, below = (binom.pmf(range(n + 1), n, limit + sign * distance) for sign in (1, -1))
        assert 100 * sum(p for p, one in zip(above, said, strict=True) if one is False) == pytest.approx(failed, abs=2)
        assert 100 * sum(p for p, one in zip(below, said, strict=True) if one is True) == pytest.approx(passed, abs=2)
