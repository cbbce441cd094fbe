"""Cluster bootstrap: how far a mean could have moved had other clusters been drawn.

Numbers and cluster names in, an interval out. Whole clusters are drawn with replacement; the
random generator is seeded, so a report made twice is the same report.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import mul
from random import Random
from zlib import crc32

from salva.stats.intervals import Interval

N_DRAWS = 1000
MAX_GROUPS = 100
"""More clusters than this are thrown together at random into as many groups: their means vary alike."""
_MAX_WORK = 20_000_000
_SEED = 20_240_607


def cautious_macro(
    values: Sequence[float], categories: Sequence[str], clusters: Sequence[str], cases: Sequence[str]
) -> Interval | None:
    """The wider of drawing clusters and drawing cases.

    A chance evenness of few clusters must not make an interval narrower than independent cases
    would: the same floor as a design effect of at least 1. None with fewer than two clusters.
    """
    by_cluster = bootstrap_macro(values, categories, clusters)
    by_case = bootstrap_macro(values, categories, cases)
    if by_cluster is None or by_case is None:
        return None
    return max(by_cluster, by_case, key=lambda interval: interval.high - interval.low)


def bootstrap_mean(values: Sequence[float], clusters: Sequence[str]) -> Interval | None:
    """95 % percentile interval of a pooled mean; None with fewer than two clusters."""
    return bootstrap_macro(values, [""] * len(values), clusters)


def bootstrap_macro(values: Sequence[float], categories: Sequence[str], clusters: Sequence[str]) -> Interval | None:
    """95 % percentile interval of the mean over categories of each category's mean.

    A category that a draw leaves empty is left out of that draw. With fewer than two clusters
    nothing can be drawn differently and the answer is None.
    """
    names = sorted(set(clusters))
    if len(names) < 2:
        return None
    if len(names) > MAX_GROUPS:
        group_of = {name: crc32(name.encode("utf-8", "surrogatepass")) % MAX_GROUPS for name in names}
    else:
        group_of = {name: index for index, name in enumerate(names)}
    n_groups = min(len(names), MAX_GROUPS)
    cells = [_Category() for _ in set(categories)]
    cell_of = dict(zip(sorted(set(categories)), cells, strict=True))
    for value, category, cluster in zip(values, categories, clusters, strict=True):
        cell_of[category].add(group_of[cluster], value)
    n_draws = max(200, min(N_DRAWS, _MAX_WORK // sum(len(cell.groups) for cell in cells)))
    rng = Random(_SEED)
    draws = sorted(_one_draw(cells, n_groups, rng) for _ in range(n_draws))
    return Interval(low=_quantile(draws, 0.025), high=_quantile(draws, 0.975))


class _Category:
    """Sums and sizes of one category by group of clusters; a draw only weighs them anew."""

    def __init__(self) -> None:
        self._position: dict[int, int] = {}
        self.groups: list[int] = []
        self.sums: list[float] = []
        self.sizes: list[int] = []

    def add(self, group: int, value: float) -> None:
        if group not in self._position:
            self._position[group] = len(self.groups)
            self.groups.append(group)
            self.sums.append(0.0)
            self.sizes.append(0)
        position = self._position[group]
        self.sums[position] += value
        self.sizes[position] += 1


def _one_draw(cells: Sequence[_Category], n_groups: int, rng: Random) -> float:
    times = [0] * n_groups
    for group in rng.choices(range(n_groups), k=n_groups):
        times[group] += 1
    means: list[float] = []
    for cell in cells:
        weights = [times[group] for group in cell.groups]
        size = sum(map(mul, weights, cell.sizes))
        if size:
            means.append(sum(map(mul, weights, cell.sums)) / size)
    return sum(means) / len(means)


def _quantile(ordered: Sequence[float], share: float) -> float:
    """Between the two nearest order statistics, in proportion."""
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])
