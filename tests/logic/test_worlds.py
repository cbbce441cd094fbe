from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from hypothesis import given, settings
from strategies import formulas

from salva.english.describe import describe_world
from salva.errors import UsageError
from salva.logic.formula import Formula, Related, entities
from salva.logic.notation import parse
from salva.logic.worlds import WorldThing, choose_world, count_worlds, worlds


def described(notation: str, counts: str = "exact") -> list[str]:
    f = parse(notation)
    return [describe_world(world, entities(f)) for world in worlds(f, counts)]


@pytest.mark.parametrize(
    ("notation", "wanted"),
    [
        ("cat", ["a cat"]),
        ("2 dog", ["two dogs"]),
        ("!cat", ["nothing"]),
        ("cat | dog", ["a cat and a dog", "a cat and no dog", "a dog and no cat"]),
        ("cat & !dog", ["a cat and no dog"]),
        ("cat@right & !dog", ["a cat on the right and no dog"]),
        ("cat | 3 cat", ["three cats", "two cats", "a cat"]),
        ("red cat & dog", ["a red cat and a dog"]),
        ("cat & !red cat", ["a cat of another colour"]),
        ("cat & !cat@left", ["a cat elsewhere"]),
        ("cat & !cat", []),
        ("cat@top & cat@bottom", ["a cat at the top and a cat at the bottom"]),
        ("right_of(apple, dog)", ["an apple and a dog, with an apple to the right of a dog"]),
        ("cat & 2 red cat", ["two red cats"]),
    ],
)
def test_the_worlds_in_words(notation: str, wanted: list[str]) -> None:
    assert described(notation) == wanted


def test_at_least_allows_more_and_tells_numbers_apart_only_as_far_as_mentioned() -> None:
    assert described("2 cat", "at-least") == ["at least three cats", "two cats"]
    first = worlds(parse("2 cat"), "at-least")[0]
    assert first.more == ("cat",)


def test_what_the_formula_does_not_mention_is_not_in_its_worlds() -> None:
    (world,) = worlds(parse("cat & left_of(cat, dog)"))
    assert world.things == (WorldThing(entity="cat"), WorldThing(entity="dog"))
    assert world.relations == (Related("left_of", "cat", "dog"),)


@pytest.mark.parametrize(
    ("notation", "n"),
    [
        ("left_of(cat, dog) & left_of(dog, cat)", 0),
        ("left_of(cat, dog) & right_of(cat, dog)", 0),
        ("left_of(cat, dog) & left_of(dog, cow) & left_of(cow, cat)", 0),
        ("cat@left & dog@right & left_of(dog, cat)", 0),
        ("cat@left & dog@right & !left_of(cat, dog)", 0),
        ("on(cat, dog) & below(cat, dog)", 0),
        ("on(cat, dog) & next_to(cat, dog)", 0),
        # Of two things that are near, one is on the other, or they are next to each other.
        ("near(cat, dog)", 1),
        ("near(cat, dog) & !next_to(cat, dog)", 1),
        ("near(cat, dog) & !next_to(cat, dog) & !on(cat, dog) & !on(dog, cat)", 0),
        ("near(cat, dog) & !next_to(cat, dog) & !above(cat, dog) & !above(dog, cat)", 0),
        ("near(cat, dog) & !next_to(cat, dog) & !on(cat, dog) & above(cat, dog)", 0),
        ("!near(cat, dog) & next_to(dog, cat)", 0),
        ("!near(cat, dog) & on(dog, cat)", 0),
        ("near(cat, dog) & near(dog, cow) & !near(cat, cow) & cat & cow", 1),
        ("larger_than(cat, dog) & larger_than(dog, cat)", 0),
        ("larger_than(cat, dog) & larger_than(dog, cow) & smaller_than(cat, cow)", 0),
        # Size has nothing to do with place.
        ("cat@left & dog@right & larger_than(dog, cat)", 1),
        # One of two cats can be larger than the dog and the other smaller.
        ("2 cat & larger_than(cat, dog) & smaller_than(cat, dog)", 1),
        # Two cats can stand on both sides of one dog.
        ("2 cat & left_of(cat, dog) & right_of(cat, dog)", 1),
        # Neither is left of the other when both stand at the same x.
        ("cat & dog & !left_of(cat, dog) & !left_of(dog, cat)", 1),
    ],
)
def test_relations_are_geometry(notation: str, n: int) -> None:
    assert count_worlds(parse(notation)) == n


def test_counting_millions_lists_none() -> None:
    names = ("cat", "dog", "cow", "apple", "banana", "horse", "bird", "car", "bus", "clock", "chair", "cake")
    f = parse(" | ".join(f"10 {name}" for name in names))
    assert count_worlds(f) == 11**12 - 10**12
    world = choose_world(f, Random(3))
    assert max(Counter(thing.entity for thing in world.things).values()) == 10


def test_worlds_stop_at_the_limit() -> None:
    assert len(worlds(parse("10 cat | 10 dog | 10 cow"), limit=7)) == 7


def test_choosing_is_fair() -> None:
    f = parse("cat@right | dog@left")
    rng = Random(11)
    seen = Counter(choose_world(f, rng) for _ in range(5000))
    assert set(seen) == set(worlds(f))
    assert all(800 < n < 1200 for n in seen.values())


def test_choosing_from_a_contradiction_is_refused() -> None:
    with pytest.raises(UsageError, match=r"\[formula-contradictory\]"):
        choose_world(parse("cat & !cat"), Random(1))


@settings(max_examples=50)
@given(formulas(max_leaves=4))
def test_a_chosen_world_is_one_of_the_worlds(f: Formula) -> None:
    n = count_worlds(f)
    if 0 < n <= 200:
        every = worlds(f)
        assert len(every) == n == len(set(every))
        assert choose_world(f, Random(n)) in every


def test_an_unknown_reading_is_refused() -> None:
    with pytest.raises(UsageError, match=r"\[formula-unknown\]"):
        count_worlds(parse("cat"), "loose")


@pytest.mark.parametrize(
    "notation",
    [
        " | ".join(f"left_of({a}{b}x, {b}{a}y)" for a in "cdefghkl" for b in "mnpqrstuv"),
        " & ".join(
            f"{9 + i} {colour} cat@{place}"
            for i, colour in enumerate(("red", "blue", "green", "pink"))
            for place in ("left", "right", "top")
        ),
    ],
)
def test_what_is_too_large_is_decided_or_refused_in_words(notation: str) -> None:
    try:
        count_worlds(parse(notation))
    except UsageError as error:
        assert "too" in str(error)  # noqa: PT017  # deciding it is as good as refusing it
