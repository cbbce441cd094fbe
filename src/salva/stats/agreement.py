"""Agreement of observers: correlations, Cohen's kappa and Krippendorff's alpha.

Numbers in, numbers out. Intervals draw the rated items anew, whole clusters where items share a prompt, with a seeded
generator, so that a number printed twice is the same number. A statistic that is not defined for the numbers at hand
(no spread, one rating) is None.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from salva.stats.intervals import Z_95

Numbers = NDArray[np.float64]

N_DRAWS = 1000
_SEED = 20_240_607
KAPPA_WEIGHTS = {"none": 0, "linear": 1, "quadratic": 2}
"""How far apart two categories are counts to this power."""
ALPHA_LEVELS = ("nominal", "ordinal", "interval")
_MAX_PAIRED = 3000
"""Up to so many items Kendall's tau is drawn anew; above, its interval follows from the number of items alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A statistic, its 95 % interval, and over how many items."""

    value: float | None
    low: float | None = None
    high: float | None = None
    n: int = 0


Names = Sequence[str] | None
"""The cluster of each rated item; None where each stands for itself."""
Weights = Sequence[float] | None
"""How much each rated item counts, where a sample stands for more items; None where all count alike."""


def pearson(x: Sequence[float], y: Sequence[float], clusters: Names = None, weights: Weights = None) -> Estimate:
    """Pearson's correlation."""
    one, two = _columns(x, y)
    return drawn(lambda times: _weighted_pearson(one, two, times), len(one), clusters, weights)


def spearman(x: Sequence[float], y: Sequence[float], clusters: Names = None, weights: Weights = None) -> Estimate:
    """Spearman's rank correlation; equal values share the mean of their ranks."""
    one, two = (_ranks(values, weights) for values in _columns(x, y))
    return drawn(lambda times: _weighted_pearson(one, two, times), len(one), clusters, weights)


def kendall(x: Sequence[float], y: Sequence[float], clusters: Names = None, weights: Weights = None) -> Estimate:
    """Kendall's tau-b, which knows ties; weighted only for as many items as a matrix can hold."""
    one, two = _columns(x, y)
    n = len(one)
    if n > _MAX_PAIRED and weights:
        return Estimate(value=None, n=n)
    if n > _MAX_PAIRED:
        tau = _tau_by_rows(one, two)
        if tau is None or abs(tau) >= 1:
            return Estimate(value=tau, n=n)
        # Fisher's z with the variance of Fieller, Hartley and Pearson (1957) for tau.
        half = Z_95 * sqrt(0.437 / max(1, (len(set(clusters)) if clusters else n) - 4))
        return Estimate(
            value=tau, low=float(np.tanh(np.arctanh(tau) - half)), high=float(np.tanh(np.arctanh(tau) + half)), n=n
        )
    rises_x = np.sign(one[:, None] - one[None, :])
    rises_y = np.sign(two[:, None] - two[None, :])
    concordance, moves_x, moves_y = rises_x * rises_y, np.abs(rises_x), np.abs(rises_y)

    def tau_of(times: Numbers) -> Numbers:
        agreed, moved_x, moved_y = (
            np.einsum("bi,bi->b", times @ signs, times) for signs in (concordance, moves_x, moves_y)
        )
        return ratio(agreed, np.sqrt(moved_x * moved_y))

    return drawn(tau_of, n, clusters, weights)


