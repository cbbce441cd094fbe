"""Images that are hard to observe: entities that are cut, overlapping, small, turned, covered or changed by an effect.

Centres stay where places need them, and the caller checks the formula again.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from salva.core.scene import Box

if TYPE_CHECKING:
    from salva.generators.painter.drawing import Placed

EFFECTS = ("outlined", "silhouettes", "pixelated", "recoloured")
HARD = (
    "turned",
    "tiny",
    "half-hidden",  # a board in front of nearly half of every entity
    "cut",  # entities that extend beyond the image
    "overlapping",
    "photo-ground",  # a background like a photograph
    *EFFECTS,
    "turned-text",
    "other-scripts",  # text in Greek, Cyrillic and Chinese
)
"""The kinds of difficulty."""

_TRIES = 12


def make_hard(kind: str, placed: Sequence[Placed], rng: random.Random) -> tuple[Placed, ...] | None:
    """The same entities, hard to observe; None if there is no room."""
    if kind == "turned":
        return tuple(replace(thing, turn=rng.choice((-1, 1)) * rng.uniform(30, 180)) for thing in placed)
    if kind == "tiny":
        return tuple(replace(thing, box=_shrink(thing.box, rng.uniform(0.055, 0.09))) for thing in placed)
    if kind == "half-hidden":
        return tuple(replace(thing, board=_part(thing.box, rng)) for thing in placed)
    if kind == "cut":
        return _push_over_edge(placed, rng)
    if kind == "overlapping":
        return _overlap_two(placed, rng)
    if kind in EFFECTS:
        # A requested colour must stay visible.
        return tuple(thing if thing.colour else replace(thing, effect=kind) for thing in placed)
    return tuple(placed)


def _shrink(box: Box, longest: float) -> Box:
    x, y = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
    scale = longest / max(box[2] - box[0], box[3] - box[1])
    width, height = (box[2] - box[0]) * scale / 2, (box[3] - box[1]) * scale / 2
    return x - width, y - height, x + width, y + height


def _part(box: Box, rng: random.Random) -> Box:
    """Nearly half of a box, from one of its sides."""
    x0, y0, x1, y1 = box
    share = rng.uniform(0.4, 0.5)
    width, height = share * (x1 - x0), share * (y1 - y0)
    sides = ((x1 - width, y0, x1, y1), (x0, y0, x0 + width, y1), (x0, y0, x1, y0 + height), (x0, y1 - height, x1, y1))
    return rng.choice(sides)


def _push_over_edge(placed: Sequence[Placed], rng: random.Random) -> tuple[Placed, ...] | None:
    """Entities pushed over an edge of the image; at least one must be."""
    things = list(placed)
    n_cut = 0
    for index in rng.sample(range(len(things)), len(things)):
        others = [thing.box for i, thing in enumerate(things) if i != index]
        for edge in rng.sample(range(4), 4):
            pushed = _push(things[index].box, edge, rng.uniform(0.3, 0.5))
            if not any(_overlap(pushed, other) for other in others):
                things[index] = replace(things[index], box=pushed)
                n_cut += 1
                break
    return tuple(things) if n_cut or not things else None


def _push(box: Box, edge: int, share: float) -> Box:
    axis, is_far = edge % 2, edge >= 2
    length = box[axis + 2] - box[axis]
    start = 1 - (1 - share) * length if is_far else -share * length
    shift = start - box[axis]
    x, y = (shift, 0.0) if axis == 0 else (0.0, shift)
    return box[0] + x, box[1] + y, box[2] + x, box[3] + y


def _overlap_two(placed: Sequence[Placed], rng: random.Random) -> tuple[Placed, ...] | None:
    """One entity moved over another, of its kind if possible."""
    if len(placed) < 2:
        return tuple(placed)
    things = list(placed)
    pairs = [(i, j) for j in range(len(things)) for i in range(j)]
    of_one_kind = [(i, j) for i, j in pairs if things[i].entity == things[j].entity]
    for _ in range(_TRIES):
        i, j = rng.choice(of_one_kind or pairs)
        under, over = things[i].box, things[j].box
        moved = _move_over(under, over, rng)
        others = [thing.box for k, thing in enumerate(things) if k not in (i, j)]
        if min(moved) >= 0 and max(moved) <= 1 and not any(_overlap(moved, other) for other in others):
            things[j] = replace(things[j], box=moved)
            return tuple(things)
    return None


def _move_over(under: Box, over: Box, rng: random.Random) -> Box:
    """The second box, moved to overlap along one axis and aligned on the other."""
    size = over[2] - over[0], over[3] - over[1]
    axis = rng.randrange(2)
    shared = rng.uniform(0.25, 0.5) * min(size[axis], under[axis + 2] - under[axis])
    centre = [(under[0] + under[2]) / 2, (under[1] + under[3]) / 2]
    start = under[axis + 2] - shared if rng.random() < 0.5 else under[axis] + shared - size[axis]
    centre[axis] = start + size[axis] / 2
    x, y = centre[0] - size[0] / 2, centre[1] - size[1] / 2
    return x, y, x + size[0], y + size[1]


def _overlap(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
