from __future__ import annotations

import pytest

from salva.errors import UsageError
from salva.logic.formula import (
    And,
    Atom,
    Related,
    atoms,
    axis_of,
    conjunction,
    depth,
    disjunction,
    entities,
    largest_counts,
)
from salva.logic.notation import parse


def test_entities_come_in_order_of_first_mention() -> None:
    assert entities(parse("left_of(dog, cow) | cat & !(dog | apple)")) == ("dog", "cow", "cat", "apple")


def test_atoms_come_once_each_in_order() -> None:
    assert atoms(parse("2 cat & !(dog | 2 cat) & on(cat, dog)")) == (
        Atom("cat", 2),
        Atom("dog"),
        Related("on", "cat", "dog"),
    )


@pytest.mark.parametrize(
    ("notation", "cap"),
    [
        ("cat", 1),
        ("2 cat & cat", 2),
        ("cat & red cat", 1),
        ("cat & 3 red cat", 3),
        ("cat@left & cat@right", 2),
        ("cat@left & cat@top", 1),
        ("2 red cat & 3 blue cat", 5),
        ("2 red cat | blue cat@left | blue cat@right", 4),
        ("left_of(cat, dog)", 1),
        ("left_of(cat, dog) & 4 cat", 4),
        ("!(3 cat)", 3),
        ("cat & !cat@left & !cat@right", 1),
        ("cat@left & !cat@right", 1),
        ("!cat@left & !cat@right", 1),
        ("!(2 cat@left & !cat@right)", 2),
        ("!(!cat@left & !cat@right)", 2),
        ("cat@left & !red cat & cat@right & !2 blue cat", 2),
    ],
)
def test_the_cap_is_the_largest_sum_over_descriptions_that_exclude_each_other(notation: str, cap: int) -> None:
    assert largest_counts(parse(notation))["cat"] == cap


def test_joins_nest_to_the_left() -> None:
    cat, dog, cow = Atom("cat"), Atom("dog"), Atom("cow")
    assert conjunction([cat, dog, cow]) == And(And(cat, dog), cow)
    assert disjunction([cat]) == cat
    with pytest.raises(UsageError, match=r"\[formula-no-parts\]"):
        conjunction([])


def test_axes() -> None:
    assert [axis_of(place) for place in ("left", "x-middle", "right")] == ["x"] * 3
    assert [axis_of(place) for place in ("top", "y-middle", "bottom")] == ["y"] * 3


def test_depth_does_not_recurse() -> None:
    assert depth(conjunction([Atom("cat")] * 5000)) == 4999


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"entity": "Cat"}, "entity-form"),
        ({"entity": ""}, "entity-form"),
        ({"entity": "cat  dog"}, "entity-form"),
        ({"entity": "red cat"}, "entity-colour"),
        ({"entity": "cat and dog"}, "entity-reserved"),
        ({"entity": "cat", "count": 0}, "count-range"),
        ({"entity": "cat", "colour": "mauve"}, "formula-unknown"),
        ({"entity": "cat", "place": "middle"}, "formula-unknown"),
    ],
)
def test_atoms_that_no_notation_could_give_are_refused(arguments: dict[str, str], code: str) -> None:
    with pytest.raises(UsageError, match=rf"\[{code}\]"):
        Atom(**arguments)  # type: ignore[arg-type]  # the wrong types are the point


def test_relations_are_between_two_entities() -> None:
    with pytest.raises(UsageError, match=r"\[relation-sides\]"):
        Related("on", "cat", "cat")
    with pytest.raises(UsageError, match=r"\[formula-unknown\]"):
        Related("under", "cat", "dog")