def cohen(
    a: Sequence[int],
    b: Sequence[int],
    n_categories: int,
    steps: str = "none",
    clusters: Names = None,
    weights: Weights = None,
) -> Estimate:
    """Cohen's kappa of two observers who sort items into categories 0, 1, ...

    steps: what a disagreement counts: "none" (all alike), "linear" or "quadratic" (by how far apart).
    """
    if steps not in KAPPA_WEIGHTS:
        raise ValueError(f"steps is {steps!r}; it can be {', '.join(KAPPA_WEIGHTS)}")
    categories = np.arange(n_categories)
    distance = np.abs(categories[:, None] - categories[None, :]).astype(float)
    apart = np.where(distance > 0, distance ** KAPPA_WEIGHTS[steps], 0.0)
    one, two = np.eye(n_categories)[np.asarray(a, int)], np.eye(n_categories)[np.asarray(b, int)]
    seen = apart[np.asarray(a, int), np.asarray(b, int)]

    def kappa_of(times: Numbers) -> Numbers:
        shares = times / times.sum(axis=1, keepdims=True)
        chance = ((shares @ one @ apart) * (shares @ two)).sum(axis=1)
        return 1 - ratio(shares @ seen, chance)

    return drawn(kappa_of, len(a), clusters, weights)


def krippendorff(
    ratings: Sequence[Sequence[float | None]],
    level: str = "interval",
    clusters: Names = None,
    weights: Weights = None,
) -> Estimate:
    """Krippendorff's alpha: one row a rated item, one column a rater, None where a rater was silent.

    level: "nominal", "ordinal" or "interval", by what the difference of two ratings means.
    """
    if level not in ALPHA_LEVELS:
        raise ValueError(f"level is {level!r}; it can be {', '.join(ALPHA_LEVELS)}")
    given = [[value for value in row if value is not None] for row in ratings]
    rows = [row for row in given if len(row) >= 2]
    own_clusters = clusters and [name for name, row in zip(clusters, given, strict=True) if len(row) >= 2]
    counted = weights and [weight for weight, row in zip(weights, given, strict=True) if len(row) >= 2]
    values = sorted({value for row in rows for value in row})
    if len(values) < 2:
        return Estimate(value=None, n=len(rows))
    sizes = np.asarray([len(row) for row in rows], float)
    if level == "interval":
        # Squared differences need sums only, however many different values there are.
        middle = (values[0] + values[-1]) / 2
        centred = [np.asarray(row, float) - middle for row in rows]
        counts = np.asarray([[len(row), row.sum(), (row * row).sum()] for row in centred])

        def apart(sums: Numbers) -> Numbers:
            n, first, second = sums.T
            spread = n * second - first**2
            # What is left of equal values is rounding.
            pairs: Numbers = 2 * np.where(spread > 1e-12 * n * second, spread, 0.0)
            return pairs

    else:
        place = {value: index for index, value in enumerate(values)}
        counts = np.zeros((len(rows), len(values)))
        for index, row in enumerate(rows):
            for value in row:
                counts[index, place[value]] += 1
        distance = _distance(counts.sum(axis=0), level)

        def apart(sums: Numbers) -> Numbers:
            pairs: Numbers = ((sums @ distance) * sums).sum(axis=1)
            return pairs

    # Within one item: mean distance over its ordered pairs of ratings, times its number of ratings.
    within = apart(counts) / (sizes - 1)

    def alpha_of(times: Numbers) -> Numbers:
        return 1 - ratio(times @ within, apart(times @ counts) / (times @ sizes - 1))

    return drawn(alpha_of, len(rows), own_clusters, counted)


def binned(values: Sequence[float], edges: Sequence[float]) -> list[int]:
    """The bin of each value: i when edges[i] <= value < edges[i + 1]; the last bin takes its upper edge too."""
    inner = np.asarray(edges[1:-1], float)
    return [int(place) for place in np.searchsorted(inner, np.asarray(values, float), side="right")]


