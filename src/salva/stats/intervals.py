"""An interval, Wilson's interval of a rate, and quantiles of Student's t.

Counts in, numbers out; knows nothing of verdicts or images.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import atan, cos, pi, sqrt

Z_95 = 1.959963984540054
"""The normal quantile of a two-sided 95 % interval."""
MIN_CLUSTERS = 5
"""With fewer clusters a mean or a difference has no interval: too little to learn a spread from."""
_NORMAL_FROM = 2000
"""Beyond so many degrees of freedom the normal quantile is right to the third digit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """The two ends of an interval."""

    low: float
    high: float

    def clipped(self, least: float, most: float) -> Interval:
        """The same inside the range that its statistic can have."""
        return Interval(low=max(least, self.low), high=min(most, self.high))


def wilson(rate: float, n: float, z: float = Z_95) -> Interval:
    """Wilson's score interval; n may be an effective, fractional number of cases."""
    if n <= 0:
        raise ValueError(f"an interval needs at least one case, got n = {n!r}")
    centre = (rate + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * sqrt(max(0.0, rate * (1 - rate) / n + z * z / (4 * n * n)))
    # At the ends of the scale Wilson's bound is exact; rounding must not move it.
    low = 0.0 if rate <= 0 else max(0.0, centre - half)
    high = 1.0 if rate >= 1 else min(1.0, centre + half)
    return Interval(low=low, high=high)


@lru_cache(maxsize=4096)
def t_95(degrees: int) -> float:
    """The quantile of a two-sided 95 % interval."""
    if degrees < 1:
        raise ValueError(f"{degrees} degrees of freedom")
    if degrees > _NORMAL_FROM:
        return Z_95
    low, high = 0.0, 13.0
    while high - low > 1e-12:
        middle = (low + high) / 2
        if t_within(middle, degrees) < 0.95:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def t_within(t: float, degrees: int) -> float:
    """The probability that a t variable lies between -t and t: the finite series for whole degrees of freedom."""
    angle = atan(t / sqrt(degrees))
    square = cos(angle) ** 2
    if degrees % 2:
        term = total = cos(angle) if degrees > 1 else 0.0
        for k in range(3, degrees - 1, 2):
            term *= square * (k - 1) / k
            total += term
        return 2 / pi * (angle + (t / sqrt(degrees)) * cos(angle) * total)
    term = total = 1.0
    for k in range(2, degrees - 1, 2):
        term *= square * (k - 1) / k
        total += term
    return (t / sqrt(degrees)) * cos(angle) * total
