"""The cosine of two vectors, and vectors that have none."""

from __future__ import annotations

import pytest

from salva.stats.similarity import cosine


def test_cosine_of_known_angles() -> None:
    assert cosine((1, 0), (0, 2)) == 0
    assert cosine((3, 4), (6, 8)) == 1
    assert cosine((1, 0), (-5, 0)) == -1
    assert cosine((1, 0), (1, 1)) == pytest.approx(0.5**0.5, abs=1e-15)


def test_vectors_of_nearly_the_same_direction_stay_within_1() -> None:
    vector = tuple(0.1 * i for i in range(1, 300))
    assert cosine(vector, vector) <= 1


@pytest.mark.parametrize("other", [(0.0, 0.0), (float("nan"), 1.0), (float("inf"), 1.0)])
def test_a_vector_without_direction_is_refused(other: tuple[float, float]) -> None:
    with pytest.raises(ValueError, match="no direction"):
        cosine((1.0, 0.0), other)


def test_vectors_of_two_embedders_are_refused() -> None:
    with pytest.raises(ValueError, match="2 and 3 numbers"):
        cosine((1, 0), (1, 0, 0))
