"""Positions and relations in a scene.

A thing is at a place when it stands on the right side of the things that the formula puts at other places of the
axis; when none of those is there, halves decide (middle: the middle third). Equal centres are on neither side of each
other, so a tie fails both things.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import hypot
from typing import NamedTuple

from salva.core.scene import Thing
from salva.logic.formula import Atom, Formula, Related, atoms, axis_of
from salva.logic.order import RANK, canonical

NEXT_TO_GAP = 0.25
"""The widest gap between two boxes that still makes them neighbours, in sides of the image."""
ON_GAP = 0.05
"""The widest gap between what stands on something and its top, in sides of the image."""
ON_OVERLAP = 0.5
"""The part of the narrower box that must be above the other."""
IN_SHARE = 0.8
"""The part of a box that must lie inside another for its thing to be in the other's."""
_ROUNDING = 1e-9

Things = Mapping[str, Sequence[Thing]]
"""The things of a scene by entity."""


class _Anchor(NamedTuple):
    """A description that the formula puts at a place."""

    entity: str
    colour: str | None
    rank: int
    stated: int


class Axis:
    """The places a formula mentions on one axis."""

    def __init__(self, f: Formula, axis: str) -> None:
        self.axis = axis
        largest: dict[tuple[str, str | None, str], int] = {}
        for leaf in atoms(f):
            if isinstance(leaf, Atom) and leaf.place and axis_of(leaf.place) == axis:
                key = (leaf.entity, leaf.colour, leaf.place.removeprefix("x-").removeprefix("y-"))
                largest[key] = max(leaf.count, largest.get(key, 0))
        self._anchors = [_Anchor(entity, colour, RANK[p], n) for (entity, colour, p), n in largest.items()]
        self._places: dict[str, list[str]] = {}
        for entity, _, place in sorted(largest, key=lambda key: RANK[key[2]]):
            if place not in self._places.setdefault(entity, []):
                self._places[entity].append(place)

    def places(self, entity: str, things: Things) -> list[str | None]:
        """The place of each thing of the entity among those mentioned for it, or "elsewhere"; None if none is."""
        mentioned = self._places.get(entity)
        own = things.get(entity, ())
        if not mentioned:
            return [None] * len(own)
        fits = [[place for place in mentioned if self._fits(thing, place, things)] for thing in own]
        if len(mentioned) == 1:
            return [fit[0] if fit else "elsewhere" for fit in fits]
        # A thing that fits several places takes the first that still wants one, going along the axis.
        found: list[str | None] = ["elsewhere"] * len(own)
        taken = dict.fromkeys(mentioned, 0)
        for i in sorted(range(len(own)), key=lambda i: self._at(own[i])):
            if fits[i]:
                wanting = [place for place in fits[i] if taken[place] < self._stated(entity, RANK[place])]
                place = wanting[0] if wanting else fits[i][-1]
                taken[place] += 1
                found[i] = place
        return found

    def fitting(self, entity: str, thing: Thing, things: Things) -> list[str]:
        """The places mentioned for the entity that a thing of it can be said to be at."""
        return [place for place in self._places.get(entity, ()) if self._fits(thing, place, things)]

    def _at(self, thing: Thing) -> float:
        return thing.x if self.axis == "x" else thing.y

    def _stated(self, entity: str, rank: int) -> int:
        return max((a.stated for a in self._anchors if a.entity == entity and a.rank == rank), default=0)

    def _fits(self, thing: Thing, place: str, things: Things) -> bool:
        at, rank = self._at(thing), RANK[place]
        is_alone = True
        for anchor in self._anchors:
            if anchor.rank == rank:
                continue
            others = [
                other
                for other in things.get(anchor.entity, ())
                if other is not thing and (anchor.colour is None or other.colour == anchor.colour)
            ]
            n_wanted = min(anchor.stated, len(others))
            if anchor.entity == thing.label and anchor.colour in (None, thing.colour):
                # Of its own kind as many may share its place as are stated for it.
                n_wanted = max(0, min(anchor.stated, len(others) + 1 - self._stated(thing.label, rank)))
            if n_wanted:
                is_alone = False
                if rank < anchor.rank:
                    n_beyond = sum(at < self._at(other) for other in others)
                else:
                    n_beyond = sum(at > self._at(other) for other in others)
                if n_beyond < n_wanted:
                    return False
        if is_alone:
            return at < 0.5 if rank == 0 else at > 0.5 if rank == 2 else 1 / 3 <= at <= 2 / 3
        return True


def third(at: float) -> int:
    """Which third of the side a centre is in: 0, 1 or 2; the middle one has both its edges."""
    return 0 if at < 1 / 3 else 2 if at > 2 / 3 else 1


def holds(relation: Related, things: Things) -> bool | None:
    """Whether a relation holds among things; None where one of its sides is not there."""
    one_way = canonical(relation)
    first, second = (
        [thing for thing in things.get(side.entity, ()) if side.colour in (None, thing.colour)]
        for side in one_way.sides()
    )
    n, m = one_way.first_side.count, one_way.second_side.count
    if len(first) < n or len(second) < m:
        return None
    return sum(sum(is_related(one_way.relation, a, b) for b in second) >= m for a in first) >= n


def is_related(relation: str, first: Thing, second: Thing) -> bool:
    """Whether one thing stands in this (canonical) relation to another; formulas know no in."""
    if relation == "left_of":
        return first.x < second.x
    if relation == "above":
        return first.y < second.y
    if relation == "on":
        return _is_on(first, second)
    if relation == "larger_than":
        return size_of(first) > size_of(second) + _ROUNDING
    if relation == "in":
        return _is_in(first, second)
    if relation == "near":
        return _gap(first, second) <= NEXT_TO_GAP + _ROUNDING
    assert relation == "next_to"
    return _gap(first, second) <= NEXT_TO_GAP + _ROUNDING and not _is_on(first, second) and not _is_on(second, first)


def size_of(thing: Thing) -> float:
    """The longer side of its box: how large a thing looks, whatever its shape."""
    return max(thing.box[2] - thing.box[0], thing.box[3] - thing.box[1])


def _is_on(upper: Thing, lower: Thing) -> bool:
    a, b = upper.box, lower.box
    overlap = _shared(upper, lower, 0)
    narrower = min(a[2] - a[0], b[2] - b[0])
    return (
        upper.y < lower.y
        and overlap > 0
        and overlap + _ROUNDING >= ON_OVERLAP * narrower
        and b[1] - a[3] <= ON_GAP + _ROUNDING
    )


def _is_in(inner: Thing, outer: Thing) -> bool:
    """Whether most of a thing's box lies inside that of a larger one."""
    areas = [(box[2] - box[0]) * (box[3] - box[1]) for box in (inner.box, outer.box)]
    inside = max(0.0, _shared(inner, outer, 0)) * max(0.0, _shared(inner, outer, 1))
    return 0 < areas[0] < areas[1] and inside + _ROUNDING >= IN_SHARE * areas[0]


def _shared(one: Thing, other: Thing, axis: int) -> float:
    """The length that two boxes share on an axis; negative where they are apart."""
    return min(one.box[axis + 2], other.box[axis + 2]) - max(one.box[axis], other.box[axis])


def _gap(one: Thing, other: Thing) -> float:
    a, b = one.box, other.box
    return hypot(max(0.0, a[0] - b[2], b[0] - a[2]), max(0.0, a[1] - b[3], b[1] - a[3]))
