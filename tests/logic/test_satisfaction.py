from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from random import Random

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from strategies import ENTITIES, atoms_about, combined, plain_formulas, relations_between, scenes, thing_at

from salva.core.scene import Scene, Thing
from salva.english.describe import describe_discrepancy
from salva.errors import UsageError
from salva.logic.formula import PLACES, Atom, Formula, Related, conjunction, entities
from salva.logic.notation import parse
from salva.logic.satisfaction import discrepancies, needs_colour, satisfies
from salva.logic.worlds import World, choose_world, count_worlds, worlds

AT = {"left": 0.15, "middle": 0.5, "right": 0.85, "top": 0.15, "bottom": 0.85, "elsewhere": 0.5, None: 0.3}


def scene(*things: Thing) -> Scene:
    return Scene(things=things)


def kinds(notation: str, *things: Thing, counts: str = "exact") -> list[tuple[str, str]]:
    return [(d.kind, d.entity) for d in discrepancies(parse(notation), scene(*things), counts)]


def built(world: World) -> Scene:
    things = [
        thing_at(t.entity, AT[t.x] + i / 1000, AT[t.y] + i / 1000, "green" if t.colour == "other" else t.colour)
        for i, t in enumerate(world.things)
    ]
    return Scene(things=tuple(things))


def test_a_broken_relation_is_named_and_which_way_it_broke() -> None:
    cat, dog = thing_at("cat", 0.2, 0.5), thing_at("dog", 0.8, 0.5)
    (missing,) = discrepancies(parse("right_of(cat, dog)"), scene(cat, dog))
    (unwanted,) = discrepancies(parse("cat & dog & !left_of(cat, dog)"), scene(cat, dog))
    assert (missing.relation, missing.is_unwanted) == (Related("right_of", "cat", "dog"), False)
    assert (unwanted.relation, unwanted.is_unwanted) == (Related("left_of", "cat", "dog"), True)
    (other,) = discrepancies(parse("cat"), scene())
    assert (other.relation, other.is_unwanted) == (None, False)


@given(plain_formulas(max_count=3), st.integers(0, 1000))
def test_a_scene_built_from_a_world_satisfies(f: Formula, seed: int) -> None:
    assume(count_worlds(f) > 0)
    world = choose_world(f, Random(seed))
    assert satisfies(f, built(world))
    assert discrepancies(f, built(world)) == ()


@given(
    st.lists(st.sampled_from(ENTITIES), min_size=1, max_size=4, unique=True),
    st.lists(st.integers(1, 3), min_size=4, max_size=4),
    st.lists(st.sampled_from(PLACES), min_size=4, max_size=4),
    st.lists(st.sampled_from((None, "red", "blue")), min_size=4, max_size=4),
)
def test_placed_and_coloured_things_where_they_belong_satisfy(
    names: list[str], counts: list[int], places: list[str], colours: list[str | None]
) -> None:
    f = conjunction(Atom(*parts) for parts in zip(names, counts, colours, places, strict=False))
    (world,) = worlds(f)
    assert satisfies(f, built(world))


@settings(max_examples=200)
@given(
    combined(atoms_about(("cat", "dog"), 2, ("red",), ()), max_leaves=5),
    scenes(("cat", "dog", "apple"), max_things=5),
)
def test_a_scene_satisfies_exactly_when_it_is_listed_among_the_worlds(f: Formula, seen: Scene) -> None:
    mentioned = entities(f)
    every = worlds(f, limit=5000)
    assume(len(every) < 5000)
    coloured = {t.entity for world in every for t in world.things if t.colour}
    found = Counter(
        (t.label, ("red" if t.colour == "red" else "other") if t.label in coloured else None)
        for t in seen.things
        if t.label in mentioned
    )
    assert satisfies(f, seen) == any(Counter((t.entity, t.colour) for t in w.things) == found for w in every)


@settings(max_examples=200)
@given(
    combined(
        st.one_of(atoms_about(("cat", "dog", "apple"), 2), relations_between(("cat", "dog", "apple"))), max_leaves=4
    ),
    scenes(),
    st.sampled_from(("exact", "at-least")),
)
def test_nothing_is_wrong_exactly_when_it_satisfies(f: Formula, seen: Scene, counts: str) -> None:
    assume(count_worlds(f, counts) > 0)
    assert (discrepancies(f, seen, counts) == ()) == satisfies(f, seen, counts)


