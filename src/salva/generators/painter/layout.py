"""Where things go: wishes for places and relations in, boxes out.

Left things lie wholly in the left part and right things in the right part, with room between, so
that a place holds by the order of centroids, by halves and by thirds. One call is one attempt: it may
find no room, and the caller tries again with the same generator of random numbers.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from salva.core.scene import Box
from salva.generators.painter.drawing import Placed, aspect
from salva.logic.formula import Related

MOST_THINGS = 12

_TRIES = 40
_ORDER_MARGIN = 0.08
_EDGE = 0.01
_SMALLEST_PX = 34
_SMALLEST_SHARE = 0.13
_LARGEST_SHARE = 0.45
_SIZE_RATIOS = (1.45, 1.8)
"""How many times as long the larger of two things is, so that nobody has to measure."""
_SIZES = ("larger_than", "smaller_than")
_TOUCHING = ("on", "next_to", "near")
_BESIDE_SHARE = 0.8
"""How often of two things that are only said to be near each other neither is on the other."""
_ORDERS = ("left_of", "right_of", "above", "below", "on")


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityRequest:
    """One thing to be placed."""

    entity: str
    style: str
    colour: str | None = None
    x: str | None = None
    """left, middle, right; None for anywhere."""
    y: str | None = None
    """top, middle, bottom; None for anywhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """What an axis allows: where edges may lie and where centres may."""

    low: float
    high: float
    first_centre: float
    last_centre: float


_ANYWHERE = Span(low=_EDGE, high=1 - _EDGE, first_centre=0, last_centre=1)
_MIDDLE = Span(low=0.2, high=0.8, first_centre=0.41, last_centre=0.59)
# Centres keep to the outer thirds, so that a place holds by thirds as well; edges stop earlier when
# something lies in the middle.
_OUTER = {
    False: Span(low=_EDGE, high=0.49, first_centre=0, last_centre=0.3),
    True: Span(low=_EDGE, high=0.42, first_centre=0, last_centre=0.3),
}


def arrange(
    wishes: Sequence[EntityRequest],
    relations: Sequence[Related],
    *,
    side: int,
    rng: random.Random,
    scale: float = 1.0,
    kept_free: Sequence[Box] = (),
) -> tuple[Placed, ...] | None:
    """Boxes for all wishes, or None when this attempt found no room; a smaller scale finds more."""
    sizes = _in_order_of_size(_sizes(wishes, side, rng, scale), wishes, relations, side, rng)
    if sizes is None:
        return None
    gap = rng.choice((-1, 0, 2, 4, 6)) * side / 256
    taken = [_to_pixels(box, side) for box in kept_free]
    boxes: dict[int, tuple[int, int, int, int]] = {}
    spans = [_spans(wish, wishes) for wish in wishes]
    for index in sorted(range(len(wishes)), key=lambda i: -sizes[i][0] * sizes[i][1]):
        anchor = _anchor(wishes, index, relations, boxes)
        for _ in range(_TRIES):
            box = (
                _near(anchor, sizes[index], side, rng) if anchor else _somewhere(spans[index], sizes[index], side, rng)
            )
            is_free = all(_are_apart(box, other, 0 if anchor else gap) for other in taken)
            if is_free and _fits(box, spans[index], side) and _is_ordered(wishes, index, box, boxes, relations, side):
                break
        else:
            return None
        boxes[index] = box
        taken.append(box)
    return tuple(
        Placed(
            entity=wish.entity,
            style=wish.style,
            colour=wish.colour,
            is_flipped=rng.random() < 0.5,
            box=(boxes[i][0] / side, boxes[i][1] / side, boxes[i][2] / side, boxes[i][3] / side),
        )
        for i, wish in enumerate(wishes)
    )


_Pixels = tuple[int, int, int, int]


def _sizes(wishes: Sequence[EntityRequest], side: int, rng: random.Random, scale: float) -> list[tuple[int, int]]:
    smallest = max(_SMALLEST_PX, _SMALLEST_SHARE * side)
    largest = max(smallest, min(_LARGEST_SHARE, 0.6 / max(1, len(wishes)) ** 0.5) * side * scale)
    sizes = []
    for wish in wishes:
        longest = rng.uniform(max(smallest, 0.6 * largest), largest)
        ratio = aspect(wish.entity, wish.style)
        width, height = (longest, longest / ratio) if ratio > 1 else (longest * ratio, longest)
        sizes.append((max(1, round(width)), max(1, round(height))))
    return sizes


