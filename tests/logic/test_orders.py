"""The order of centroids, as far as the prompts decide it."""

from __future__ import annotations

import pytest
from checks.planted import things

from salva.core.boxes import scene_of
from salva.core.observation import Detections
from salva.logic.notation import parse
from salva.logic.orders import axis_orders, order_differences


def _orders(formula: str, a: Detections, b: Detections, *, merge_runs: bool = False) -> list[tuple[str, str]]:
    """Every order in which the two differ, in words."""
    first, second = scene_of(a), scene_of(b)
    return [
        difference.orders
        for order in axis_orders([parse(formula)])
        for difference in order_differences(first, second, order, merge_runs=merge_runs)
    ]


def test_an_order_that_names_one_thing_is_its_side_of_the_line() -> None:
    left, right = things(("cat", 0.2, 0.5)), things(("cat", 0.7, 0.5))
    assert _orders("cat@left", left, right) == [("cat, the line", "the line, cat")]
    assert _orders("cat@left", left, things(("cat", 0.4, 0.9))) == []
    assert _orders("cat@left & dog", left, right) == [("cat, the line", "the line, cat")]


def test_a_thing_that_may_be_at_either_end_is_in_no_order() -> None:
    left, right = things(("cat", 0.2, 0.5)), things(("cat", 0.7, 0.5))
    assert _orders("cat@left | cat@right", left, right) == []


def test_a_thing_whose_partner_is_missing_goes_by_halves() -> None:
    left, right = things(("cat", 0.2, 0.5)), things(("cat", 0.7, 0.5))
    assert _orders("cat@left | dog@right", left, right) == [("cat, the line", "the line, cat")]


@pytest.mark.parametrize("x", [0.2, 0.3], ids=["level", "apart"])
def test_two_of_one_name_at_one_place_are_two_and_not_level(x: float) -> None:
    """A tie is between different things; which of two cats comes first says nothing."""
    apart = things(("cat", 0.1, 0.2), ("cat", 0.4, 0.8), ("dog", 0.9, 0.5))
    level = things(("cat", x, 0.2), ("cat", 0.2, 0.8), ("dog", 0.9, 0.5))
    assert _orders("2 cat@left & dog@right", apart, level) == []


def test_a_reading_that_does_not_count_takes_neighbours_of_one_name_for_one() -> None:
    two = things(("cat", 0.1, 0.2), ("cat", 0.2, 0.8), ("dog", 0.9, 0.5))
    one = things(("cat", 0.1, 0.2), ("dog", 0.9, 0.5))
    assert _orders("cat@left & dog@right", two, one) == [("cat, cat, dog", "cat, dog")]
    assert _orders("cat@left & dog@right", two, one, merge_runs=True) == []
    around = things(("cat", 0.1, 0.2), ("dog", 0.5, 0.5), ("cat", 0.9, 0.8))
    after = things(("dog", 0.1, 0.2), ("cat", 0.9, 0.5))
    assert _orders("cat@left & dog@right", around, after, merge_runs=True) == [("cat, dog, cat", "dog, cat")]
