"""Layout: placements and relations in, boxes out.

Entities on the left are wholly in the left part, with a gap to the right part, so that a place is right by the order
of centroids, by halves and by thirds. One call is one attempt; the caller tries again with the same generator.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from salva.core.scene import Box
from salva.generators.painter.drawing import Placed, aspect
from salva.logic.formula import Atom, Related

MOST_ENTITIES = 12

_TRIES = 40
_ORDER_MARGIN = 0.08
_EDGE = 0.01
_SMALLEST_PX = 34
_SMALLEST_SHARE = 0.13
_LARGEST_SHARE = 0.45
_SIZE_RATIOS = (1.45, 1.8)
"""The larger of two entities is so many times as long, which is clearly visible."""
_SIZES = ("larger_than", "smaller_than")
_TOUCHING = ("on", "next_to", "near")
_BESIDE_SHARE = 0.8
"""How often two entities near each other are side by side instead of one on the other."""
_ORDERS = ("left_of", "right_of", "above", "below", "on")


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityRequest:
    """An entity to be placed."""

    entity: str
    style: str
    colour: str | None = None
    x: str | None = None
    """left, middle, right; None for anywhere."""
    y: str | None = None
    """top, middle, bottom; None for anywhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """The range of edges and of centres on an axis."""

    low: float
    high: float
    first_centre: float
    last_centre: float


_ANYWHERE = Span(low=_EDGE, high=1 - _EDGE, first_centre=0, last_centre=1)
_MIDDLE = Span(low=0.2, high=0.8, first_centre=0.41, last_centre=0.59)
# Centres stay in the outer thirds; edges stop earlier if something is in the middle.
_OUTER = {
    False: Span(low=_EDGE, high=0.49, first_centre=0, last_centre=0.3),
    True: Span(low=_EDGE, high=0.42, first_centre=0, last_centre=0.3),
}


def arrange(
    placements: Sequence[EntityRequest],
    relations: Sequence[Related],
    *,
    side: int,
    rng: random.Random,
    scale: float = 1.0,
    reserved: Sequence[Box] = (),
) -> tuple[Placed, ...] | None:
    """Boxes for all placements, or None if this attempt found no room; a smaller scale helps."""
    sizes = _in_order_of_size(_sizes(placements, side, rng, scale), placements, relations, side, rng)
    if sizes is None:
        return None
    sizes = [_side_by_side(size, placement, relations) for size, placement in zip(sizes, placements, strict=True)]
    gap = rng.choice((-1, 0, 2, 4, 6)) * side / 256
    taken = [_to_pixels(box, side) for box in reserved]
    boxes: dict[int, tuple[int, int, int, int]] = {}
    spans = [_spans(placement, placements) for placement in placements]
    for index in sorted(range(len(placements)), key=lambda i: -sizes[i][0] * sizes[i][1]):
        anchor = _neighbour_of(placements, index, relations, boxes)
        for _ in range(_TRIES):
            box = (
                _near(anchor, sizes[index], side, rng) if anchor else _somewhere(spans[index], sizes[index], side, rng)
            )
            is_free = all(_are_apart(box, other, 0 if anchor else gap) for other in taken)
            if (
                is_free
                and _fits(box, spans[index], side)
                and _is_ordered(placements, index, box, boxes, relations, side)
            ):
                break
        else:
            return None
        boxes[index] = box
        taken.append(box)
    return tuple(
        Placed(
            entity=placement.entity,
            style=placement.style,
            colour=placement.colour,
            is_flipped=rng.random() < 0.5,
            box=(boxes[i][0] / side, boxes[i][1] / side, boxes[i][2] / side, boxes[i][3] / side),
        )
        for i, placement in enumerate(placements)
    )


_Pixels = tuple[int, int, int, int]
_Kind = tuple[str, str]
"""An entity and its colour; no colour for any."""


