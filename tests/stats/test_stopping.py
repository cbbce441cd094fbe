"""Looks on the way: golden quantiles, which looks there are, and how often a limit is decided wrongly."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from salva.stats.intervals import Z_95, Interval
from salva.stats.paired import paired_difference
from salva.stats.rates import Counted, seeds_interval
from salva.stats.stopping import cases_at, is_narrow, look_shares, look_z, widened


def test_golden_quantiles() -> None:
    z = [look_z(800 // part, 800) for part in (1, 2, 4, 8)]
    assert z == pytest.approx([2.056, 2.445, 2.908, 3.458], abs=5e-4)
    assert look_z(300, 1000) == pytest.approx(2.056 * 3.3333333 ** (1 / 4))


@pytest.mark.parametrize(("n", "planned"), [(0, 10), (11, 10), (-1, 10)])
def test_there_is_no_look_outside_a_plan(n: int, planned: int) -> None:
    with pytest.raises(ValueError, match="look"):
        look_z(n, planned)


@pytest.mark.parametrize(
    ("sizes", "shares"),
    [
        ([800], (1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 1)),  # 25 cases; 12 would be too few
        ([40] * 20, (1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 1)),
        ([3] * 21, (1 / 2, 1)),  # a quarter of three is no whole case
        ([1] * 21, (1,)),
        ([4, 400], (1 / 4, 1 / 2, 1)),
        ([20], (1,)),
        ([], (1,)),
    ],
)
def test_looks_halve_the_plan_while_every_category_has_a_case(sizes: list[int], shares: tuple[float, ...]) -> None:
    assert look_shares(sizes) == shares


def test_a_share_takes_whole_cases_of_every_category() -> None:
    assert cases_at([3] * 21, 0.5) == 42
    assert cases_at([4, 400], 0.25) == 101
    assert cases_at([3, 5], 1.0) == 8


def test_a_difference_is_widened_about_its_value() -> None:
    made = paired_difference([Counted(category="", n_hits=i % 4 == 0, n=1) for i in range(80)])
    assert made is not None
    assert made.interval is not None
    wide = widened(made.value, made.interval, look_z(400, 800))
    factor = 2.445 / 1.959964
    assert wide.high - made.value == pytest.approx(factor * (made.interval.high - made.value), rel=1e-3)
    assert made.value - wide.low == pytest.approx(factor * (made.value - made.interval.low), rel=1e-3)


def test_narrow_enough_is_never_so_after_one_block() -> None:
    narrow = Interval(low=0.2, high=0.3)
    assert is_narrow(narrow, 0.0501, 2)
    assert not is_narrow(narrow, 0.0501, 1)
    assert not is_narrow(narrow, 0.0499, 9)


@cache
def _interval(hits: int, n: int, z: float) -> Interval:
    found = seeds_interval([Counted(category="", n_hits=int(place < hits), n=1) for place in range(n)], z)
    assert found is not None
    return found


def _wrong(z_of_look: dict[int, float], limit: float, n_planned: int, n_runs: int) -> float:
    """How often a rate that equals the limit is called above or below it, at the first look that says so."""
    drawn = np.random.default_rng(3).random((n_runs, n_planned)) < limit
    n_wrong = 0
    for run in drawn:
        ends = (_interval(int(run[:n].sum()), n, z) for n, z in z_of_look.items())
        n_wrong += any(one.low > limit or one.high <= limit for one in ends)
    return n_wrong / n_runs


@pytest.mark.parametrize("limit", [0.2, 0.5])
def test_a_rate_at_the_limit_is_seldom_called_above_or_below_it(limit: float) -> None:
    planned = 400
    looks = [cases_at([planned], share) for share in look_shares([planned])]
    assert len(looks) == 5
    # A normal statistic would have 5.0 %, and 17 % at 1.96; 2,000 runs know that to a point.
    assert _wrong({n: look_z(n, planned) for n in looks}, limit, planned, 2000) <= 0.06
    assert _wrong(dict.fromkeys(looks, Z_95), limit, planned, 2000) >= 0.12
