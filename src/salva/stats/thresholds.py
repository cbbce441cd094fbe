"""Thresholds of a score that agree best with people, and the distance of both.

Numbers in, numbers out. Items may have weights, where they stand for others that nobody labelled. What is not
defined for the numbers at hand is None.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np

from salva.stats.agreement import Estimate, Names, Numbers, drawn, ratio, resampled

MARKS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
CLOSE = 0.125
"""How far two scores may lie apart to count as alike."""
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """A score cut at a mark, against labels of yes and no."""

    at: float
    accuracy: Estimate
    f1: float | None
    """Of yes; None where neither side ever says it."""
    best_in: float | None
    """The share of draws in which no other mark is more accurate; equals share a draw."""


def cuts(
    scores: Sequence[float],
    labels: Sequence[bool],
    clusters: Names = None,
    weights: Sequence[float] | None = None,
    marks: Sequence[float] = MARKS,
) -> list[Cut]:
    """How often a score at each mark or above is a yes of people's, and one below it a no."""
    if not len(scores) == len(labels) == len(weights or scores):
        raise ValueError(f"{len(scores)} scores and {len(labels)} labels")
    if not scores:
        return []
    truth, weighs = np.asarray(labels, bool), np.asarray(weights or [1.0] * len(scores), float)
    # A score that is a mark up to rounding has reached it.
    passed = np.asarray(scores, float)[:, None] >= np.asarray(marks, float)[None, :] - _ROUNDING
    hits = (passed == truth[:, None]).astype(float)

    def accuracy(column: int, times: Numbers) -> Numbers:
        weighted = times * weighs
        return ratio(weighted @ hits[:, column], weighted.sum(axis=1))

    best_in: list[float | None] = [None] * len(marks)
    if (times := resampled(len(scores), clusters)) is not None:
        of_all = np.stack([accuracy(column, times) for column in range(len(marks))], axis=1)
        is_best = of_all >= of_all.max(axis=1, keepdims=True) - _ROUNDING
        best_in = [float(share) for share in (is_best / is_best.sum(axis=1, keepdims=True)).mean(axis=0)]
    return [
        Cut(
            at=at,
            accuracy=drawn(partial(accuracy, index), len(scores), clusters),
            f1=_f1(passed[:, index], truth, weighs),
            best_in=best_in[index],
        )
        for index, at in enumerate(marks)
    ]


def best_cut(candidates: Sequence[Cut]) -> Cut | None:
    """The most accurate; of equals the one nearest to a half."""
    rated = [(cut, cut.accuracy.value) for cut in candidates if cut.accuracy.value is not None]
    if not rated:
        return None
    most = max(value for _, value in rated)
    return min((cut for cut, value in rated if value >= most - _ROUNDING), key=lambda cut: (abs(cut.at - 0.5), cut.at))


@dataclass(frozen=True, slots=True, kw_only=True)
class Apart:
    """How far numbers lie from those they are held against."""

    mean: Estimate
    close: Estimate
    """The share of those within CLOSE."""


def apart(differences: Sequence[float], clusters: Names = None) -> Apart:
    """The mean difference, and how many differences are small."""
    values = np.asarray(differences, float)
    is_close = (np.abs(values) <= CLOSE + _ROUNDING).astype(float)

    def mean_of(numbers: Numbers) -> Estimate:
        return drawn(lambda times: ratio(times @ numbers, times.sum(axis=1)), len(numbers), clusters)

    return Apart(mean=mean_of(values), close=mean_of(is_close))


def spread(differences: Sequence[float]) -> list[tuple[float, float, int]]:
    """Differences of scores from 0 to 1 in bins twice CLOSE wide, the middle one those that count as alike."""
    edges = [-1.0, *((2 * step - 7) * CLOSE for step in range(8)), 1.0]
    middle = len(edges) // 2 - 1
    counts = [0] * (len(edges) - 1)
    for value in differences:
        if abs(value) <= CLOSE + _ROUNDING:
            counts[middle] += 1
        else:
            # An edge belongs to the bin nearer to nought, as both of the middle one's do.
            step = -int(-(abs(value) - CLOSE - _ROUNDING) // (2 * CLOSE))
            counts[middle + (step if value > 0 else -step)] += 1
    return [(low, high, n) for (low, high), n in zip(pairwise(edges), counts, strict=True)]


def stratum_weights(strata: Sequence[str], sizes: Mapping[str, int]) -> list[float] | None:
    """What each item of a sample stands for; None where a stratum of the whole has nobody in the sample.

    strata: that of each item of the sample.
    sizes: how many items of the whole each stratum has.
    """
    sampled = Counter(strata)
    if not strata or set(sizes) - set(sampled):
        return None
    return [sizes[stratum] / sampled[stratum] for stratum in strata]


def _f1(passed: object, truth: object, weights: Numbers) -> float | None:
    passes, is_true = np.asarray(passed, bool), np.asarray(truth, bool)
    both, either = float(weights @ (passes & is_true)), float(weights @ passes) + float(weights @ is_true)
    return 2 * both / either if either else None