@given(scenes(), st.randoms(use_true_random=False))
def test_the_order_of_things_in_a_scene_does_not_matter(seen: Scene, rng: Random) -> None:
    f = parse("2 cat@left & dog@right & apple@middle | cat@right & cat@left & !dog")
    things = list(seen.things)
    rng.shuffle(things)
    assert satisfies(f, seen) == satisfies(f, Scene(things=tuple(things)))


@pytest.mark.parametrize(
    ("notation", "things", "wanted"),
    [
        ("cat & dog", [("cat", 0.2), ("dog", 0.7)], []),
        ("cat & dog", [("cat", 0.2)], [("missing", "dog")]),
        ("cat & dog", [("cat", 0.2), ("cat", 0.4), ("dog", 0.7)], [("extra", "cat")]),
        ("cat & dog", [("cat", 0.2), ("dog", 0.7), ("cow", 0.5)], []),
        ("dog & !cat", [("cat", 0.2), ("dog", 0.7)], [("forbidden", "cat")]),
        ("3 cat", [("cat", 0.2)], [("missing", "cat")]),
        ("cat@left & dog@right", [("cat", 0.6), ("dog", 0.7)], []),
        ("cat@left & dog@right", [("cat", 0.7), ("dog", 0.6)], [("x-misplaced", "cat"), ("x-misplaced", "dog")]),
        # Equal centres are on neither side of each other.
        ("cat@left & dog@right", [("cat", 0.5), ("dog", 0.5)], [("x-misplaced", "cat"), ("x-misplaced", "dog")]),
        # One cat stands where it should, so the other is one too many and not out of place.
        ("cat@left & dog@right", [("cat", 0.1), ("dog", 0.5), ("cat", 0.9)], [("extra", "cat")]),
        # Alone, halves decide.
        ("cat@left & dog@right", [("dog", 0.6)], [("missing", "cat")]),
        ("cat@left & dog@right", [("dog", 0.4)], [("missing", "cat"), ("x-misplaced", "dog")]),
        ("cat@left", [("cat", 0.49)], []),
        ("cat@left", [("cat", 0.5)], [("x-misplaced", "cat")]),
        ("cat@x-middle", [("cat", 0.6)], []),
        ("cat@x-middle", [("cat", 0.7)], [("x-misplaced", "cat")]),
        ("cat@left & dog@middle & cow@right", [("cat", 0.6), ("dog", 0.7), ("cow", 0.8)], []),
        (
            "cat@left & dog@middle & cow@right",
            [("cat", 0.7), ("dog", 0.6), ("cow", 0.8)],
            [("x-misplaced", "cat"), ("x-misplaced", "dog")],
        ),
        ("cat@left & cat@right", [("cat", 0.1), ("cat", 0.3)], []),
        ("cat@left & cat@right", [("cat", 0.1)], [("missing", "cat")]),
        ("cat@left & cat@middle & cat@right", [("cat", 0.3), ("cat", 0.1), ("cat", 0.2)], []),
        ("cat@left & dog@right | cat@right & dog@left", [("cat", 0.8), ("dog", 0.2)], []),
        ("left_of(cat, dog)", [("cat", 0.8), ("dog", 0.2)], [("unrelated", "cat")]),
        ("left_of(cat, dog)", [("cat", 0.8)], [("missing", "dog")]),
        ("cat & dog & !left_of(cat, dog)", [("cat", 0.2), ("dog", 0.8)], [("unrelated", "cat")]),
        ("cat | dog", [], [("missing", "cat")]),
        # Three of four: two share the left, so the one missing is all that is wrong.
        ("2 cat@left & 2 cat@right", [("cat", 0.1), ("cat", 0.3), ("cat", 0.45)], [("missing", "cat")]),
        # Two worlds are one edit away; the one with more things in it is meant.
        ("cat & dog | !cat & !dog", [("cat", 0.5)], [("missing", "dog")]),
        ("left_of(cat, dog) | cat & !dog", [("cat", 0.9), ("dog", 0.1)], [("unrelated", "cat")]),
        ("cat & dog | cow & apple", [("cow", 0.5)], [("missing", "apple")]),
    ],
)
def test_what_is_wrong(notation: str, things: list[tuple[str, float]], wanted: list[tuple[str, str]]) -> None:
    assert kinds(notation, *(thing_at(label, x) for label, x in things)) == wanted
    assert satisfies(parse(notation), scene(*(thing_at(label, x) for label, x in things))) == (not wanted)


