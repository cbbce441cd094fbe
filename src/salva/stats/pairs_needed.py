"""About how many pairs would decide a gate that is inconclusive, with 80 % power.

Numbers in, numbers out. The formulas stand in docs/explanation/statistics.md.
"""

from __future__ import annotations

from math import ceil, sqrt

from salva.stats.intervals import Z_95

MOST_PAIRS = 20_000
"""Beyond this the answer is only "more than"."""
_Z_POWER = 0.842
_Z_TWO_SIDED = 1.96


def pairs_for_rate(rate: float, n: int, n_effective: float, limit: float) -> int | None:
    """For a failure rate held against a limit; None where it equals the limit, or beyond MOST_PAIRS."""
    if not n or not 0 < limit < 1 or rate == limit:
        return None
    clipped = min(max(rate, 1 / (2 * n)), 1 - 1 / (2 * n))
    if (clipped < limit) != (rate < limit):
        # So few cases that the correction would take the rate across the limit.
        clipped = rate
    reach = _Z_TWO_SIDED * sqrt(limit * (1 - limit)) + _Z_POWER * sqrt(clipped * (1 - clipped))
    needed = (reach / (clipped - limit)) ** 2 * n / n_effective
    return _known(max(needed, Z_95**2 * (1 - limit) / limit))


def pairs_for_margin(difference: float, half_width: float, n: int, margin: float, t: float) -> int | None:
    """For a paired difference held against a margin; t: the quantile its interval was made with."""
    if difference == margin or half_width <= 0:
        return None
    return _known(n * ((t + _Z_POWER) * half_width / t / (difference - margin)) ** 2)


def _known(needed: float) -> int | None:
    return ceil(needed) if needed <= MOST_PAIRS else None
