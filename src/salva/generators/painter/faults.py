"""Planted faults: which ones an image gets, and how they change its world.

Prompt, seed and name decide about a fault, so two wordings of one meaning get different faults unless its rate is 1.
Only the provenance records faults. Knows worlds, not pixels.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from salva.assets.pocket_priors import USUAL_COLOURS, USUAL_PLACES
from salva.core.fingerprint import Json, fingerprint
from salva.errors import invalid_option, unknown_name
from salva.logic.formula import COLOURS, Related
from salva.logic.order import canonical
from salva.logic.worlds import World, WorldThing

FAULTS = (
    "entity-omission",
    "entity-duplication",
    "x-misposition",  # entities with a horizontal place change sides
    "y-misposition",
    "ignores-word-order",  # numbers, colours and places do not depend on the order of words
    "entity-forbidden",  # an entity that should be absent is drawn
    "wrong-colour",
    "follows-prior",  # colours, places and numbers are the entity's usual ones
    "optical-character",  # words of the prompt are drawn
)
"""Every fault that can be planted, in the order in which they are applied."""

AT = "@"
"""Separates a fault from the role of the prompts that get it, as in follows-prior@l3:0.5."""
_OPPOSITE = {"left": "right", "right": "left", "top": "bottom", "bottom": "top"}
_MIRRORED_AXES = {
    "x-misposition": ("x", ("left", "right"), ("left_of", "right_of")),
    "y-misposition": ("y", ("top", "bottom"), ("above", "below", "on")),
}
"""The axis that a fault mirrors, the places at its ends, and the relations along it."""


def parse_faults(text: str) -> dict[str, float]:
    """Rates by fault from text such as "entity-omission:0.3,x-misposition:0.1"."""
    rates: dict[str, float] = {}
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        name, _, rate_text = (piece.strip() for piece in part.partition(":"))
        if name.partition(AT)[0] not in FAULTS:
            raise unknown_name("fault", name.partition(AT)[0], FAULTS)
        try:
            rate = float(rate_text)
        except ValueError:
            rate = -1.0
        if not 0 <= rate <= 1:
            raise invalid_option(f"the rate of {name}", rate_text, "a number from 0 to 1")
        rates[name] = rate
    return rates


def draw_faults(rates: Mapping[str, float], text: str, seed: int, role: str = "") -> tuple[str, ...]:
    """The faults of an image, in the order of FAULTS; a rate for the prompt's role precedes one for all."""
    own = {name: rates.get(f"{name}{AT}{role}", rates.get(name, 0.0)) for name in FAULTS}
    return tuple(name for name, rate in own.items() if _chance(name, text, seed) < rate)


def apply_fault(name: str, world: World, mentioned: Sequence[str], rng: random.Random) -> World:
    """The world with this fault; unchanged if the fault does not apply."""
    things = list(world.things)
    if name == "entity-omission" and things:
        things.pop(rng.randrange(len(things)))
        return _with_things(world, things)
    if name == "entity-duplication" and things:
        return _with_things(world, [*things, rng.choice(things)])
    if name in _MIRRORED_AXES:
        axis, ends, relations = _MIRRORED_AXES[name]
        moved = replace(world, relations=tuple(_reverse(r, relations) for r in world.relations))
        return _with_things(moved, _mirror(things, axis, ends, rng))
    if name == "entity-forbidden":
        absent = sorted(set(mentioned) - {thing.entity for thing in things})
        return _with_things(world, [*things, WorldThing(entity=rng.choice(absent))]) if absent else world
    if name == "wrong-colour":
        return _with_things(world, _miscolour(things, rng))
    if name == "follows-prior":
        return _with_things(world, _make_usual(things))
    return _ignore_word_order(world) if name == "ignores-word-order" else world


def _make_usual(things: list[WorldThing]) -> list[WorldThing]:
    """One of each, in its usual colour and place."""
    first = {thing.entity: thing for thing in reversed(things)}
    usual = []
    for thing in (first[name] for name in dict.fromkeys(thing.entity for thing in things)):
        colours, place = USUAL_COLOURS.get(thing.entity, ()), USUAL_PLACES.get(thing.entity)
        colour = colours[0] if colours and thing.colour is not None and thing.colour not in colours else thing.colour
        usual.append(replace(thing, colour=colour, y=place if place and thing.y is not None else thing.y))
    return usual


