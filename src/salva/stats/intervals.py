"""An interval, and Wilson's interval of a rate.

Counts in, numbers out; knows nothing of verdicts or images.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

Z_95 = 1.959963984540054
"""The normal quantile of a two-sided 95 % interval."""
MIN_CLUSTERS = 5
"""With fewer clusters a mean or a difference has no interval: too little to learn a spread from."""


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
