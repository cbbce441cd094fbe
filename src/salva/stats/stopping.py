"""When a run that looks at its results on the way may stop.

Numbers in, numbers out. Who looks several times at 1.96 decides wrongly 13 to 16 times in a hundred at the limit; here
an early look is held to a larger quantile. docs/explanation/statistics.md has the rule and how well it does.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

from salva.stats.intervals import Z_95, Interval

Z_FULL = 2.056
"""The quantile of the last look, at the whole plan."""
FEWEST_CASES = 16
"""No look before so many cases: no gate passes on fewer results."""
FEWEST_BLOCKS = 2
"""A half-width says nothing of a single case a category."""


def look_z(n: int, n_planned: int) -> float:
    """The quantile for a look at n of the results planned, in place of 1.96: 2.056 (N/n)^1/4."""
    if not 0 < n <= n_planned:
        raise ValueError(f"a look at {n} of {n_planned} results")
    return float(Z_FULL * (n_planned / n) ** 0.25)


def look_shares(sizes: Sequence[int]) -> tuple[float, ...]:
    """Which shares of a plan are looked at, the smallest first: the whole, a half, a quarter ...

    sizes: planned cases of each category. No look comes before every category has a whole case to give, so that all of
    them give the same share.
    """
    shares = [1.0]
    while min(sizes, default=0) * shares[-1] / 2 >= 1 and cases_at(sizes, shares[-1] / 2) >= FEWEST_CASES:
        shares.append(shares[-1] / 2)
    return tuple(reversed(shares))


def cases_at(sizes: Sequence[int], share: float) -> int:
    """How many cases a look at this share of every category has."""
    return sum(ceil(size * share) for size in sizes)


def widened(value: float, interval: Interval, z: float) -> Interval:
    """The interval of a paired difference as a look has it: its half-widths by z / 1.96."""
    factor = z / Z_95
    return Interval(low=value - factor * (value - interval.low), high=value + factor * (interval.high - value))


def is_narrow(interval: Interval, half_width: float, n_blocks: int) -> bool:
    """Whether a run may stop that is to reach a half-width; n_blocks: of one case a category, all finished."""
    return n_blocks >= FEWEST_BLOCKS and (interval.high - interval.low) / 2 <= half_width
