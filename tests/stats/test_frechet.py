"""Fréchet distance, Inception Score and temperature agree with closed forms and with an independent computation."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import ArrayLike

from salva.errors import UsageError
from salva.messages import code_of
from salva.stats.frechet import (
    USUAL_MINIMUM,
    Gaussian,
    fid,
    fit_temperature,
    frechet_distance,
    gaussian_of,
    inception_score,
    log_softmax,
)

RNG = np.random.default_rng


def covariance(dimension: int, seed: int, rank: int | None = None) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    factor = RNG(seed).normal(size=(rank or 2 * dimension, dimension))
    return np.asarray(factor.T @ factor / len(factor))


def gaussian(mean: ArrayLike, covariance: ArrayLike, n: int) -> Gaussian:
    """From moments; eigenvalues that rounding leaves of 0 are 0."""
    values, vectors = np.linalg.eigh(np.asarray(covariance, np.float64))
    values = np.where(values > 1e-12 * values.max(), values, 0.0)
    return Gaussian(mean=np.asarray(mean, np.float64), factor=(vectors * np.sqrt(values)).T, n=n)


def test_two_gaussians_on_a_line() -> None:
    """(m1 - m2)^2 + (s1 - s2)^2."""
    assert frechet_distance(gaussian([1.0], [[4.0]], 9), gaussian([4.0], [[25.0]], 9)) == pytest.approx(18, abs=1e-12)


def test_gaussians_whose_covariances_commute() -> None:
    """The squared difference of means plus that of the deviations on each axis, in any rotation."""
    turn, _ = np.linalg.qr(RNG(1).normal(size=(6, 6)))
    one, other = np.array([1.0, 2, 3, 4, 5, 6]), np.array([9.0, 1, 4, 2, 0, 7])
    mean = RNG(2).normal(size=6)
    made = frechet_distance(gaussian(np.zeros(6), turn * one @ turn.T, 9), gaussian(mean, turn * other @ turn.T, 9))
    assert made == pytest.approx(float(mean @ mean + ((one**0.5 - other**0.5) ** 2).sum()), abs=1e-9)


@pytest.mark.parametrize(("dimension", "rank"), [(3, None), (40, None), (40, 5), (40, 39)])
def test_agrees_with_the_matrix_root_of_scipy(dimension: int, rank: int | None) -> None:
    linalg = pytest.importorskip("scipy.linalg", reason="the independent computation is scipy's")
    one, other = covariance(dimension, 3, rank), covariance(dimension, 4)
    means = RNG(5).normal(size=(2, dimension))
    # scipy's root needs full rank: a little is added, as everybody does, and the tolerance allows for it.
    little = 1e-12 * np.eye(dimension)
    root = linalg.sqrtm((one + little) @ (other + little)).real
    wanted = ((means[0] - means[1]) ** 2).sum() + np.trace(one + other - 2 * root)
    made = frechet_distance(gaussian(means[0], one, 9), gaussian(means[1], other, 9))
    assert made == pytest.approx(wanted, abs=1e-9 if rank is None else 1e-4)


def test_from_features_and_from_their_moments_is_the_same() -> None:
    one, other = RNG(1).normal(size=(300, 12)) @ covariance(12, 8), RNG(2).normal(size=(9, 12)) + 1
    by_features = frechet_distance(gaussian_of(one), gaussian_of(other))
    by_moments = frechet_distance(
        gaussian(one.mean(0), np.cov(one.T), 300), gaussian(other.mean(0), np.cov(other.T), 9)
    )
    assert by_features == pytest.approx(by_moments, abs=1e-9)


def test_a_set_is_at_no_distance_from_itself_and_the_distance_is_symmetric() -> None:
    one, other = RNG(1).normal(size=(50, 20)), RNG(2).normal(size=(30, 20)) * 2 + 1
    assert frechet_distance(gaussian_of(one), gaussian_of(one)) == pytest.approx(0, abs=1e-10)
    there, back = fid(one, other).value, fid(other, one).value
    assert there == pytest.approx(back, rel=1e-12)
    assert there > 10


def test_samples_of_a_known_gaussian_come_near_its_distance() -> None:
    """Means 0 and (3, 0), deviations 1 and 2 on both axes: 9 + 1 + 1."""
    one, other = RNG(1).normal(size=(20_000, 2)), RNG(2).normal(size=(20_000, 2)) * 2 + (3, 0)
    found = fid(one, other)
    assert found.value == pytest.approx(11, abs=0.3)
    assert (found.n_images, found.n_reference, found.warning) == (20_000, 20_000, "")


def test_few_images_are_warned_about_with_their_number() -> None:
    one = RNG(1).normal(size=(USUAL_MINIMUM, 2))
    assert fid(one, one).warning == ""
    few = fid(one[:100], one)
    assert code_of(few.warning) == "images-few"
    assert "100 images" in few.warning
    assert few.n_images == 100
    assert "30 images" in inception_score(RNG(1).normal(size=(30, 4)), n_splits=1).warning


def test_sure_and_varied_scores_the_number_of_classes_and_unsure_scores_1() -> None:
    sure = 60.0 * np.eye(8)[np.arange(80) % 8]
    assert inception_score(sure).value == pytest.approx(8, abs=1e-9)
    assert inception_score(sure).spread == pytest.approx(0, abs=1e-9)
    assert inception_score(np.zeros((80, 8))).value == pytest.approx(1, abs=1e-12)
    always_the_same = 60.0 * np.eye(8)[np.zeros(80, int)]
    assert inception_score(always_the_same).value == pytest.approx(1, abs=1e-9)


def test_inception_score_is_the_published_formula() -> None:
    logits = RNG(3).normal(size=(40, 5)) * 3
    chances = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    parts = [chances[start : start + 8] for start in range(0, 40, 8)]
    wanted = [np.exp((part * (np.log(part) - np.log(part.mean(0)))).sum(1).mean()) for part in parts]
    found = inception_score(logits, n_splits=5)
    assert found.value == pytest.approx(np.mean(wanted), abs=1e-12)
    assert found.spread == pytest.approx(np.std(wanted), abs=1e-12)
    assert found.interval is not None
    half = 2.7764451051977987 * np.std(wanted, ddof=1) / np.sqrt(5)  # Student's t of four degrees of freedom
    assert (found.interval.low, found.interval.high) == pytest.approx((found.value - half, found.value + half))


def test_an_interval_of_the_inception_score_stays_between_1_and_the_number_of_classes() -> None:
    uniform, each_its_own = np.zeros((8, 4)), np.tile(np.eye(4) * 50, (2, 1))
    low = inception_score(np.concatenate([uniform] * 4 + [each_its_own]), n_splits=5)
    high = inception_score(np.concatenate([each_its_own] * 4 + [uniform]), n_splits=5)
    assert low.interval is not None
    assert high.interval is not None
    assert (low.interval.low, high.interval.high) == (1.0, 4.0)


def test_images_that_cannot_be_shared_out_evenly_are_cut_where_the_published_code_cuts_them() -> None:
    logits = RNG(3).normal(size=(23, 5)) * 3
    chances = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    parts = [chances[i * 23 // 10 : (i + 1) * 23 // 10] for i in range(10)]
    assert [len(part) for part in parts] == [2, 2, 2, 3, 2, 2, 3, 2, 2, 3]
    wanted = [np.exp((part * (np.log(part) - np.log(part.mean(0)))).sum(1).mean()) for part in parts]
    assert inception_score(logits).value == pytest.approx(np.mean(wanted), abs=1e-12)


def test_a_higher_temperature_makes_the_classifier_less_sure_and_the_score_smaller() -> None:
    logits = RNG(3).normal(size=(200, 10)) * 4
    assert inception_score(logits, temperature=2.5).value < inception_score(logits).value
    assert inception_score(logits, temperature=2.5) == inception_score(logits / 2.5)


@pytest.mark.parametrize("temperature", [0.5, 1.0, 1.7, 3.0])
def test_the_temperature_that_labels_were_drawn_at_is_found(temperature: float) -> None:
    rng = RNG(11)
    logits = rng.normal(size=(40_000, 6)) * 2
    chances = np.exp(log_softmax(logits, temperature))
    labels = (chances.cumsum(1) < rng.random((len(logits), 1))).sum(1).clip(0, 5)
    assert fit_temperature(logits, [int(label) for label in labels]) == pytest.approx(temperature, rel=0.03)


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (lambda: fid([[1.0, 2.0]], [[1.0, 2.0], [2.0, 3.0]]), "numbers-unusable"),
        (lambda: fid([[1.0], [2.0]], [[1.0, 2.0], [2.0, 3.0]]), "numbers-unusable"),
        (lambda: fid([[1.0], [float("nan")]], [[1.0], [2.0]]), "numbers-unusable"),
        (lambda: fid([1.0, 2.0], [[1.0], [2.0]]), "numbers-unusable"),
        (lambda: inception_score([[1.0, 2.0]]), "option-invalid"),
        (lambda: inception_score([[1.0, 2.0]], temperature=0, n_splits=1), "option-invalid"),
        (lambda: fit_temperature([[1.0, 2.0]], [2]), "numbers-unusable"),
        (lambda: fit_temperature([[1.0, 2.0]], [0, 1]), "numbers-unusable"),
        (lambda: fit_temperature([[1.0, 2.0], [3.0, 1.0]], [1, 0]), "temperature-missing"),
        (lambda: fit_temperature([[1.0, 2.0], [3.0, 1.0]], [0, 1]), "temperature-missing"),
    ],
)
def test_what_cannot_be_computed_is_refused(call: object, code: str) -> None:
    assert callable(call)
    with pytest.raises(UsageError) as caught:
        call()
    assert caught.value.code == code
