"""R-precision: exact on vectors one can reckon, and no find where nothing can be told apart."""

from __future__ import annotations

import numpy as np
import pytest

from salva.errors import UsageError
from salva.messages import code_of
from salva.stats.retrieval import r_precision


def test_pictures_that_are_their_captions_find_them() -> None:
    texts = np.eye(120)
    found = r_precision(texts, texts, range(120))
    assert (found.value, found.spread, found.n_images, found.n_reference, found.warning) == (1.0, 0.0, 120, 99, "")


def test_ties_and_turned_vectors_find_nothing() -> None:
    alike = np.ones((5, 3))
    assert r_precision(alike, np.ones((5, 3)), range(5)).value == 0.0, "captions that are one and the same tie"
    assert r_precision(-np.eye(5), np.eye(5), range(5)).value == 0.0


def test_random_vectors_find_theirs_by_chance() -> None:
    rng = np.random.default_rng(1)
    found = r_precision(rng.normal(size=(400, 64)), rng.normal(size=(400, 64)), range(400))
    assert 0.0 <= found.value < 0.03, "one in a hundred"
    assert found.spread > 0


def test_half_of_them_swapped_is_half() -> None:
    texts = np.eye(100)
    swapped = [i if i < 50 else 50 + (i - 49) % 50 for i in range(100)]
    assert r_precision(texts, texts, swapped).value == 0.5


def test_a_draw_is_the_same_draw_again_and_another_seed_another() -> None:
    rng = np.random.default_rng(2)
    images, texts = rng.normal(size=(150, 8)), rng.normal(size=(150, 8))
    first, again, other = (r_precision(images, texts, range(150), n_draws=3, seed=s) for s in (1, 1, 2))
    assert first == again
    assert first.value != other.value


def test_the_interval_is_over_captions_and_not_over_draws_or_pictures() -> None:
    rng = np.random.default_rng(5)
    texts = rng.normal(size=(60, 8))
    images = texts + rng.normal(size=(60, 8))
    few, many = (r_precision(images, texts, range(60), n_distractors=9, n_draws=n) for n in (2, 60))
    for found in (few, many):
        assert found.interval is not None
        assert found.interval.low < found.value < found.interval.high
        assert found.interval.high - found.interval.low > 0.15, "sixty captions are no thousands, however many draws"
    twice = r_precision(np.repeat(images, 5, axis=0), texts, np.repeat(range(60), 5).tolist(), n_distractors=9)
    assert twice.interval is not None
    assert twice.interval.high - twice.interval.low > 0.15, "nor are five pictures of each"
    sure, none = r_precision(texts, texts, range(60)).interval, r_precision(-texts, texts, range(60)).interval
    assert sure is not None
    assert none is not None
    assert 0.9 < sure.low < sure.high == 1, "all found is not certain to stay so"
    assert 0 == none.low < none.high < 0.1


def test_few_captions_are_easier_and_said_to_be() -> None:
    warning = r_precision(np.eye(5), np.eye(5), range(5)).warning
    assert code_of(warning) == "captions-few"
    assert "4 other captions, where 99" in warning
    assert r_precision(np.eye(2), np.eye(2), range(2)).value == 1.0, "two are enough"


@pytest.mark.parametrize(
    ("images", "texts", "own"),
    [
        (np.eye(2), np.eye(3), [0, 1]),
        (np.eye(3), np.eye(3), [0, 1]),
        (np.zeros((2, 2)), np.eye(2), [0, 1]),
        (np.eye(2)[:1], np.eye(2)[:1], [0]),
        (np.full((2, 2), np.nan), np.eye(2), [0, 1]),
    ],
)
def test_what_does_not_belong_together_is_refused(images: object, texts: object, own: list[int]) -> None:
    with pytest.raises(UsageError):
        r_precision(images, texts, own)  # type: ignore[arg-type]  # arrays
