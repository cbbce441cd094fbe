"""The share of a formula satisfied: its objects, and its triples, each a share.

A formula and a scene come in; the objects (is it there?) and triples (its colour, place, number, and how it stands
to another thing) leave one by one with whether they match, after appendix B of the SemVarBench paper. A formula
that can be true in several ways is held against the way that fits best. docs/explanation/judges.md gives the reading.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from salva.core.grouping import group_by
from salva.core.scene import Scene, Thing
from salva.errors import UsageError
from salva.logic.formula import (
    And,
    Atom,
    Description,
    Formula,
    Literal,
    Not,
    Related,
    atoms,
    axis_of,
    described_by,
    largest_counts,
    largest_total,
    stated_counts,
)
from salva.logic.notation import to_notation
from salva.logic.placing import Axis, holds
from salva.messages import message

_MAX_WAYS = 256

_Way = tuple[tuple[Literal, bool], ...]
"""Literals that together make a formula true, each with whether it must hold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FormulaPart:
    """An object or a triple, and whether the scene shows it."""

    words: str
    matches: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Alignment:
    """What a scene shows of a formula."""

    objects: tuple[FormulaPart, ...]
    triples: tuple[FormulaPart, ...]
    """Empty when nothing is said but what is there."""

    @property
    def object_share(self) -> float:
        """The part of the objects that matches, 0 to 1."""
        return sum(part.matches for part in self.objects) / len(self.objects) if self.objects else self.triple_share

    @property
    def triple_share(self) -> float:
        """The part of the triples that matches; of a text that states none, the part of its objects."""
        return sum(part.matches for part in self.triples) / len(self.triples) if self.triples else self.object_share


def align(f: Formula, scene: Scene, counts: str = "exact") -> Alignment:
    """What the scene shows of the formula, in the way that fits best (of equals, the one said first)."""
    scales = _scales(f, counts)
    return max((scales.weigh(way, scene) for way in scales.ways), key=lambda a: a.object_share + a.triple_share)


class _Scales:
    """One formula, ready for many scenes."""

    def __init__(self, f: Formula, counts: str) -> None:
        self.ways = tuple(dict.fromkeys(_ways(f, True)))
        self._is_exact = counts == "exact"
        self._axes = {"x": Axis(f, "x"), "y": Axis(f, "y")}
        self._stated = stated_counts(f)
        self._most = largest_counts(f)
        self._says_numbers = any(isinstance(leaf, Atom) and leaf.count > 1 for leaf in atoms(f))

    def weigh(self, way: _Way, scene: Scene) -> Alignment:
        """The objects and triples of one way to make the formula true."""
        things = group_by(scene.things, lambda thing: thing.label)
        asked: dict[str, dict[Description, int]] = {}
        for leaf, is_wanted in way:
            if is_wanted:
                for atom in described_by(leaf):
                    of_entity, description = asked.setdefault(atom.entity, {}), (atom.colour, atom.place)
                    of_entity[description] = max(atom.count, of_entity.get(description, 0))
        objects = [part for entity, stated in asked.items() for part in self._objects(entity, stated, things)]
        triples = [part for entity, stated in asked.items() for part in self._attributes(entity, stated, things)]
        for leaf, is_wanted in way:
            if isinstance(leaf, Related):
                is_so = bool(holds(leaf, things))
                triples.append(FormulaPart(words=_words(leaf, is_wanted), matches=is_so == is_wanted))
            elif not is_wanted:
                n = len(self._matching(leaf.entity, (leaf.colour, leaf.place), things))
                part = FormulaPart(words=_words(leaf, False), matches=n < leaf.count)
                (objects if leaf == Atom(leaf.entity) else triples).append(part)
        return Alignment(objects=tuple(objects), triples=tuple(triples))

    def _objects(
        self, entity: str, stated: dict[Description, int], things: dict[str, list[Thing]]
    ) -> Iterator[FormulaPart]:
        """One object for each thing of this name that the text tells apart.

        Where the text says no numbers, one too many is as wrong as one too few; where it does, the numbers are
        triples, because two texts that differ in nothing but who comes in which number share their objects.
        """
        n_seen = len(things.get(entity, ()))
        n_asked = largest_total(dict.fromkeys(stated, 1))
        n_matching = min(n_seen, n_asked)
        if self._is_exact and not self._says_numbers:
            n_matching -= max(0, n_seen - self._most[entity])
        for i in range(n_asked):
            yield FormulaPart(words=entity, matches=i < n_matching)

    def _attributes(
        self, entity: str, stated: dict[Description, int], things: dict[str, list[Thing]]
    ) -> Iterator[FormulaPart]:
        """The colour, place and number of everything that is said to have one."""
        for (colour, place), n in stated.items():
            name = f"{colour} {entity}" if colour else entity
            coloured = self._matching(entity, (colour, None), things)
            if colour:
                yield FormulaPart(words=f"{entity} is {colour}", matches=bool(coloured))
            if place:
                # A thing of the wrong colour can still be where it should.
                whose = colour if coloured else None
                yield FormulaPart(
                    words=f"{name} at {place}", matches=bool(self._matching(entity, (whose, place), things))
                )
            if self._says_numbers and (n > 1 or (colour, place) in self._stated_alone(entity)):
                alone = len(stated) == 1
                n_seen = len(self._matching(entity, (None, None) if alone else (colour, place), things))
                most = self._most[entity] if alone else self._stated[entity].most((colour, place))
                is_right = n_seen >= n and (n_seen <= most or not self._is_exact)
                yield FormulaPart(words=f"{n} {name}", matches=is_right)

    def _stated_alone(self, entity: str) -> tuple[Description, ...]:
        """Descriptions whose number the text says: all, but for the bare one beside others (a cat, a red cat)."""
        stated = self._stated[entity].mentioned
        return tuple(d for d in stated if d != (None, None) or len(stated) == 1)

    def _matching(self, entity: str, description: Description, things: dict[str, list[Thing]]) -> list[Thing]:
        """The things of an entity that have this colour and stand at this place, as far as either is said."""
        colour, place = description
        own = things.get(entity, [])
        at: list[str | None] = [None] * len(own)
        if place:
            at = self._axes[axis_of(place)].places(entity, things)
            place = place.removeprefix("x-").removeprefix("y-")
        return [
            thing for thing, where in zip(own, at, strict=True) if where == place and colour in (None, thing.colour)
        ]


_scales = lru_cache(maxsize=2048)(_Scales)


def _ways(f: Formula, is_wanted: bool) -> Iterator[_Way]:
    """The ways to make a formula true (or false), each a set of literals."""
    if isinstance(f, Atom | Related):
        yield ((f, is_wanted),)
    elif isinstance(f, Not):
        yield from _ways(f.part, not is_wanted)
    elif isinstance(f, And) == is_wanted:
        lefts, rights = tuple(_ways(f.left, is_wanted)), tuple(_ways(f.right, is_wanted))
        if len(lefts) * len(rights) > _MAX_WAYS:
            raise UsageError(message("formula-too-large"))
        for left in lefts:
            for right in rights:
                yield tuple(dict.fromkeys((*left, *right)))
    else:
        yield from _ways(f.left, is_wanted)
        yield from _ways(f.right, is_wanted)


def _words(leaf: Literal, is_wanted: bool) -> str:
    return to_notation(leaf if is_wanted else Not(leaf))
