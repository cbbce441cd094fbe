"""Intervals for rates: Wilson's, widened for cases that are not independent.

Counts in, numbers out; knows nothing of verdicts or images. Cases about the same
entities rise and fall together, so a cluster of them counts for less than its size.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from math import sqrt

Z_95 = 1.959963984540054
"""The normal quantile of a two-sided 95 % interval."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """The two ends of an interval."""

    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """How often something was seen among cases that belong together."""

    n_hits: int
    n: int


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


def design_effect(clusters: Collection[Cluster]) -> float:
    """By how much clustering inflates the variance of the pooled rate, at least 1.

    With C clusters of n_c cases and x_c hits, n = sum n_c and p = sum x_c / n:

        variance  = C / (C - 1) * sum (x_c - p n_c)^2 / n^2     (ratio estimator, between clusters)
        deff      = variance / (p (1 - p) / n)

    Never below 1 (a chance evenness of clusters must not shrink the interval) and never above
    sum n_c^2 / n, its value when every cluster speaks with one voice. One cluster, or a rate of 0
    or 1, shows no variance to measure: deff is then 1, which is also its limit for a single hit.
    """
    filled = [cluster for cluster in clusters if cluster.n]
    n = sum(cluster.n for cluster in filled)
    hits = sum(cluster.n_hits for cluster in filled)
    if len(filled) < 2 or hits in (0, n):
        return 1.0
    p = hits / n
    between = sum((cluster.n_hits - p * cluster.n) ** 2 for cluster in filled)
    variance = len(filled) / (len(filled) - 1) * between / n**2
    one_voice = sum(cluster.n**2 for cluster in filled) / n
    return max(1.0, min(variance / (p * (1 - p) / n), one_voice))


def clustered_interval(clusters: Collection[Cluster], z: float = Z_95) -> Interval | None:
    """Wilson's interval of the pooled rate at the effective sample size n / deff; None without cases."""
    n = sum(cluster.n for cluster in clusters)
    if not n:
        return None
    rate = sum(cluster.n_hits for cluster in clusters) / n
    return wilson(rate, n / design_effect(clusters), z)


def implied_bounds(n_hits: int, n_decided: int, n_undecided: int) -> Interval | None:
    """The rate if every undecided case were no hit, and if every one were; None without cases."""
    total = n_decided + n_undecided
    if not total:
        return None
    return Interval(low=n_hits / total, high=(n_hits + n_undecided) / total)
