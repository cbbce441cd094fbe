"""The relative change of one share against another, with its interval.

Counts in, numbers out. Both shares rest on the same captions, so whole clusters are left out together.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from math import inf, sqrt

from salva.stats.intervals import MIN_CLUSTERS, Interval, t_95
from salva.stats.rates import jackknife


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares:
    """Hits and tries of two groups within one cluster."""

    hits: float
    n: float
    base_hits: float
    base_n: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RelativeChange:
    """By which part of the base a share is higher; negative where it is lower."""

    value: float
    interval: Interval | None
    """95 %, by leaving out one cluster at a time; None of few clusters, or where that leaves nothing to divide by."""


def relative_change(clusters: Collection[Shares]) -> RelativeChange | None:
    """share / base - 1; None where a group is empty or the base has no hit."""
    hits, n, base_hits, base_n = (
        sum(getattr(cluster, name) for cluster in clusters) for name in ("hits", "n", "base_hits", "base_n")
    )
    whole = _change(hits, n, base_hits, base_n)
    if whole is None:
        return None
    left_out = [
        change
        for one in clusters
        if (change := _change(hits - one.hits, n - one.n, base_hits - one.base_hits, base_n - one.base_n)) is not None
    ]
    if len(left_out) < max(MIN_CLUSTERS, len(clusters)):
        return RelativeChange(value=whole, interval=None)
    half = t_95(len(left_out) - 1) * sqrt(jackknife(left_out))
    return RelativeChange(value=whole, interval=Interval(low=whole - half, high=whole + half).clipped(-1.0, inf))


def _change(hits: float, n: float, base_hits: float, base_n: float) -> float | None:
    if n <= 0 or base_n <= 0 or base_hits <= 0:
        return None
    return (hits / n) / (base_hits / base_n) - 1
