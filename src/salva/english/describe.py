"""Worlds and discrepancies in words. Knows nothing of where they came from."""

from __future__ import annotations

from collections.abc import Iterable

from salva.english.words import counted, in_relation, with_article
from salva.logic.satisfaction import COLOUR, EXTRA, FORBIDDEN, MISSING, UNRELATED, Discrepancy
from salva.logic.worlds import World, WorldThing

_X_WORDS = {"left": " on the left", "middle": " in the middle", "right": " on the right"}
_Y_WORDS = {"top": " at the top", "middle": " in the middle", "bottom": " at the bottom"}


def describe_world(world: World, mentioned: Iterable[str] = ()) -> str:
    """A world in words, naming the mentioned entities that are absent as well."""
    if not world.things:
        return "nothing"
    present = list(dict.fromkeys(thing.entity for thing in world.things))
    order = list(dict.fromkeys((*mentioned, *present)))
    phrases = [phrase for entity in order for phrase in _phrases(world, entity)]
    phrases += [f"no {entity}" for entity in order if entity not in present]
    words = " and ".join(phrases) if len(phrases) < 3 else ", ".join(phrases[:-1]) + " and " + phrases[-1]
    related = [in_relation(relation) for relation in world.relations]
    return words + (f", with {' and '.join(related)}" if related else "")


def describe_discrepancy(found: Discrepancy) -> str:
    """What is wrong and what should be instead."""
    if found.kind in (MISSING, EXTRA, FORBIDDEN):
        there = counted(found.entity, int(found.seen)) if found.seen != "0" else f"no {found.entity}"
        return f"{there} where {'none' if found.expected == '0' else found.expected} should be"
    if found.kind == UNRELATED:
        return (
            f"{found.seen} holds and should not" if found.is_unwanted else f"{found.expected} does not hold and should"
        )
    if found.kind == COLOUR:
        return f"{with_article(found.entity)} is {found.seen} and should be {found.expected}"
    return f"{with_article(found.entity)} at {found.seen} that should be {found.expected}"


def _phrases(world: World, entity: str) -> list[str]:
    alike: dict[WorldThing, int] = {}
    for thing in world.things:
        if thing.entity == entity:
            alike[thing] = alike.get(thing, 0) + 1
    most = max(alike.values(), default=0)
    return [
        ("at least " if entity in world.more and n == most else "") + _phrase(thing, n) for thing, n in alike.items()
    ]


def _phrase(thing: WorldThing, n: int) -> str:
    colour = f"{thing.colour} " if thing.colour and thing.colour != "other" else ""
    words = counted(colour + thing.entity, n)
    if thing.colour == "other":
        words += " of another colour"
    words += _X_WORDS.get(thing.x or "", "") + _Y_WORDS.get(thing.y or "", "")
    return words + (" elsewhere" if "elsewhere" in (thing.x, thing.y) else "")
