"""The symbolic decision against a slow second opinion that lists and draws everything."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import combinations, product

from hypothesis import assume, given, settings
from hypothesis import strategies as st
from strategies import atoms_about, combined, plain_formulas, relations_between

from salva.logic.equivalence import are_equivalent, witness
from salva.logic.formula import RELATIONS, And, Atom, Formula, Not, Or, Related, Side, atoms, axis_of, entities
from salva.logic.worlds import World, WorldThing, count_worlds, worlds

Description = tuple[str | None, str | None]
Listed = frozenset[tuple[tuple[WorldThing, ...], frozenset[Related]]]


def unnested(f: Formula, *, is_denied: bool = False) -> list[tuple[Atom | Related, bool]]:
    """The leaves, each with whether it is denied where it stands."""
    if isinstance(f, Atom | Related):
        return [(f, is_denied)]
    if isinstance(f, Not):
        return unnested(f.part, is_denied=not is_denied)
    return unnested(f.left, is_denied=is_denied) + unnested(f.right, is_denied=is_denied)


def adding(f: Formula, entity: str) -> set[Description]:
    """The descriptions whose numbers add up: those that are not denied everywhere, and sides of relations."""
    return {
        (part.colour, part.place)
        for leaf, is_denied in unnested(f)
        for part in parts_of(leaf)
        if part.entity == entity and not (is_denied and isinstance(leaf, Atom))
    }


def parts_of(leaf: Atom | Related) -> tuple[Atom, ...]:
    if isinstance(leaf, Atom):
        return (leaf,)
    one, other = leaf.first_side, leaf.second_side
    return Atom(leaf.first, one.count, one.colour), Atom(leaf.second, other.count, other.colour)


def described(f: Formula, entity: str) -> dict[Description, int]:
    found: dict[Description, int] = {}
    for part in (part for leaf in atoms(f) for part in parts_of(leaf) if part.entity == entity):
        key = (part.colour, part.place)
        found[key] = max(found.get(key, 0), part.count)
    return found


def matches(thing: WorldThing, description: Description) -> bool:
    colour, place = description
    if colour is not None and thing.colour != colour:
        return False
    if place is None:
        return True
    name = place.split("-")[-1]
    return (thing.x if axis_of(place) == "x" else thing.y) == name


def cap(f: Formula, entity: str, within: Description) -> int:
    stated, adds = described(f, entity), adding(f, entity)

    def excludes(a: Description, b: Description) -> bool:
        if a[0] and b[0] and a[0] != b[0]:
            return True
        return bool(a[1] and b[1] and a[1] != b[1] and axis_of(a[1]) == axis_of(b[1]))

    def is_inside(d: Description) -> bool:
        return within[0] in (None, d[0]) and within[1] in (None, d[1])

    inside = [d for d in stated if is_inside(d)]
    best = 0
    for size in range(1, len(inside) + 1):
        for chosen in combinations(inside, size):
            if size == 1 or (adds.issuperset(chosen) and all(excludes(a, b) for a, b in combinations(chosen, 2))):
                best = max(best, sum(stated[d] for d in chosen))
    return best


def kinds_of(entity: str, mentioned: dict[Description, int]) -> list[WorldThing]:
    colours: list[str | None] = [*{d[0] for d in mentioned if d[0]}]
    xs: list[str | None] = [*{d[1].split("-")[-1] for d in mentioned if d[1] and axis_of(d[1]) == "x"}]
    ys: list[str | None] = [*{d[1].split("-")[-1] for d in mentioned if d[1] and axis_of(d[1]) == "y"}]
    return [
        WorldThing(entity=entity, colour=colour, x=x, y=y)
        for colour in ([*colours, "other"] if colours else [None])
        for x in ([*xs, "elsewhere"] if xs else [None])
        for y in ([*ys, "elsewhere"] if ys else [None])
    ]


@cache
def limits(f: Formula, g: Formula) -> dict[str, dict[Description, int]]:
    """Of each entity, how many things of each description exactness of f in one frame with g leaves."""
    by_entity = {}
    for entity in {*entities(f), *entities(g)}:
        own, other = described(f, entity), described(g, entity)
        by_entity[entity] = {d: cap(f if d in own else g, entity, d) for d in {*own, *other}}
        by_entity[entity][None, None] = cap(f if own else g, entity, (None, None))
    return by_entity


def fits(things: list[WorldThing], f: Formula, g: Formula) -> bool:
    """Exactness of f in one frame with g."""
    for entity, most in limits(f, g).items():
        for description, limit in most.items():
            if sum(t.entity == entity and matches(t, description) for t in things) > limit:
                return False
    return True


def holds(f: Formula, things: list[WorldThing], true: frozenset[Related]) -> bool:
    if isinstance(f, Atom):
        return sum(t.entity == f.entity and matches(t, (f.colour, f.place)) for t in things) >= f.count
    if isinstance(f, Related):
        return f in true
    if isinstance(f, Not):
        return not holds(f.part, things, true)
    left, right = holds(f.left, things, true), holds(f.right, things, true)
    return (left and right) if isinstance(f, And) else (left or right)


@cache
def arrangements(things: tuple[WorldThing, ...], mentioned: tuple[Related, ...]) -> frozenset[frozenset[Related]]:
    """The relations that are true in each of all pictures of these things on a small grid.

    Who is left of whom, who is larger than whom, and who is above or touches whom are chosen one without the others, so
    each is drawn by itself and every drawing of one goes with every drawing of the others.
    """
    if not mentioned:
        return frozenset({frozenset()})
    rank = {"left": 0, "top": 0, "middle": 1, "right": 2, "bottom": 2}
    n = len(things)
    pairs = [(i, j) for i in range(n) for j in range(n) if i != j]

    def lines(places: list[str | None]) -> Iterator[tuple[int, ...]]:
        ranks = [rank.get(place or "") for place in places]
        for at in product(range(n), repeat=n):
            if all(at[i] < at[j] for i, j in pairs if ranks[i] is not None and (ranks[j] or 0) > (ranks[i] or 0)):
                yield at

    def true(holding: dict[str, set[tuple[int, int]]]) -> frozenset[Related]:
        return frozenset(r for r in mentioned if stands(r, holding.get(r.relation, set())))

    def stands(r: Related, there: set[tuple[int, int]]) -> bool:
        first, second = (
            {i for i, t in enumerate(things) if t.entity == side.entity and side.colour in (None, t.colour)}
            for side in parts_of(r)
        )
        n_partners = [sum((i, j) in there for j in second) for i in first]
        return sum(n >= r.second_side.count for n in n_partners) >= r.first_side.count

    def ordered(lower: str, higher: str, at: tuple[int, ...]) -> dict[str, set[tuple[int, int]]]:
        return {
            lower: {(i, j) for i, j in pairs if at[i] < at[j]},
            higher: {(i, j) for i, j in pairs if at[i] > at[j]},
        }

    by_x = {true(ordered("left_of", "right_of", x)) for x in lines([t.x for t in things])}
    has_touches = any(r.relation in ("on", "next_to", "near") for r in mentioned)
    touches = ("apart", "beside", "on")[: 3 if has_touches else 1]
    by_size = {true(ordered("smaller_than", "larger_than", size)) for size in product(range(n), repeat=n)}
    by_y_and_touch = set()
    for y in lines([t.y for t in things]):
        above = ordered("above", "below", y)
        for touch in product(touches, repeat=len(pairs)):
            how = dict(zip(pairs, touch, strict=True))
            if any(h == "on" and (y[i] >= y[j] or how[j, i] == "beside") for (i, j), h in how.items()):
                continue
            if any(h == "beside" and how[j, i] != "beside" for (i, j), h in how.items()):
                continue
            touching = {
                "next_to": {pair for pair, h in how.items() if h == "beside"},
                "on": {pair for pair, h in how.items() if h == "on"},
                "near": {(i, j) for i, j in pairs if (how[i, j], how[j, i]) != ("apart", "apart")},
            }
            by_y_and_touch.add(true(above | touching))
    return frozenset(frozenset().union(*parts) for parts in product(by_x, by_size, by_y_and_touch))


def listed(f: Formula, g: Formula, counts: str) -> Listed:
    """The worlds of f over the vocabulary of f and g."""
    vocabulary = list(dict.fromkeys((*entities(f), *entities(g))))
    relations = tuple(dict.fromkeys(leaf for leaf in (*atoms(f), *atoms(g)) if isinstance(leaf, Related)))
    per_entity: list[list[list[WorldThing]]] = []
    for entity in vocabulary:
        own, other = described(f, entity), described(g, entity)
        joint = {d: max(own.get(d, 0), other.get(d, 0)) for d in {*own, *other}}
        kinds = kinds_of(entity, joint)
        exact = max(cap(which, entity, (None, None)) for which in (f, g))
        most = exact if counts == "exact" else max(joint.values()) + 1
        states = []
        for numbers in product(range(most + 1), repeat=len(kinds)):
            states.append([kind for kind, n in zip(kinds, numbers, strict=True) for _ in range(n)])
        per_entity.append(states)
    found = set()
    for choice in product(*per_entity):
        things = [thing for state in choice for thing in state]
        if counts == "exact" and not fits(things, f, g):
            continue
        for true in arrangements(tuple(things), relations):
            if holds(f, things, true):
                found.add((tuple(sorted(things, key=repr)), true))
    return frozenset(found)


def as_listed(world: World) -> tuple[tuple[WorldThing, ...], frozenset[Related]]:
    return tuple(sorted(world.things, key=repr)), frozenset(world.relations)


described_formulas = combined(atoms_about(("cat", "dog"), 2, ("red",), ("left", "right", "top")), max_leaves=3)
related_formulas = combined(
    relations_between(("cat", "dog", "cow")) | atoms_about(("cat", "dog"), 1, (), ("left", "right")), max_leaves=3
)


def some_cats(relation: str, n: int, colour: str | None, *, is_first: bool) -> Related:
    cats, dog = Side(n, colour), Side(1)
    return Related(relation, "cat", "dog", cats, dog) if is_first else Related(relation, "dog", "cat", dog, cats)


sided = st.builds(
    some_cats, st.sampled_from(RELATIONS), st.integers(1, 2), st.sampled_from((None, "red")), is_first=st.booleans()
) | st.builds(lambda name: Related(name, "cat", "cat", Side(1, "red"), Side(1, "blue")), st.sampled_from(RELATIONS))


@settings(max_examples=40)
@given(combined(sided, max_leaves=2))
def test_worlds_with_relations_of_some_of_a_colour_are_those_that_can_be_drawn(f: Formula) -> None:
    assume(sum(cap(f, entity, (None, None)) for entity in entities(f)) <= 3)
    drawn = listed(f, f, "exact")
    found = worlds(f, limit=5000)
    assert len(found) == count_worlds(f) == len(drawn)
    assert {as_listed(world)[0] for world in found} == {things for things, _ in drawn}


@given(plain_formulas(max_leaves=5))
def test_counts_agree_with_listing(f: Formula) -> None:
    assert count_worlds(f) == len(listed(f, f, "exact"))
    assert count_worlds(f, "at-least") == len(listed(f, f, "at-least"))


@settings(max_examples=60)
@given(described_formulas)
def test_worlds_with_colours_and_places_are_the_listed_ones(f: Formula) -> None:
    wanted = listed(f, f, "exact")
    assert count_worlds(f) == len(wanted)
    assert {as_listed(world) for world in worlds(f, limit=len(wanted) + 1)} == wanted


@settings(max_examples=60)
@given(related_formulas)
def test_worlds_with_relations_are_those_that_can_be_drawn(f: Formula) -> None:
    drawn = listed(f, f, "exact")
    found = worlds(f, limit=5000)
    assert len(found) == count_worlds(f) == len(drawn)
    assert {as_listed(world)[0] for world in found} == {things for things, _ in drawn}


@settings(max_examples=150)
@given(plain_formulas(max_leaves=4), plain_formulas(max_leaves=4))
def test_equivalence_agrees_with_listing(f: Formula, g: Formula) -> None:
    for counts in ("exact", "at-least"):
        ours, theirs = listed(f, g, counts), listed(g, f, counts)
        found = witness(f, g, counts)
        assert are_equivalent(f, g, counts) == (ours == theirs)
        if found is not None:
            seen = as_listed(found.world)
            assert (seen in ours, seen in theirs) == (found.holds_for == 1, found.holds_for == 2)


@settings(max_examples=60)
@given(
    combined(atoms_about(("cat",), 2, ("red",), ("left", "right")), max_leaves=3),
    combined(atoms_about(("cat",), 2, ("red",), ("left", "right")), max_leaves=3),
)
def test_equivalence_of_descriptions_agrees_with_listing(f: Formula, g: Formula) -> None:
    assert are_equivalent(f, g) == (listed(f, g, "exact") == listed(g, f, "exact"))


@settings(max_examples=40)
@given(
    combined(relations_between(("cat", "dog", "cow")), max_leaves=3),
    combined(relations_between(("cat", "dog", "cow")), max_leaves=2),
)
def test_equivalence_of_relations_agrees_with_drawing(f: Formula, g: Formula) -> None:
    assert are_equivalent(f, g) == (listed(f, g, "exact") == listed(g, f, "exact"))


def test_or_is_used_by_the_second_opinion() -> None:
    assert len(listed(Or(Atom("cat"), Atom("dog")), Atom("cat"), "exact")) == 3
