"""Image quality of sets of images: Fréchet distance (FID), Inception Score, and ACTesting's calibrated variants.

Features and logits come in, numbers go out; which network made them plays no part, but distances of two networks
are not comparable. Both figures are biased with few images, so each carries how many it rests on and a warning.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from salva.errors import UsageError
from salva.messages import message
from salva.stats.intervals import Interval
from salva.stats.mean_intervals import mean_interval

USUAL_MINIMUM = 2048
"""Inception features have 2,048 numbers: with fewer images their covariance is singular and the distance too large."""
_TEMPERATURES = (0.05, 20.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gaussian:
    """Features summed up: their mean, and a factor of their covariance (factor.T @ factor)."""

    mean: NDArray[np.float64]
    factor: NDArray[np.float64]
    n: int
    """From how many images."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quality:
    """A figure about a set of images."""

    value: float
    n_images: int
    n_reference: int = 0
    """0 for figures without a reference."""
    spread: float = 0.0
    """Standard deviation over splits; 0 for figures without splits."""
    interval: Interval | None = None
    """95 %; None for a distance, which few images make larger, and of one split alone."""
    warning: str = ""


def gaussian_of(features: ArrayLike) -> Gaussian:
    """Mean and covariance (n - 1 in the denominator) of features, one row an image."""
    rows = _table(features, "features")
    if len(rows) < 2:
        raise _unusable("features", f"{len(rows)} images, and a covariance needs 2")
    mean = rows.mean(0)
    factor = (rows - mean) / np.sqrt(len(rows) - 1)
    if len(rows) > rows.shape[1]:
        # R of a QR decomposition has the same R.T @ R and is only as tall as it is wide.
        factor = np.linalg.qr(factor, mode="r")
    return Gaussian(mean=mean, factor=factor, n=len(rows))


def frechet_distance(one: Gaussian, other: Gaussian) -> float:
    """|mean difference|^2 + trace(A + B - 2 (A B)^(1/2)) of two Gaussians with covariances A and B.

    The trace of the root is the sum of the singular values of one factor times the other: no matrix is squared and
    no root is taken of a difference, so covariances without full rank cost no digits.
    """
    if one.mean.shape != other.mean.shape:
        why = f"{len(one.mean)} and {len(other.mean)} numbers, of two networks"
        raise _unusable("features", why)
    shared = np.linalg.svd(one.factor @ other.factor.T, compute_uv=False).sum()
    spread = (one.factor**2).sum() + (other.factor**2).sum() - 2 * shared
    # The distance of a set to itself is 0 and not the last digit's noise below it.
    return max(0.0, float(((one.mean - other.mean) ** 2).sum() + spread))


def fid(generated: ArrayLike, reference: ArrayLike | Gaussian) -> Quality:
    """Fréchet distance of generated images from reference images, by their features; smaller is better.

    ACTesting's I-FID is this number: a temperature scales logits and leaves the features as they are.
    """
    ours = gaussian_of(generated)
    theirs = reference if isinstance(reference, Gaussian) else gaussian_of(reference)
    return Quality(
        value=frechet_distance(ours, theirs),
        n_images=ours.n,
        n_reference=theirs.n,
        warning=_warning(ours.n, theirs.n),
    )


def inception_score(logits: ArrayLike, *, temperature: float = 1.0, n_splits: int = 10) -> Quality:
    """exp of the mean divergence of p(y|x) from p(y), averaged over splits in the order given; larger is better.

    temperature: 1 is the score as published; ACTesting's I-IS divides the logits by the temperature that
    fit_temperature finds. As usual, splits are taken in order: shuffle first what is sorted.
    """
    rows = log_softmax(logits, temperature)
    if not 1 <= n_splits <= len(rows):
        wanted = f"a number from 1 to the {len(rows)} images"
        raise UsageError(message("option-invalid", name="splits", value=n_splits, wanted=wanted))
    scores = []
    # The published cuts: where images cannot be shared out evenly, others would give other numbers.
    edges = [i * len(rows) // n_splits for i in range(n_splits + 1)]
    for part in (rows[begin:end] for begin, end in pairwise(edges)):
        marginal = np.logaddexp.reduce(part, axis=0) - np.log(len(part))
        divergence = (np.exp(part) * (part - marginal)).sum(1)
        scores.append(float(np.exp(divergence.mean())))
    return Quality(
        value=float(np.mean(scores)),
        n_images=len(rows),
        spread=float(np.std(scores)),
        interval=mean_interval({place: [score] for place, score in enumerate(scores)}, least=1.0, most=rows.shape[1]),
        warning=_warning(len(rows)),
    )


def log_softmax(logits: ArrayLike, temperature: float = 1.0) -> NDArray[np.float64]:
    """Logarithms of class probabilities, one row an image."""
    if not 0 < temperature < float("inf"):
        raise UsageError(message("option-invalid", name="temperature", value=temperature, wanted="above 0"))
    rows = _table(logits, "logits") / temperature
    rows = rows - rows.max(1, keepdims=True)
    made: NDArray[np.float64] = rows - np.log(np.exp(rows).sum(1, keepdims=True))
    return made


def fit_temperature(logits: ArrayLike, labels: Sequence[int]) -> float:
    """The temperature at which a classifier is as sure as it is right, on held-out images with known labels.

    Minimises the negative log-likelihood (Guo et al., 2017), which has one minimum in 1/T: a search by golden
    section finds it to six digits.
    """
    rows = _table(logits, "logits")
    if len(labels) != len(rows):
        raise _unusable("labels", f"{len(labels)} labels for {len(rows)} rows of logits")
    places = np.arange(len(rows)), np.asarray(labels, int)
    if len(rows) == 0 or places[1].min() < 0 or places[1].max() >= rows.shape[1]:
        raise _unusable("labels", f"wanted 0 to {rows.shape[1] - 1}")

    def loss(inverse: float) -> float:
        return -float(log_softmax(rows, 1 / inverse)[places].mean())

    low, high = 1 / _TEMPERATURES[1], 1 / _TEMPERATURES[0]
    golden = (5**0.5 - 1) / 2
    while high - low > 1e-7:
        left, right = high - golden * (high - low), low + golden * (high - low)
        if loss(left) <= loss(right):
            high = right
        else:
            low = left
    temperature = 2 / (low + high)
    if not 1.01 * _TEMPERATURES[0] < temperature < 0.99 * _TEMPERATURES[1]:
        raise UsageError(message("temperature-missing", n=len(rows)))
    return temperature


def _warning(*numbers: int) -> str:
    few = [n for n in numbers if n < USUAL_MINIMUM]
    if not few:
        return ""
    return message("images-few", n=f"{min(few):,}", usual=f"{USUAL_MINIMUM:,}")


def _unusable(what: str, why: str) -> UsageError:
    return UsageError(message("numbers-unusable", what=what, why=why))


def _table(numbers: ArrayLike, what: str) -> NDArray[np.float64]:
    rows = np.asarray(numbers, np.float64)
    if rows.ndim != 2 or rows.size == 0:
        raise _unusable(what, f"shape {rows.shape}, wanted one row an image")
    if not np.isfinite(rows).all():
        raise _unusable(what, "NaN or infinity")
    return rows