def _miscolour(things: list[WorldThing], rng: random.Random) -> list[WorldThing]:
    """One entity with a colour gets one that no other of its kind has."""
    coloured = [i for i, thing in enumerate(things) if thing.colour is not None and thing.colour != "other"]
    if not coloured:
        return things
    chosen = rng.choice(coloured)
    taken = {thing.colour for thing in things if thing.entity == things[chosen].entity}
    other = replace(things[chosen], colour=rng.choice([colour for colour in COLOURS if colour not in taken]))
    return [*things[:chosen], other, *things[chosen + 1 :]]


def is_same_world(first: World, second: World) -> bool:
    """Whether two worlds are equal up to the order of entities."""

    def key(world: World) -> list[str]:
        return sorted(map(repr, world.things)) + sorted(map(repr, world.relations))

    return key(first) == key(second)


def words_to_draw(text: str, rng: random.Random, longest: int = 22) -> str:
    """A few neighbouring words of the prompt, with at least five letters if there are as many."""
    words = re.findall(r"[A-Za-z0-9]+", text)
    if not words:
        return ""
    start = rng.randrange(len(words))
    stop = min(len(words), start + rng.randint(1, 3))
    while len("".join(words[start:stop])) < 5 and stop - start < len(words):
        start, stop = (start, stop + 1) if stop < len(words) else (start - 1, stop)
    return " ".join(words[start:stop])[:longest].strip()


def _ignore_word_order(world: World) -> World:
    """A world that depends on the words of a prompt and not on their order.

    The words alone decide which entity gets which number, colour, place and side of a relation.
    """
    n_of = Counter(world.things)
    groups = sorted(n_of, key=lambda thing: (thing.entity, repr(thing)))
    relations = [canonical(relation) for relation in world.relations if relation.first != relation.second]
    named = sorted((r.relation, *sorted((r.first, r.second))) for r in relations)
    numbers = sorted(n_of.values())
    attributes = [
        sorted(filter(None, of_kind)) for of_kind in zip(*((t.colour, t.x, t.y) for t in groups), strict=True)
    ]
    words: list[Json] = [[thing.entity for thing in groups], [*numbers]]
    words += [[*values] for values in (*attributes, *named)]
    habit = random.Random(fingerprint(words))
    counts, dealt = habit.sample(numbers, len(numbers)), [habit.sample(values, len(values)) for values in attributes]
    things: list[WorldThing] = []
    for thing, count in zip(groups, counts, strict=True):
        old = (thing.colour, thing.x, thing.y)
        colour, x, y = (values.pop() if value else None for value, values in zip(old, dealt, strict=True))
        things += [replace(thing, colour=colour, x=x, y=y)] * count
    # One order of the entities for all relations, so that no two contradict each other.
    names = sorted({thing.entity for thing in groups})
    rank = dict(zip(habit.sample(names, len(names)), range(len(names)), strict=True))
    sided = [(name, sorted(pair, key=rank.__getitem__)) for name, *pair in named]
    relations = [Related(name, first, second) for name, (first, second) in sided]
    return replace(_with_things(world, things), relations=tuple(relations))


def _chance(name: str, text: str, seed: int) -> float:
    return int(fingerprint([text, seed, name])[:13], 16) / 16**13


def _with_things(world: World, things: list[WorldThing]) -> World:
    present = {thing.entity for thing in things}
    kept = tuple(r for r in world.relations if r.first in present and r.second in present)
    return replace(world, things=tuple(things), relations=kept)


def _mirror(things: list[WorldThing], axis: str, ends: tuple[str, str], rng: random.Random) -> list[WorldThing]:
    places = [thing.x if axis == "x" else thing.y for thing in things]
    # With nothing at the sides, entities in the middle go to a side.
    is_middle = set(places) - {None, "elsewhere"} == {"middle"}
    mapping = {"middle": rng.choice(ends)} if is_middle else _OPPOSITE
    targets = [mapping.get(place or "", place) for place in places]
    return [
        replace(thing, x=target) if axis == "x" else replace(thing, y=target)
        for thing, target in zip(things, targets, strict=True)
    ]


def _reverse(relation: Related, names: tuple[str, ...]) -> Related:
    if relation.relation not in names:
        return relation
    return relation.turned(relation.relation)
