from __future__ import annotations

import random
from itertools import combinations, pairwise

import pytest

from salva.english.describe import describe_world
from salva.errors import UsageError
from salva.logic import diagram
from salva.logic.diagram import Diagram
from salva.logic.equivalence import are_equivalent, is_contradictory, is_determinate, witness
from salva.logic.formula import entities
from salva.logic.notation import parse

NAMES = ("cat", "dog", "cow", "apple", "banana", "horse", "sheep", "bird", "car", "bus", "clock", "chair")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("cat & (dog | apple)", "(cat & dog) | (cat & apple)"),
        ("!((!cat & !dog) & (!dog & !cat))", "cat | dog"),
        ("!(!cat@right & !dog@left)", "cat@right | dog@left"),
        ("!!(cat & dog)", "cat & dog"),
        ("cat & (cat | dog)", "cat"),
        ("2 cat & dog", "dog & 2 cat"),
        ("cat & red cat", "red cat"),
        ("3 cat & (3 cat | red cat)", "3 cat"),
        ("left_of(cat, dog) & left_of(dog, cow)", "left_of(cat, dog) & left_of(dog, cow) & left_of(cat, cow)"),
        ("right_of(cat, dog)", "left_of(dog, cat)"),
        ("next_to(cat, dog)", "next_to(dog, cat)"),
        ("near(cat, dog)", "near(dog, cat)"),
        ("near(cat, dog)", "next_to(cat, dog) | on(cat, dog) | on(dog, cat)"),
        ("smaller_than(cat, dog)", "larger_than(dog, cat)"),
        (
            "larger_than(cat, dog) & larger_than(dog, cow)",
            "larger_than(cat, dog) & larger_than(dog, cow) & smaller_than(cow, cat)",
        ),
        ("on(cat, dog)", "on(cat, dog) & above(cat, dog)"),
        ("cat@left & dog@right", "cat@left & dog@right & left_of(cat, dog)"),
        ("cat & left_of(cat, dog)", "left_of(cat, dog)"),
        ("2 cat & 2 cat", "2 cat & cat"),
    ],
)
def test_equivalent(one: str, other: str) -> None:
    assert are_equivalent(parse(one), parse(other))


@pytest.mark.parametrize(
    ("one", "other", "world", "holds_for"),
    [
        ("cat & 2 dog", "2 cat & dog", "two cats and a dog", 2),
        ("cat | (dog & apple)", "cat | dog | cat | apple", "a dog, no cat and no apple", 2),
        ("!(!cat & dog)", "cat & dog", "a cat and no dog", 1),
        ("cat | 3 cat", "cat", "three cats", 1),
        ("cat", "2 cat", "two cats", 2),
        ("cat & (dog | !dog | 2 dog)", "cat & (dog | !dog)", "a cat and two dogs", 1),
        ("cat@left", "cat@right", "a cat on the left", 1),
        ("on(cat, dog)", "above(cat, dog)", "a cat and a dog, with a cat above a dog", 2),
        ("cat@left & (cat@left | cat@right)", "cat@left", "a cat on the left and a cat on the right", 1),
    ],
)
def test_not_equivalent_with_a_witness(one: str, other: str, world: str, holds_for: int) -> None:
    f, g = parse(one), parse(other)
    found = witness(f, g)
    assert found is not None
    assert describe_world(found.world, (*entities(f), *entities(g))) == world
    assert found.holds_for == holds_for


def test_exactness_tells_numbers_apart_and_at_least_does_not() -> None:
    f, g = parse("cat | 2 cat"), parse("cat")
    assert not are_equivalent(f, g)
    assert are_equivalent(f, g, "at-least")


@pytest.mark.parametrize("n", range(1, 11))
def test_the_numbering_table_as_printed_is_an_equivalence_in_its_first_row_only(n: int) -> None:
    assert are_equivalent(parse(f"cat & {n} dog"), parse(f"{n} cat & dog")) == (n == 1)