def _sizes(placements: Sequence[EntityRequest], side: int, rng: random.Random, scale: float) -> list[tuple[int, int]]:
    smallest = max(_SMALLEST_PX, _SMALLEST_SHARE * side)
    largest = max(smallest, min(_LARGEST_SHARE, 0.6 / max(1, len(placements)) ** 0.5) * side * scale)
    sizes = []
    for placement in placements:
        longest = rng.uniform(max(smallest, 0.6 * largest), largest)
        ratio = aspect(placement.entity, placement.style)
        width, height = (longest, longest / ratio) if ratio > 1 else (longest * ratio, longest)
        sizes.append((max(1, round(width)), max(1, round(height))))
    return sizes


def _in_order_of_size(
    sizes: list[tuple[int, int]],
    placements: Sequence[EntityRequest],
    relations: Sequence[Related],
    side: int,
    rng: random.Random,
) -> list[tuple[int, int]] | None:
    """The sizes, with compared entities clearly larger or smaller; None if one would be too small."""
    smaller_than: dict[_Kind, set[_Kind]] = {}
    for relation in relations:
        if relation.relation in _SIZES:
            sides = [(side.entity, side.colour or "") for side in relation.sides()]
            large, small = sides if relation.relation == "larger_than" else sides[::-1]
            smaller_than.setdefault(small, set()).add(large)
            smaller_than.setdefault(large, set())
    longest: dict[_Kind, float] = {}
    while len(longest) < len(smaller_than):
        ready = [name for name in sorted(smaller_than) if name not in longest and smaller_than[name] <= longest.keys()]
        if not ready:
            return None
        for name in ready:
            larger = [longest[other] for other in smaller_than[name]]
            top = rng.uniform(0.9, 1) * _LARGEST_SHARE * side
            longest[name] = min(larger) / rng.uniform(*_SIZE_RATIOS) if larger else top
    if any(length < max(_SMALLEST_PX, _SMALLEST_SHARE * side) for length in longest.values()):
        return None
    fitted = []
    for placement, (width, height) in zip(placements, sizes, strict=True):
        kinds = ((placement.entity, placement.colour or ""), (placement.entity, ""))
        length = next((longest[kind] for kind in kinds if kind in longest), float(max(width, height)))
        factor = length / max(width, height)
        fitted.append((max(1, round(width * factor)), max(1, round(height * factor))))
    return fitted


def _side_by_side(size: tuple[int, int], placement: EntityRequest, relations: Sequence[Related]) -> tuple[int, int]:
    """The size with which several find room on one."""
    n = max((own.count for _, own, _, is_upper in _of_entity(placement, relations, ("on",)) if is_upper), default=1)
    factor = 1 if n == 1 else max(0.5, _SMALLEST_PX / max(size))
    return round(size[0] * factor), round(size[1] * factor)


def _spans(placement: EntityRequest, placements: Sequence[EntityRequest]) -> tuple[Span, Span]:
    return (
        _span(placement.x, "left", any(w.x == "middle" for w in placements)),
        _span(placement.y, "top", any(w.y == "middle" for w in placements)),
    )


def _span(place: str | None, first: str, has_middle: bool) -> Span:
    if place is None:
        return _ANYWHERE
    if place == "middle":
        return _MIDDLE
    outer = _OUTER[has_middle]
    if place == first:
        return outer
    return Span(
        low=1 - outer.high, high=1 - outer.low, first_centre=1 - outer.last_centre, last_centre=1 - outer.first_centre
    )


def _somewhere(spans: tuple[Span, Span], size: tuple[int, int], side: int, rng: random.Random) -> _Pixels:
    x, y = (_start(span, length, side, rng) for span, length in zip(spans, size, strict=True))
    return x, y, x + size[0], y + size[1]


def _start(span: Span, length: int, side: int, rng: random.Random) -> int:
    low = max(span.low * side, span.first_centre * side - length / 2)
    high = min(span.high * side - length, span.last_centre * side - length / 2)
    return round(rng.uniform(low, max(low, high)))


