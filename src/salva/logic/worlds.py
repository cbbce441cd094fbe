"""The meaning of a formula: the scenes over what it mentions that make it true.

An atom is a lower bound. Counts "exact" add that nothing mentioned appears more often than the
largest number stated for it; "at-least" drops that and tells counts apart only up to the largest
number mentioned. Worlds are counted and drawn without listing them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice, product
from random import Random

from salva.errors import UsageError
from salva.logic.diagram import Diagram, Path
from salva.logic.formula import Formula, Related
from salva.logic.frame import StateClass
from salva.messages import message


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldThing:
    """One thing of a world, as far as the formula can tell."""

    entity: str
    colour: str | None = None
    """"other" is none of those mentioned for the entity; None when none is mentioned."""
    x: str | None = None
    """left, middle, right or elsewhere; None when no x-place is mentioned for the entity."""
    y: str | None = None
    """top, middle, bottom or elsewhere; None when no y-place is mentioned for the entity."""


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """One scene a formula allows."""

    things: tuple[WorldThing, ...]
    relations: tuple[Related, ...] = ()
    """Those of the mentioned relations that are true, as first spelled."""
    more: tuple[str, ...] = ()
    """Entities of which there may be any larger number (counts "at-least")."""


def worlds(f: Formula, counts: str = "exact", limit: int = 1000) -> tuple[World, ...]:
    """The worlds of a formula, fullest first; at most `limit` of them (count_worlds tells the number)."""
    diagram = diagram_of(f, counts)
    return tuple(islice((world for path in diagram.paths() for world in _along(path)), limit))


@lru_cache(maxsize=4096)
def count_worlds(f: Formula, counts: str = "exact") -> int:
    """The number of worlds of a formula."""
    return diagram_of(f, counts).count()


def choose_world(f: Formula, rng: Random) -> World:
    """A world of the formula with exact counts, each as likely as any other."""
    total = count_worlds(f)
    if not total:
        raise UsageError(message("formula-contradictory"))
    path, index = diagram_of(f, "exact").path_at(rng.randrange(total))
    return world_at(path, index)


def world_at(path: Path, index: int = 0) -> World:
    """The world with this index among those of a path."""
    things: list[WorldThing] = []
    relations: list[Related] = []
    more: list[str] = []
    for level, choice in reversed(path):
        if level.frame is None:
            if choice.made is True and level.spelling is not None:
                relations.insert(0, level.spelling)
            continue
        index, at = divmod(index, choice.weight)
        assert isinstance(choice.made, StateClass)
        counts = level.frame.state(choice.made, at)
        of_entity = [
            WorldThing(entity=level.frame.entity, colour=cell.colour, x=cell.x, y=cell.y)
            for cell, n in zip(level.frame.cells, counts, strict=True)
            for _ in range(n)
        ]
        things[:0] = of_entity
        if not level.frame.is_exact and max(counts) > level.frame.most:
            more.insert(0, level.frame.entity)
    return World(things=tuple(things), relations=tuple(relations), more=tuple(more))


@lru_cache(maxsize=512)
def diagram_of(f: Formula, counts: str) -> Diagram:
    """The decision diagram of one formula."""
    return Diagram((f,), counts)


def _along(path: Path) -> Iterator[World]:
    for indices in product(*(range(choice.weight) for _, choice in path)):
        index = 0
        for (_, choice), i in zip(path, indices, strict=True):
            index = index * choice.weight + i
        yield world_at(path, index)