@pytest.mark.parametrize(
    ("notation", "is_one"),
    [
        ("cat & dog", True),
        ("!!(cat & dog)", True),
        ("10 cat & dog", True),
        ("cat & (dog | apple)", False),
        ("!((!cat & !dog) & (!dog & !cat))", False),
        ("(cat & dog) | (dog & cat)", True),
        ("cat@left & dog@right & cow@middle", True),
        ("cat & !cat", False),
    ],
)
def test_determinate(notation: str, is_one: bool) -> None:
    assert is_determinate(parse(notation)) == is_one


def test_contradictory() -> None:
    assert is_contradictory(parse("cat & !cat"))
    assert not is_contradictory(parse("!cat"))
    assert is_contradictory(parse("2 cat & !cat"), "at-least")


def test_twelve_entities_with_counts_are_decided() -> None:
    rng = random.Random(5)

    def tree(names: list[str]) -> str:
        if len(names) == 1:
            return f"{rng.randint(1, 10)} {names[0]}"
        k = rng.randrange(1, len(names))
        return f"{rng.choice(('', '!'))}({tree(names[:k])} {rng.choice('&|')} {tree(names[k:])})"

    for _ in range(10):
        names = rng.sample(NAMES, len(NAMES))
        f = tree(names)
        assert are_equivalent(parse(f), parse(f"!!({f}) & ({f})"))
        assert not are_equivalent(parse(f), parse(f"!({f})"))


def test_a_chain_of_relations_is_transitive() -> None:
    chain = " & ".join(f"left_of({a}, {b})" for a, b in pairwise(NAMES))
    assert are_equivalent(parse(chain), parse(f"{chain} & left_of(cat, chair)"))


def test_what_takes_too_long_to_tell_apart_is_refused_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(diagram, "_MAX_VISITS", 1)
    with pytest.raises(UsageError, match=r"\[formula-too-large\]"):
        Diagram((parse("cat & (dog | !dog | 2 dog)"), parse("cat & (dog | !dog)")), "exact").difference()


def test_what_is_too_large_is_refused_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(diagram, "_MAX_VISITS", 20_000)
    # Every pair may stand in either order or side by side, so the arrangements run into the millions.
    web = " | ".join(f"left_of({a}, {b})" for a, b in combinations(NAMES, 2))
    with pytest.raises(UsageError, match=r"\[formula-too-large\]"):
        is_determinate(parse(web))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("left_of(2 cat, dog)", "right_of(dog, 2 cat)"),
        ("left_of(red apple, green apple)", "!!right_of(green apple, red apple)"),
        ("next_to(red apple, green apple)", "next_to(green apple, red apple)"),
        ("left_of(2 cat, dog)", "left_of(2 cat, dog) & left_of(cat, dog)"),
        ("next_to(2 cat, dog)", "next_to(2 cat, dog) & next_to(cat, dog)"),
        # There is one cat, so what two dogs are each next to has both beside it.
        ("next_to(2 dog, cat)", "next_to(cat, 2 dog)"),
        ("on(red cat, sofa)", "on(red cat, sofa) & near(red cat, sofa) & !next_to(red cat, sofa)"),
    ],
)
def test_relations_between_some_of_a_colour_follow_from_each_other(one: str, other: str) -> None:
    assert are_equivalent(parse(one), parse(other))


@pytest.mark.parametrize(
    "notation",
    [
        "left_of(red cat, dog) & !left_of(cat, dog)",
        "left_of(red cat, dog) & !red cat",
        "left_of(2 cat, dog) & !2 cat",
        "on(2 cat, sofa) & !on(cat, sofa)",
        "next_to(red cat, sofa) & on(red cat, sofa)",
        "left_of(red cat, blue cat) & left_of(blue cat, red cat)",
        "near(2 cat, dog) & !next_to(cat, dog) & !above(cat, dog) & !above(dog, cat)",
    ],
)
def test_no_image_shows_relations_that_exclude_each_other(notation: str) -> None:
    assert is_contradictory(parse(notation))


def test_one_literal_of_a_colour_is_not_another() -> None:
    assert not are_equivalent(parse("2 cat & left_of(2 cat, dog)"), parse("2 cat & left_of(cat, dog)"))
    assert not are_equivalent(parse("red cat & left_of(cat, dog)"), parse("2 cat & left_of(red cat, dog)"))
    assert is_determinate(parse("left_of(red apple, green apple)"))
    assert is_determinate(parse("on(2 cat, sofa)"))
