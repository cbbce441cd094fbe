"""Cluster bootstrap: how far a mean could have moved had other clusters been drawn.

Numbers and cluster names in, an interval out. Whole clusters are drawn with replacement; the
random generator is seeded, so a report made twice is the same report.
"""

from __future__ import annotations

from collections.abc import Sequence
from zlib import crc32

from salva.stats.intervals import Interval

N_DRAWS = 1000
MAX_GROUPS = 1000
"""More clusters than this are thrown together at random into as many groups: their means vary alike."""
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
    import numpy as np

    names = sorted(set(clusters))
    if len(names) < 2:
        return None
    n_groups = min(len(names), MAX_GROUPS)
    if len(names) > MAX_GROUPS:
        group_of = {name: crc32(name.encode("utf-8", "surrogatepass")) % MAX_GROUPS for name in names}
    else:
        group_of = {name: index for index, name in enumerate(names)}
    column_of = {name: index for index, name in enumerate(sorted(set(categories)))}
    at = ([group_of[name] for name in clusters], [column_of[name] for name in categories])
    sums = np.zeros((n_groups, len(column_of)))
    sizes = np.zeros((n_groups, len(column_of)))
    np.add.at(sums, at, values)
    np.add.at(sizes, at, 1)
    # How often each group is drawn; a draw only weighs the sums and sizes anew.
    times = np.random.default_rng(_SEED).multinomial(n_groups, np.full(n_groups, 1 / n_groups), size=N_DRAWS)
    drawn = times @ sizes
    means = np.divide(times @ sums, drawn, out=np.zeros_like(drawn), where=drawn > 0)
    macro = means.sum(axis=1) / np.maximum((drawn > 0).sum(axis=1), 1)
    low, high = np.quantile(macro, (0.025, 0.975))
    return Interval(low=float(low), high=float(high))
