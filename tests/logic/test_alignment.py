"""S(T, I) from formulas and scenes: what counts as an object, what as a triple, and the shares they give."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import atoms_about, combined, relations_between, scenes, thing_at

from salva.core.scene import Scene
from salva.errors import UsageError
from salva.logic.alignment import Alignment, align
from salva.logic.formula import Formula, conjunction, disjunction
from salva.logic.notation import parse
from salva.logic.satisfaction import satisfies

ENTITIES = ("cat", "dog", "apple")


def aligned(notation: str, *things: tuple[str, float] | tuple[str, float, str], counts: str = "exact") -> Alignment:
    placed = (thing_at(one[0], one[1], colour=one[2] if len(one) == 3 else None) for one in things)
    return align(parse(notation), Scene(things=tuple(placed)), counts)


def shares(*arguments: object, counts: str = "exact") -> tuple[float, float]:
    found = aligned(*arguments, counts=counts)  # type: ignore[arg-type]  # passed on as they came
    return found.object_share, found.triple_share


def test_a_swapped_relation_keeps_the_objects_and_loses_the_triple() -> None:
    apart = ("cat", 0.2), ("dog", 0.8)
    assert shares("left_of(cat, dog)", *apart) == (1, 1)
    assert shares("left_of(dog, cat)", *apart) == (1, 0)
    assert shares("right_of(dog, cat)", *apart) == (1, 1)


def test_a_relation_to_something_absent_does_not_hold() -> None:
    assert shares("left_of(cat, dog)", ("cat", 0.2)) == (0.5, 0)


def test_swapped_colours_keep_the_objects_and_lose_every_triple() -> None:
    painted = ("apple", 0.2, "red"), ("cat", 0.8, "blue")
    assert shares("red apple & blue cat", *painted) == (1, 1)
    assert shares("blue apple & red cat", *painted) == (1, 0)
    assert shares("red apple & red cat", *painted) == (1, 0.5)


def test_swapped_places_are_told_by_the_order_of_the_placed_things() -> None:
    # Both in the left half: halves would call the second one wrong.
    beside = ("cat", 0.2), ("dog", 0.4)
    assert shares("cat@left & dog@right", *beside) == (1, 1)
    assert shares("dog@left & cat@right", *beside) == (1, 0)


def test_numbers_are_triples_where_the_text_states_one() -> None:
    two_cats = ("cat", 0.1), ("cat", 0.4), ("dog", 0.8)
    assert shares("2 cat & dog", *two_cats) == (1, 1)
    assert shares("cat & 2 dog", *two_cats) == (1, 0)
    assert shares("cat & 2 dog", *two_cats, counts="at-least") == (1, 0.5)
    assert shares("3 cat & dog", *two_cats) == (1, 0.5)


def test_an_article_means_one_where_no_number_is_stated() -> None:
    assert shares("cat & dog", ("cat", 0.1), ("cat", 0.4), ("dog", 0.8)) == (0.5, 0.5)
    assert shares("cat & dog", ("cat", 0.1), ("cat", 0.4), ("dog", 0.8), counts="at-least") == (1, 1)


def test_two_things_of_one_name_are_two_objects() -> None:
    assert shares("red apple@left & blue apple@right", ("apple", 0.2, "red")) == (0.5, 0.5)
    both = ("apple", 0.2, "red"), ("apple", 0.8, "blue")
    assert shares("red apple@left & blue apple@right", *both) == (1, 1)
    assert shares("blue apple@left & red apple@right", *both) == (1, 0.5)


def test_a_thing_of_the_wrong_colour_can_be_at_the_right_place() -> None:
    assert shares("red cat@left & dog@right", ("cat", 0.2, "blue"), ("dog", 0.8)) == (1, 2 / 3)


def test_without_triples_the_objects_decide_both_halves() -> None:
    found = aligned("cat & dog", ("cat", 0.5))
    assert found.triples == ()
    assert (found.object_share, found.triple_share) == (0.5, 0.5)


def test_what_must_be_absent_is_an_object_that_matches_by_its_absence() -> None:
    assert shares("cat & !dog", ("cat", 0.5)) == (1, 1)
    assert shares("cat & !dog", ("cat", 0.5), ("dog", 0.8)) == (0.5, 0.5)
    assert shares("cat & !(red dog)", ("cat", 0.5), ("dog", 0.8, "red")) == (1, 0)


def test_of_several_ways_to_be_true_the_best_counts() -> None:
    assert shares("cat | 2 dog", ("dog", 0.2), ("dog", 0.8)) == (1, 1)
    assert shares("!(!cat & !dog)", ("dog", 0.2)) == (1, 1)


def test_parts_say_what_they_are_about() -> None:
    found = aligned("2 red cat@left & dog@right", ("cat", 0.2, "red"), ("dog", 0.8))
    assert [part.words for part in found.objects] == ["cat", "dog"]
    assert {part.words: part.matches for part in found.triples} == {
        "cat is red": True,
        "red cat at left": True,
        "2 red cat": False,
        "dog at right": True,
        "1 dog": True,
    }


def test_too_many_ways_to_be_true_are_refused() -> None:
    choices = (disjunction([parse(f"red {e}"), parse(f"blue {e}")]) for e in ("cat", "dog", "cow", "sheep", "apple"))
    one_of_each = conjunction([*choices, *(parse(f"left_of({a}, b) | above({a}, b)") for a in ("cat", "dog", "cow"))])
    assert align(one_of_each, Scene()).object_share == 0
    with pytest.raises(UsageError, match=r"\[formula-too-large\]"):
        align(conjunction([one_of_each, parse("hat | cup")]), Scene())


@given(
    f=combined(st.one_of(atoms_about(ENTITIES, 3), relations_between(ENTITIES)), 4),
    scene=scenes(ENTITIES),
    counts=st.sampled_from(("exact", "at-least")),
)
def test_a_scene_that_satisfies_a_formula_shows_all_of_it(f: Formula, scene: Scene, counts: str) -> None:
    try:
        is_satisfied = satisfies(f, scene, counts)
    except UsageError:
        is_satisfied = False
    assume(is_satisfied)
    found = align(f, scene, counts)
    assert (found.object_share, found.triple_share) == (1, 1), found