def test_the_longer_side_of_its_box_is_how_large_a_thing_is() -> None:
    tall, flat = Thing(label="cat", box=(0.0, 0.0, 0.1, 0.5)), Thing(label="dog", box=(0.2, 0.0, 0.6, 0.4))
    assert kinds("larger_than(cat, dog)", tall, flat) == []
    assert kinds("smaller_than(cat, dog)", tall, flat) == [("unrelated", "cat")]
    same = Thing(label="dog", box=(0.1, 0.5, 0.2 + 0.1, 1.0))
    assert kinds("cat & dog & !larger_than(cat, dog) & !larger_than(dog, cat)", tall, same) == []


def test_the_vertical_axis_counts_from_the_top() -> None:
    assert kinds("cat@top & dog@bottom", thing_at("cat", 0.9, 0.2), thing_at("dog", 0.1, 0.3)) == []
    assert kinds("cat@top & dog@bottom", thing_at("cat", 0.5, 0.4), thing_at("dog", 0.5, 0.3)) == [
        ("y-misplaced", "cat"),
        ("y-misplaced", "dog"),
    ]


def test_what_the_order_of_another_world_hides_is_seen_by_halves_and_nothing_else_is_blamed() -> None:
    things = (thing_at("cat", 0.6), thing_at("dog", 0.8), thing_at("cow", 0.5, 0.6))
    # The cat is left of a dog on the right, but only in the world with two dogs does a dog stand for the right.
    notation = "cat@left & dog & cow@bottom | cat & 2 dog@right & cow@bottom"
    assert kinds(notation, *things) == [("x-misplaced", "cat")]


def test_at_least_lets_more_pass() -> None:
    cats = [thing_at("cat", x) for x in (0.1, 0.3, 0.5)]
    assert kinds("2 cat", *cats, counts="at-least") == []
    assert kinds("2 cat", *cats) == [("extra", "cat")]
    assert kinds("2 cat", cats[0], counts="at-least") == [("missing", "cat")]
    assert kinds("cat & dog", *cats, counts="at-least") == [("missing", "dog")]


def test_colours() -> None:
    assert kinds("red cat", thing_at("cat", 0.5, colour="red")) == []
    assert kinds("red cat", thing_at("cat", 0.5, colour="blue")) == [("colour", "cat")]
    assert kinds("red cat & blue cat", thing_at("cat", 0.5, colour="blue")) == [("missing", "cat")]
    assert needs_colour(parse("dog | !red cat"))
    assert not needs_colour(parse("orange & cat@left"))


def test_on_and_next_to() -> None:
    ball = thing_at("ball", 0.5, 0.46)
    table = Thing(label="table", box=(0.3, 0.52, 0.7, 0.8))
    assert kinds("on(ball, table)", ball, table) == []
    assert kinds("next_to(ball, table)", ball, table) == [("unrelated", "ball")]
    beside = thing_at("ball", 0.85, 0.7)
    assert kinds("next_to(table, ball)", beside, table) == []
    assert kinds("on(ball, table)", beside, table) == [("unrelated", "ball")]
    far = thing_at("ball", 0.5, 0.1)
    assert kinds("next_to(ball, table)", far, table) == [("unrelated", "ball")]
    assert kinds("above(ball, table) & below(table, ball)", far, table) == []


def test_the_numbers_that_prove_it_are_told() -> None:
    (found,) = discrepancies(parse("cat"), scene(thing_at("cat", 0.2), thing_at("cat", 0.6)))
    assert (found.expected, found.seen) == ("1", "2")
    assert describe_discrepancy(found) == "two cats where 1 should be"
    (found,) = discrepancies(parse("cat@left"), scene(thing_at("cat", 0.71)))
    assert (found.expected, found.seen) == ("on the left", "x 0.71")
    (found,) = discrepancies(parse("!cat"), scene(thing_at("cat", 0.71)))
    assert describe_discrepancy(found) == "a cat where none should be"


def test_a_contradiction_has_no_nearest_world() -> None:
    assert not satisfies(parse("cat & !cat"), scene())
    with pytest.raises(UsageError, match=r"\[formula-contradictory\]"):
        discrepancies(parse("cat & !cat"), scene())


