"""Thresholds and differences: held against sums by hand, and fed labels that mean nothing."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from salva.stats.thresholds import MARKS, apart, best_cut, cuts, spread, stratum_weights

SCORES = (0.1, 0.35, 0.45, 0.55, 0.65, 0.9)
LABELS = (False, False, True, True, False, True)
numbers = st.floats(0, 1)


def test_accuracy_and_f1_as_counted_by_hand() -> None:
    at = {cut.at: cut for cut in cuts(SCORES, LABELS)}
    # At 0.5: 0.55 and 0.9 rightly pass, 0.65 wrongly, 0.45 wrongly falls, two rightly fall.
    assert (at[0.5].accuracy.value, at[0.5].f1) == pytest.approx((4 / 6, 2 * 2 / (2 * 2 + 1 + 1)))
    assert (at[0.4].accuracy.value, at[0.4].f1) == pytest.approx((5 / 6, 2 * 3 / (2 * 3 + 1)))
    best = best_cut([*at.values()])
    assert best is not None
    assert best.at == 0.4


@given(st.lists(st.tuples(numbers, st.booleans(), st.integers(1, 4)), min_size=2, max_size=30))
def test_a_weight_is_as_many_things(things: list[tuple[float, bool, int]]) -> None:
    scores, labels, weights = zip(*things, strict=True)
    many = [(score, label) for score, label, weight in things for _ in range(weight)]
    weighted = cuts(scores, labels, weights=[float(weight) for weight in weights])
    for one, other in zip(weighted, cuts(*zip(*many, strict=True)), strict=True):
        assert one.accuracy.value == pytest.approx(other.accuracy.value)
        assert one.f1 == (None if other.f1 is None else pytest.approx(other.f1))
        passed = [score >= one.at - 1e-9 for score, _ in many]
        n_right = sum(said == label for said, (_, label) in zip(passed, many, strict=True))
        assert one.accuracy.value == pytest.approx(n_right / len(many))


@given(st.lists(st.tuples(numbers, st.booleans()), min_size=2, max_size=30))
def test_inverted_labels_turn_the_accuracy_round(things: list[tuple[float, bool]]) -> None:
    scores, labels = zip(*things, strict=True)
    for one, other in zip(cuts(scores, labels), cuts(scores, [not label for label in labels]), strict=True):
        assert one.accuracy.value is not None
        assert other.accuracy.value == pytest.approx(1 - one.accuracy.value)


def test_shuffled_labels_give_chance_and_right_ones_the_mark_they_were_made_with() -> None:
    random = Random(5)
    scores = [random.random() for _ in range(2000)]
    right = [score + random.gauss(0, 0.03) >= 0.5 for score in scores]
    best = best_cut(cuts(scores, right))
    assert best is not None
    assert (best.at, round(best.accuracy.value or 0, 1), best.best_in) == (0.5, 1.0, 1.0)
    random.shuffle(right)
    half = next(cut for cut in cuts(scores, right) if cut.at == 0.5).accuracy
    assert (half.low or 0) < 0.5 < (half.high or 0)


def test_a_score_that_reaches_a_mark_but_for_rounding_passes_it() -> None:
    assert next(cut for cut in cuts([0.1 + 0.2, 0.6 - 1e-12], [True, True]) if cut.at == 0.6).accuracy.value == 0.5


def test_a_constant_score_has_equals_and_the_middle_is_taken() -> None:
    constant = cuts([0.95] * 10, [True] * 7 + [False] * 3)
    assert {cut.accuracy.value for cut in constant} == {0.7}
    assert [cut.best_in for cut in constant] == pytest.approx([1 / len(MARKS)] * len(MARKS))
    best = best_cut(constant)
    assert best is not None
    assert best.at == 0.5


def test_nothing_labelled_has_no_thresholds() -> None:
    assert cuts([], []) == []
    assert best_cut([]) is None
    with pytest.raises(ValueError, match="2 scores and 1 labels"):
        cuts([0.1, 0.2], [True])


def test_differences_and_their_spread() -> None:
    differences = [0.0, 0.125, -0.125, 0.126, -0.4, 1.0, -1.0, 0.375]
    both = apart(differences)
    assert (both.mean.value, both.close.value) == pytest.approx((sum(differences) / 8, 3 / 8))
    bins = spread(differences)
    assert [n for _, _, n in bins] == [1, 0, 1, 0, 3, 2, 0, 0, 1]
    assert bins[4][:2] == (-0.125, 0.125)
    assert (bins[0][0], bins[-1][1]) == (-1.0, 1.0)


@given(st.lists(st.floats(-1, 1), max_size=40))
def test_every_difference_lies_in_one_bin(differences: list[float]) -> None:
    bins = spread(differences)
    assert sum(n for _, _, n in bins) == len(differences)
    for low, high, n in bins:
        assert n <= sum(low - 1e-8 <= value <= high + 1e-8 for value in differences)


def test_what_a_sample_stands_for() -> None:
    assert stratum_weights(["in", "in", "out"], {"in": 2, "out": 8}) == [1.0, 1.0, 8.0]
    assert stratum_weights(["in"], {"in": 2, "out": 8}) is None
    assert stratum_weights([], {}) is None


def test_a_sample_that_overweights_the_border_is_put_right_by_weights() -> None:
    random = Random(1)
    whole = [random.random() for _ in range(2000)]
    # A judge that errs at the border only.
    labels = [score >= 0.5 if not 0.3 <= score <= 0.7 else random.random() < 0.5 for score in whole]
    strata = ["border" if 0.3 <= score <= 0.7 else "rest" for score in whole]
    border = [index for index, stratum in enumerate(strata) if stratum == "border"]
    rest = [index for index, stratum in enumerate(strata) if stratum == "rest"]
    sample = [*random.sample(border, 300), *random.sample(rest, 100)]
    sizes = {"border": len(border), "rest": len(rest)}
    weights = stratum_weights([strata[index] for index in sample], sizes)

    def at_half(indices: list[int], weights: list[float] | None = None) -> float:
        found = cuts([whole[index] for index in indices], [labels[index] for index in indices], weights=weights)
        return next(cut for cut in found if cut.at == 0.5).accuracy.value or 0.0

    truth = at_half([*range(len(whole))])
    assert abs(at_half(sample, weights) - truth) < 0.04
    assert at_half(sample) < truth - 0.1