def _fits(box: _Pixels, spans: tuple[Span, Span], side: int) -> bool:
    for axis, span in enumerate(spans):
        start, end = box[axis] / side, box[axis + 2] / side
        tolerance = 0.5 / side  # boxes are rounded to whole pixels
        if start < span.low - tolerance or end > span.high + tolerance:
            return False
        if not span.first_centre - tolerance <= (start + end) / 2 <= span.last_centre + tolerance:
            return False
    return True


def _are_apart(box: _Pixels, other: _Pixels, gap: float) -> bool:
    return box[0] >= other[2] + gap or other[0] >= box[2] + gap or box[1] >= other[3] + gap or other[1] >= box[3] + gap


@dataclass(frozen=True, slots=True, kw_only=True)
class _Neighbour:
    """A placed box that the next one must touch or be near."""

    relation: str
    box: _Pixels
    is_first: bool
    """Whether the new entity is the relation's first ("on": the upper one)."""
    is_alone: bool
    """Whether it is one that stands so to one; several on another stand on either side of its middle."""


def _neighbour_of(
    placements: Sequence[EntityRequest], index: int, relations: Sequence[Related], boxes: dict[int, _Pixels]
) -> _Neighbour | None:
    for name, own, partner, is_first in _of_entity(placements[index], relations, _TOUCHING):
        if sum(_is_of(placements[i], own) for i in boxes) >= own.count:
            continue
        for i, box in boxes.items():
            if _is_of(placements[i], partner):
                is_alone = own.count == partner.count == 1
                return _Neighbour(relation=name, box=box, is_first=is_first, is_alone=is_alone)
    return None


def _of_entity(
    placement: EntityRequest, relations: Sequence[Related], kinds: Sequence[str]
) -> Iterator[tuple[str, Atom, Atom, bool]]:
    """The relations of an entity: name, its side, the other one, and whether the entity comes first."""
    for relation in relations:
        if relation.relation in kinds:
            first, second = relation.sides()
            if _is_of(placement, first):
                yield relation.relation, first, second, True
            elif _is_of(placement, second):
                yield relation.relation, second, first, False


def _is_of(placement: EntityRequest, side: Atom) -> bool:
    return placement.entity == side.entity and side.colour in (None, placement.colour)


def _near(anchor: _Neighbour, size: tuple[int, int], side: int, rng: random.Random) -> _Pixels:
    x0, y0, x1, y1 = anchor.box
    width, height = size
    is_beside = anchor.relation == "next_to" or (anchor.relation == "near" and rng.random() < _BESIDE_SHARE)
    if not is_beside:
        is_upper = anchor.is_first if anchor.relation == "on" else rng.random() < 0.5
        if anchor.is_alone:
            shift = rng.uniform(-0.15, 0.15) * min(width, x1 - x0)
        else:
            shift = rng.choice((-1, 1)) * rng.uniform(0.5, 0.55) * width
        x = round((x0 + x1 - width) / 2 + shift)
        y = y0 - height if is_upper else y1
    else:
        space = round(rng.uniform(0.01, 0.08) * side)
        x = x0 - width - space if rng.random() < 0.5 else x1 + space
        y = round((y0 + y1 - height) / 2 + rng.uniform(-0.08, 0.08) * side)
    return x, y, x + width, y + height


def _is_ordered(
    placements: Sequence[EntityRequest],
    index: int,
    box: _Pixels,
    boxes: dict[int, _Pixels],
    relations: Sequence[Related],
    side: int,
) -> bool:
    """Whether the new box satisfies its order relations to the boxes that are already placed."""
    for name, _, partner, is_first in _of_entity(placements[index], relations, _ORDERS):
        axis = 0 if name in ("left_of", "right_of") else 1
        is_before = is_first == (name in ("left_of", "above", "on"))
        for i, other in boxes.items():
            if not _is_of(placements[i], partner):
                continue
            ahead = (other[axis] + other[axis + 2] - box[axis] - box[axis + 2]) / 2 / side
            if (ahead if is_before else -ahead) < _ORDER_MARGIN:
                return False
    return True


def _to_pixels(box: Box, side: int) -> _Pixels:
    x0, y0, x1, y1 = (round(edge * side) for edge in box)
    return x0, y0, x1, y1
