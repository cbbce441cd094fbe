"""Intervals of a mean of scores, by Student's t over clusters.

Numbers and cluster names in, an interval out. Values of one cluster rise and fall together, so clusters are what
counts: with fewer than five there is no interval. Values may have any scale, unlike the shares of rates.py; whoever
knows the scale says what range the mean can have.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from math import inf, sqrt
from typing import TypeVar

from salva.core.grouping import grouped
from salva.stats.intervals import MIN_CLUSTERS, Interval, t_95

Name = TypeVar("Name", bound=Hashable)


def mean_interval(
    values: Mapping[Name, Sequence[float]], pseudo: float | None = None, *, least: float = -inf, most: float = inf
) -> Interval | None:
    """95 % of a mean over clusters of values, by Student's t; None of few clusters.

    pseudo: a value that the lower end is widened by, as if one more cluster had it: a mean near its ceiling has hardly
    any spread left to show. least, most: the range that the mean can have.
    """
    rows = [Valued(value=value, cluster=cluster) for cluster, group in values.items() for value in group]
    return macro_mean_interval(rows, pseudo, least=least, most=most)


@dataclass(frozen=True, slots=True, kw_only=True)
class Valued:
    """One value of a mean."""

    value: float
    cluster: Hashable
    """Values of one cluster rise and fall together."""
    category: str = ""


def macro_mean_interval(
    values: Sequence[Valued], pseudo: float | None = None, *, least: float = -inf, most: float = inf
) -> Interval | None:
    """The same of the mean over categories of their means; a category of one value is held against the whole mean."""
    clusters = dict.fromkeys(valued.cluster for valued in values)  # in their order: a sum of floats depends on it
    if len(clusters) < MIN_CLUSTERS:
        return None
    by_name = grouped((valued.category, valued.value) for valued in values)
    means = {name: sum(group) / len(group) for name, group in by_name.items()}
    centre = sum(means.values()) / len(means)
    own = {name: means[name] if len(group) > 1 else centre for name, group in by_name.items()}

    def low_and_high(shrunk: float, moved: float, more: Sequence[float]) -> tuple[float, float]:
        """shrunk: by how much every weight is smaller; moved: the whole mean; more: what further clusters add."""
        sums = dict.fromkeys(clusters, 0.0)
        for valued in values:
            weight = shrunk / (len(means) * len(by_name[valued.category]))
            sums[valued.cluster] += weight * (valued.value - own[valued.category] - moved)
        squares = [*(total**2 for total in sums.values()), *(value**2 for value in more)]
        half = t_95(len(squares) - 1) * sqrt(sum(squares) * len(squares) / (len(squares) - 1))
        return centre + moved - half, centre + moved + half

    low, high = low_and_high(1.0, 0.0, ())
    if pseudo is not None:
        moved = (pseudo - centre) / (len(values) + 1)
        further = (pseudo - centre - moved) / (len(values) + 1)
        low = min(low, low_and_high(len(values) / (len(values) + 1), moved, (further,))[0])
    return Interval(low=low, high=high).clipped(least, most)


def cautious_mean_interval(
    values: Sequence[float],
    clusters: Sequence[str],
    cases: Sequence[str],
    categories: Sequence[str] | None = None,
    pseudo: float | None = None,
    *,
    least: float = -inf,
    most: float = inf,
) -> Interval | None:
    """The wider of holding clusters and holding cases together; None of few clusters.

    A chance evenness of few clusters must not make an interval narrower than independent cases would. None too where
    all values are the same and nothing widens it: what has shown no spread is not known to ±0.
    """
    named = categories or [""] * len(values)
    made = [
        macro_mean_interval(
            [Valued(value=v, cluster=c, category=k) for v, c, k in zip(values, by, named, strict=True)], pseudo
        )
        for by in (clusters, cases)
    ]
    known = [interval for interval in made if interval is not None]
    if len(known) < len(made):
        return None
    widest = max(known, key=lambda interval: interval.high - interval.low)
    return widest.clipped(least, most) if widest.low < widest.high else None