def _in_order_of_size(
    sizes: list[tuple[int, int]],
    wishes: Sequence[EntityRequest],
    relations: Sequence[Related],
    side: int,
    rng: random.Random,
) -> list[tuple[int, int]] | None:
    """The sizes, with things that are compared made plainly larger or smaller; None when one would be too small."""
    smaller_than: dict[str, set[str]] = {}
    for relation in relations:
        if relation.relation in _SIZES:
            is_larger = relation.relation == "larger_than"
            large, small = (relation.first, relation.second) if is_larger else (relation.second, relation.first)
            smaller_than.setdefault(small, set()).add(large)
            smaller_than.setdefault(large, set())
    longest: dict[str, float] = {}
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
    for wish, (width, height) in zip(wishes, sizes, strict=True):
        factor = longest[wish.entity] / max(width, height) if wish.entity in longest else 1.0
        fitted.append((max(1, round(width * factor)), max(1, round(height * factor))))
    return fitted


def _spans(wish: EntityRequest, wishes: Sequence[EntityRequest]) -> tuple[Span, Span]:
    return (
        _span(wish.x, "left", any(w.x == "middle" for w in wishes)),
        _span(wish.y, "top", any(w.y == "middle" for w in wishes)),
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
        # Half a pixel of grace: boxes are rounded to whole pixels.
        grace = 0.5 / side
        if start < span.low - grace or end > span.high + grace:
            return False
        if not span.first_centre - grace <= (start + end) / 2 <= span.last_centre + grace:
            return False
    return True


def _are_apart(box: _Pixels, other: _Pixels, gap: float) -> bool:
    return box[0] >= other[2] + gap or other[0] >= box[2] + gap or box[1] >= other[3] + gap or other[1] >= box[3] + gap


@dataclass(frozen=True, slots=True, kw_only=True)
class _Anchor:
    """A placed box that the next one must touch or neighbour."""

    relation: str
    box: _Pixels
    is_first: bool
    """Whether the new thing is the relation's first ("on": the upper one)."""


def _anchor(
    wishes: Sequence[EntityRequest], index: int, relations: Sequence[Related], boxes: dict[int, _Pixels]
) -> _Anchor | None:
    entity = wishes[index].entity
    if any(wishes[i].entity == entity for i in boxes):
        return None
    for relation in relations:
        if relation.relation not in _TOUCHING or entity not in (relation.first, relation.second):
            continue
        is_first = entity == relation.first
        partner = relation.second if is_first else relation.first
        for i, box in boxes.items():
            if wishes[i].entity == partner:
                return _Anchor(relation=relation.relation, box=box, is_first=is_first)
    return None


def _near(anchor: _Anchor, size: tuple[int, int], side: int, rng: random.Random) -> _Pixels:
    x0, y0, x1, y1 = anchor.box
    width, height = size
    is_beside = anchor.relation == "next_to" or (anchor.relation == "near" and rng.random() < _BESIDE_SHARE)
    if not is_beside:
        is_upper = anchor.is_first if anchor.relation == "on" else rng.random() < 0.5
        x = round((x0 + x1 - width) / 2 + rng.uniform(-0.15, 0.15) * min(width, x1 - x0))
        y = y0 - height if is_upper else y1
    else:
        space = round(rng.uniform(0.01, 0.08) * side)
        x = x0 - width - space if rng.random() < 0.5 else x1 + space
        y = round((y0 + y1 - height) / 2 + rng.uniform(-0.08, 0.08) * side)
    return x, y, x + width, y + height


def _is_ordered(
    wishes: Sequence[EntityRequest],
    index: int,
    box: _Pixels,
    boxes: dict[int, _Pixels],
    relations: Sequence[Related],
    side: int,
) -> bool:
    """Whether the new box keeps every order relation with the boxes already there."""
    entity = wishes[index].entity
    for relation in relations:
        if relation.relation not in _ORDERS or entity not in (relation.first, relation.second):
            continue
        is_first = entity == relation.first
        partner = relation.second if is_first else relation.first
        axis = 0 if relation.relation in ("left_of", "right_of") else 1
        is_before = is_first == (relation.relation in ("left_of", "above", "on"))
        for i, other in boxes.items():
            if wishes[i].entity != partner:
                continue
            ahead = (other[axis] + other[axis + 2] - box[axis] - box[axis + 2]) / 2 / side
            if (ahead if is_before else -ahead) < _ORDER_MARGIN:
                return False
    return True


def _to_pixels(box: Box, side: int) -> _Pixels:
    x0, y0, x1, y1 = (round(edge * side) for edge in box)
    return x0, y0, x1, y1