def test_many_entities_do_not_make_the_nearest_world_slow() -> None:
    names = ("cat", "dog", "cow", "apple", "banana", "horse", "bird", "car", "bus", "clock", "chair", "cake")
    f = parse(" & ".join(f"({i % 10 + 1} {name} | {name}@left)" for i, name in enumerate(names)))
    assert len(discrepancies(f, scene(thing_at("cat", 0.2)))) == len(names) - 1


def test_threads_share_a_formula() -> None:
    f = parse("(cat | 2 dog | cow) & !(3 cow & cat) | left_of(cat, dog) & 2 apple | dog@left & bird@right")
    seen = [
        Scene(things=tuple(thing_at(name, rng.random(), rng.random()) for name in rng.choices(entities(f), k=6)))
        for rng in map(Random, range(400))
    ]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda s: discrepancies(f, s), seen))
    assert together == [discrepancies(f, s) for s in seen]


@pytest.mark.parametrize("n_cats", [1, 2, 3, 4])
def test_room_for_more_elsewhere_does_not_hide_that_nothing_stands_where_it_should(n_cats: int) -> None:
    cats = tuple(Thing(label="cat", box=(0.05, 0.05, 0.15, 0.15)) for _ in range(n_cats))
    (wrong,) = discrepancies(parse("cat@x-middle"), Scene(things=cats), "at-least")
    assert (wrong.kind, wrong.expected) == ("x-misplaced", "in the middle")


def things(*seen: tuple[str, str, float, float]) -> Scene:
    """(label, colour, x, y), each a small box."""
    boxes = [(label, colour, (x - 0.04, y - 0.04, x + 0.04, y + 0.04)) for label, colour, x, y in seen]
    return Scene(things=tuple(Thing(label=label, colour=colour, box=box) for label, colour, box in boxes))


APPLES = things(("apple", "red", 0.2, 0.5), ("apple", "green", 0.8, 0.5))
CATS = things(("cat", "red", 0.1, 0.5), ("cat", "black", 0.3, 0.5), ("dog", "black", 0.6, 0.5))


@pytest.mark.parametrize(
    ("formula", "scene", "is_right"),
    [
        ("left_of(red apple, green apple)", APPLES, True),
        ("left_of(green apple, red apple)", APPLES, False),
        ("right_of(green apple, red apple)", APPLES, True),
        ("left_of(2 cat, dog)", CATS, True),
        ("right_of(dog, 2 cat)", CATS, True),
        ("left_of(dog, 2 cat)", CATS, False),
        ("left_of(3 cat, dog)", CATS, False),
        ("left_of(cat, 2 dog)", things(("dog", "", 0.1, 0.5), ("cat", "", 0.5, 0.5), ("dog", "", 0.9, 0.5)), False),
        ("left_of(cat, 2 dog)", things(("cat", "", 0.1, 0.5), ("dog", "", 0.5, 0.5), ("dog", "", 0.9, 0.5)), True),
        # One cat is too many: a relation states one of each side.
        ("left_of(cat, dog)", CATS, False),
        ("2 cat & next_to(black cat, dog)", CATS, True),
        ("2 cat & next_to(2 cat, dog)", CATS, False),
        ("2 cat & !next_to(2 cat, dog)", CATS, True),
        ("2 cat & dog & !next_to(red cat, dog)", CATS, True),
    ],
)
def test_relations_between_some_of_a_colour(formula: str, scene: Scene, is_right: bool) -> None:
    assert satisfies(parse(formula), scene) is is_right
    assert (discrepancies(parse(formula), scene) == ()) is is_right


TWO_RED_DOGS = things(("dog", "red", 0.2, 0.5), ("dog", "red", 0.8, 0.5))


@pytest.mark.parametrize(
    ("formula", "counts", "is_right"),
    [
        # Red dogs are mentioned, and one is the largest number stated for them: an alternative counts like any mention.
        ("2 dog | red dog", "exact", False),
        ("2 dog & red dog", "exact", False),
        ("2 dog | red dog", "at-least", True),
        ("2 dog", "exact", True),
        ("2 dog | 2 red dog", "exact", True),
        ("2 dog | red cat", "exact", True),
    ],
)
def test_exactness_counts_every_description_that_is_mentioned(formula: str, counts: str, is_right: bool) -> None:
    assert satisfies(parse(formula), TWO_RED_DOGS, counts) is is_right