def drawn(statistic: Callable[[Numbers], Numbers], n: int, clusters: Names, weights: Weights = None) -> Estimate:
    """A statistic of weighted items, with the interval of drawing items anew, or whole clusters of them."""
    if n < 2:
        return Estimate(value=None, n=n)
    # A mean weight of 1: a sample knows no more for standing for many.
    base = np.ones(n) if weights is None else np.asarray(weights, float) * n / sum(weights)
    value = float(statistic(base[None, :])[0])
    if np.isnan(value):
        return Estimate(value=None, n=n)
    times = resampled(n, clusters)
    if times is None:
        return Estimate(value=value, n=n)
    draws = statistic(times * base)
    known = draws[~np.isnan(draws)]
    if len(known) < N_DRAWS // 2:
        return Estimate(value=value, n=n)
    low, high = np.quantile(known, (0.025, 0.975))
    return Estimate(value=value, low=float(low), high=float(high), n=n)


def resampled(n: int, clusters: Names = None) -> Numbers | None:
    """How often each item is drawn, a row a draw, whole clusters together; None where there is but one to draw."""
    return _resampled(n, tuple(clusters) if clusters else None)


# Several statistics are drawn of the same items; a table of draws is large.
@lru_cache(maxsize=1)
def _resampled(n: int, clusters: tuple[str, ...] | None) -> Numbers | None:
    _, group = np.unique(np.asarray(clusters), return_inverse=True) if clusters else (None, np.arange(n))
    n_groups = int(group.max()) + 1 if n else 0
    if n_groups < 2:
        return None
    times = np.random.default_rng(_SEED).multinomial(n_groups, np.full(n_groups, 1 / n_groups), size=N_DRAWS)
    weights: Numbers = times[:, group].astype(float)
    return weights


def _columns(x: Sequence[float], y: Sequence[float]) -> tuple[Numbers, Numbers]:
    if len(x) != len(y):
        raise ValueError(f"{len(x)} and {len(y)} ratings")
    return np.asarray(x, float), np.asarray(y, float)


def _weighted_pearson(x: Numbers, y: Numbers, weights: Numbers) -> Numbers:
    # Moved to their means first: correlations of numbers far from zero lose digits otherwise.
    x, y = x - x.mean(), y - y.mean()
    shares = weights / weights.sum(axis=1, keepdims=True)
    mean_x, mean_y = shares @ x, shares @ y
    joint = shares @ (x * y) - mean_x * mean_y
    spread = (shares @ (x * x) - mean_x**2) * (shares @ (y * y) - mean_y**2)
    return ratio(joint, np.sqrt(np.where(spread > 1e-24 * float(np.mean(x * x) * np.mean(y * y) or 1), spread, 0)))


def ratio(top: Numbers, bottom: Numbers) -> Numbers:
    """A quotient number by number; not a number over 0."""
    quotient: Numbers = np.divide(top, bottom, out=np.full_like(top, np.nan), where=bottom != 0)
    return quotient


def _ranks(values: Numbers, weights: Weights = None) -> Numbers:
    """How much lies below each value, half of what equals it included."""
    _, place = np.unique(values, return_inverse=True)
    sizes = np.bincount(place, weights=None if weights is None else np.asarray(weights, float))
    ranks: Numbers = (np.cumsum(sizes) - sizes / 2)[place]
    return ranks


def _tau_by_rows(x: Numbers, y: Numbers) -> float | None:
    """Kendall's tau-b a row at a time, for more items than a matrix can hold."""
    agreed = moved_x = moved_y = 0.0
    for index in range(len(x) - 1):
        rises_x, rises_y = np.sign(x[index + 1 :] - x[index]), np.sign(y[index + 1 :] - y[index])
        agreed += float(rises_x @ rises_y)
        moved_x += float(np.abs(rises_x).sum())
        moved_y += float(np.abs(rises_y).sum())
    return agreed / sqrt(moved_x * moved_y) if moved_x and moved_y else None


def _distance(totals: Numbers, level: str) -> Numbers:
    """How far apart two values are, from how often each occurs."""
    if level == "nominal":
        return 1.0 - np.eye(len(totals))
    # How many ratings lie between two values, half of both ends counted.
    reached = np.cumsum(totals) - totals / 2
    between: Numbers = (reached[:, None] - reached[None, :]) ** 2
    return between
