"""Predicates that boxes decide, by the geometry of formulas."""

from __future__ import annotations

import pytest

from salva.core.scene import Scene, Thing
from salva.english.predicates import is_geometric, relation_of, stands
from salva.logic.notation import parse
from salva.logic.satisfaction import satisfies


def thing(label: str, x: float, y: float, side: float = 0.2) -> Thing:
    return Thing(label=label, box=(x - side / 2, y - side / 2, x + side / 2, y + side / 2))


@pytest.mark.parametrize(
    ("predicate", "first", "second", "holds"),
    [
        ("left of", (0.2, 0.5), (0.8, 0.5), True),
        ("to the right of", (0.2, 0.5), (0.8, 0.5), False),
        ("above", (0.5, 0.2), (0.5, 0.8), True),
        ("over", (0.5, 0.2), (0.5, 0.8), True),
        ("under", (0.5, 0.8), (0.5, 0.2), True),
        ("below", (0.5, 0.2), (0.5, 0.8), False),
        ("on", (0.5, 0.4), (0.5, 0.6), True),
        ("on top of", (0.5, 0.1), (0.5, 0.9), False),
        ("next to", (0.3, 0.5), (0.6, 0.5), True),
        ("next to", (0.5, 0.4), (0.5, 0.6), False),
        ("near", (0.5, 0.4), (0.5, 0.6), True),
        ("near", (0.1, 0.1), (0.9, 0.9), False),
    ],
)
def test_two_boxes_decide(predicate: str, first: tuple[float, float], second: tuple[float, float], holds: bool) -> None:
    a, b = thing("cat", *first), thing("dog", *second)
    assert stands(predicate, [a], [b]) is holds
    if relation := relation_of(predicate):
        formula = parse(f"cat & dog & {relation}(cat, dog)")
        assert satisfies(formula, Scene(things=(a, b)), "at-least") is holds, "formulas see it alike"


def test_in_means_most_of_it_within_a_larger_one() -> None:
    bowl = thing("bowl", 0.5, 0.5, 0.6)
    assert stands("in", [thing("apple", 0.5, 0.5)], [bowl])
    assert stands("inside", [thing("apple", 0.24, 0.5)], [bowl]) is False
    assert stands("in", [bowl], [thing("apple", 0.5, 0.5)]) is False


def test_one_of_several_is_enough_and_nothing_stands_to_itself() -> None:
    cat, dogs = thing("cat", 0.5, 0.5), [thing("dog", 0.1, 0.5), thing("dog", 0.9, 0.5)]
    assert stands("left of", [cat], dogs)
    assert stands("near", [cat], [cat]) is False
    assert stands("on", [], dogs) is False


@pytest.mark.parametrize("predicate", ["with", "riding", "wearing", "and", "of", ""])
def test_of_other_predicates_boxes_say_nothing(predicate: str) -> None:
    assert not is_geometric(predicate)
