"""Scenes of the pocket world: what is said about them, and where each thing stands.

A scene is sampled first as groups (three red cups on the left) and relations, then laid out as centres, sizes and
turns. Pure Python, one random.Random in, one scene out, because sixteen processes make them by the thousand.
Knows no wording and no pixel; coordinates are fractions of the side, origin top left.
"""

from __future__ import annotations

import math
import random
import zlib
from collections.abc import Mapping
from dataclasses import dataclass

import pocket_priors as priors

MAX_THINGS = 10
AXIS = {"left": "x", "right": "x", "top": "y", "bottom": "y", "middle": ""}
SIZES = {1: (0.34, 0.58), 2: (0.28, 0.44), 3: (0.27, 0.37), 4: (0.25, 0.32), 5: (0.24, 0.29), 6: (0.2, 0.24)}
SIZES |= {7: (0.19, 0.22), 8: (0.19, 0.21), 9: (0.175, 0.2), 10: (0.175, 0.195)}
SMALLEST = {n: 0.23 if n <= 5 else 0.165 for n in SIZES}
"""22 pixels of 96 for up to five things."""
RELATIONS = {"next to": 9, "in front of": 4, "on": 4, "above": 3, "left of": 2.5}
"""With their weights; right of, below and behind are the same scenes, worded from the other side."""
SIGN = "sign"
"""What a plate with words is called among the placements; its style is the word."""
SIGN_EXTENT = (1.0, 0.5)

Extents = Mapping[tuple[str, str], tuple[float, float]]
"""Width and height of each drawing (thing, style) when its longer side is 1."""


@dataclass(slots=True, kw_only=True)
class Group:
    """Some things of one kind that share everything a caption can say about them."""

    thing: str
    n: int = 1
    colour: str = ""
    """Only where the caption says it."""
    size: str = ""
    place: str = ""


@dataclass(slots=True, kw_only=True)
class Placement:
    """One thing on the canvas."""

    thing: str
    style: str
    colour: str
    """Empty for the drawing's own colours."""
    x: float
    y: float
    size: float
    """Of the longer side."""
    turn: float = 0.0
    """Radians, clockwise."""


@dataclass(slots=True, kw_only=True)
class Scene:
    """What a caption tells, and the placements that make it true."""

    groups: list[Group]
    relation: str = ""
    """How the first group stands to the second."""
    placements: list[Placement]
    context: str = ""
    """Where its things are met together; empty for a mixture."""


HELD_OUT_SALT = 6
"""Chosen so that no two of cat, dog, apple, banana and cow are kept apart: those five make up MetaLogic's own suite."""


def is_held_out(first: str, second: str) -> bool:
    """Whether these two things never share a training picture; 35 of the 528 pairs."""
    return zlib.crc32("|".join(sorted((first, second))).encode(), HELD_OUT_SALT) % 16 == 0


def sample_scene(rng: random.Random, extents: Extents) -> Scene:
    """A random scene that could be laid out."""
    while True:
        context = rng.choice(tuple(priors.CONTEXTS)) if rng.random() < priors.IN_CONTEXT else ""
        groups, relation = sample_groups(rng, context)
        placements = lay_out(rng, groups, relation, extents, Habits.sample(rng))
        if placements is not None:
            _put_up_sign(rng, placements, context)
            return Scene(groups=groups, relation=relation, placements=placements, context=context)


def sample_groups(rng: random.Random, context: str = "") -> tuple[list[Group], str]:
    """What the caption will tell: kinds, numbers, colours, sizes, places, and at most one relation."""
    draw = rng.random()
    relation = ""
    if draw < priors.ALIKE_RATE:
        return _alike(rng, context)
    if draw < 0.20:
        groups = _kinds(rng, 1, context)
    elif draw < 0.53:
        groups = _kinds(rng, 2, context)
        if rng.random() < 0.55:
            relation = rng.choices(tuple(RELATIONS), tuple(RELATIONS.values()))[0]
    elif draw < 0.69:
        groups = _kinds(rng, 3, context)
    elif draw < 0.74:
        groups = _kinds(rng, rng.choice((4, 4, 5)), context)
    elif draw < 0.89:
        groups = _kinds(rng, 1, context)
        groups[0].n = _many(rng, groups[0].thing, 2, 10)
    else:
        groups = _kinds(rng, rng.choice((2, 2, 2, 3)), context)
        left = MAX_THINGS - len(groups) + 1
        groups[0].n = _many(rng, groups[0].thing, 2, left)
        left -= groups[0].n - 1
        if left > 1 and rng.random() < 0.4:
            groups[1].n = rng.randint(2, min(left, 5))
        rng.shuffle(groups)
    _describe(rng, groups, has_relation=bool(relation))
    return groups, relation


def _alike(rng: random.Random, context: str) -> tuple[list[Group], str]:
    """Two of one kind, each with a colour, a size or a place of its own, or one beside the other."""
    thing = rng.choice(priors.CONTEXTS[context] if context else priors.THINGS)
    one, two = Group(thing=thing), Group(thing=thing)
    draw = rng.random()
    if draw < 0.45 and thing in priors.COLOURED:
        one.colour = said_colour(rng, thing)
        two.colour = rng.choice([colour for colour in priors.COLOURS if colour != one.colour])
    elif draw < 0.65:
        one.size, two.size = rng.sample(("small", "large"), 2)
    elif draw < 0.75:
        one.place, two.place = rng.choice((("left", "right"), ("right", "left"), ("top", "bottom")))
        return [one, two], ""
    return [one, two], "next to" if rng.random() < 0.6 else ""


def _kinds(rng: random.Random, n_kinds: int, context: str) -> list[Group]:
    pool = priors.CONTEXTS[context] if context else priors.THINGS
    while True:
        things = rng.sample(pool, n_kinds)
        if not any(is_held_out(a, b) for i, a in enumerate(things) for b in things[:i]):
            return [Group(thing=thing) for thing in things]


def _many(rng: random.Random, thing: str, low: int, high: int) -> int:
    n = rng.randint(low, max(low, high))
    if n > 5 and thing in priors.MANY_SELDOM and rng.random() < 2 / 3:
        n = rng.randint(low, 5)
    return n


def _describe(rng: random.Random, groups: list[Group], *, has_relation: bool) -> None:
    """Give some groups a colour, a size and a place."""
    n_things = sum(group.n for group in groups)
    says_colour = rng.random() < 0.32
    for group in groups:
        if says_colour and group.thing in priors.COLOURED and rng.random() < 0.8:
            group.colour = said_colour(rng, group.thing)
        if n_things <= 4 and rng.random() < 0.07:
            group.size = rng.choice(("small", "large"))
    if not has_relation and n_things <= 5 and rng.random() < (0.16 if len(groups) == 1 else 0.28):
        _place(rng, groups)


def said_colour(rng: random.Random, thing: str) -> str:
    """The colour a caption names for this thing."""
    usual, strength = priors.USUAL_COLOURS.get(thing, ((), 0.0))
    return rng.choice(usual) if rng.random() < strength else rng.choice(priors.COLOURS)


def _place(rng: random.Random, groups: list[Group]) -> None:
    places = ["left", "right"] if rng.random() < 0.5 else ["top", "bottom"]
    if len(groups) > 2 or rng.random() < 0.15:
        places.append("middle")
    rng.shuffle(places)
    if len(groups) > 1 and rng.random() < 0.1:
        groups = groups[:1]
    for group, place in zip(groups, places, strict=False):
        if group.n > 3:
            continue
        usual, _ = priors.USUAL_PLACES.get(group.thing, ("", 0.0))
        if {usual, place} == {"top", "bottom"} and rng.random() > priors.AGAINST_USUAL_PLACE:
            continue
        group.place = place


@dataclass(slots=True, kw_only=True)
class Habits:
    """What a picture allows beside things that stand upright, whole and apart."""

    overlap: float = 0.0
    """How much of the smaller of two boxes may be covered."""
    has_cuts: bool = False
    has_turns: bool = False
    has_odd_sizes: bool = False

    @staticmethod
    def sample(rng: random.Random) -> Habits:
        """At the rates of this world."""
        overlaps = rng.random() < priors.OVERLAP_RATE
        return Habits(
            overlap=rng.uniform(0.05, priors.MOST_OVERLAP) if overlaps else 0.0,
            has_cuts=rng.random() < priors.CUT_RATE,
            has_turns=rng.random() < priors.TURN_RATE,
            has_odd_sizes=rng.random() < priors.ODD_SIZE_RATE,
        )


TIDY = Habits()


def lay_out(
    rng: random.Random, groups: list[Group], relation: str, extents: Extents, habits: Habits = TIDY
) -> list[Placement] | None:
    """Centres, sizes and turns that make the groups true; None when they will not fit."""
    scale, keeps_usual = 1.0, True
    for _ in range(8):
        placements = _sized(rng, groups, scale, habits)
        placed = (
            _related(rng, placements, relation, extents)
            if relation
            else _scatter(rng, groups, placements, extents, habits, keeps_usual=keeps_usual)
        )
        if placed:
            return placements
        scale, keeps_usual = scale * 0.95, False
    return None


def _put_up_sign(rng: random.Random, placements: list[Placement], context: str) -> None:
    """Now and then a plate with a word, behind everything else."""
    rate = priors.SIGN_RATE.get(context, priors.SIGN_RATE_ELSE)
    if rng.random() < rate and len(placements) <= 6:
        size = rng.uniform(0.24, 0.45)
        x, y = rng.uniform(size / 2, 1 - size / 2), rng.uniform(size / 4, 0.6)
        turn = rng.uniform(-0.3, 0.3) if rng.random() < 0.3 else 0.0
        word = rng.choice(priors.SIGNS)
        placements.append(Placement(thing=SIGN, style=word, colour="", x=x, y=y, size=size, turn=turn))


def _sized(rng: random.Random, groups: list[Group], scale: float, habits: Habits) -> list[Placement]:
    n_things = sum(group.n for group in groups)
    low, high = SIZES[n_things]
    smallest = SMALLEST[n_things]
    if habits.has_odd_sizes:
        low, high, smallest = 0.13, (1.0 if n_things == 1 else 1.5 * high), 0.125
    placements = []
    for group in groups:
        style = rng.choice(priors.STYLES[group.thing])
        colour = group.colour or _unsaid_colour(rng, group.thing)
        size = rng.uniform(low, high) * scale * priors.USUAL_SIZES.get(group.thing, 1.0)
        if group.size == "small":
            size = rng.uniform(0.18, 0.18 + 0.25 * (SIZES[n_things][0] - 0.15))
            smallest = min(smallest, 0.18)
        elif group.size == "large":
            size = high * rng.uniform(1.0, 1.14) * scale
        if group.n > 2 and group.place:
            size = min(size, 0.25)
        for _ in range(group.n):
            this = max(smallest, size * rng.uniform(0.95, 1.05))
            turn = math.radians(rng.uniform(-priors.MOST_TURN, priors.MOST_TURN)) if habits.has_turns else 0.0
            placements.append(
                Placement(thing=group.thing, style=style, colour=colour, x=0.5, y=0.5, size=this, turn=turn)
            )
    return placements


def _unsaid_colour(rng: random.Random, thing: str) -> str:
    own = priors.UNSAID_OWN_DRAWING.get(thing, priors.UNSAID_OWN_DRAWING_ELSE)
    return "" if thing not in priors.COLOURED or rng.random() < own else rng.choice(priors.COLOURS)


def _half(placement: Placement, extents: Extents) -> tuple[float, float]:
    """Half the width and height of the box around the drawing as it is turned."""
    width, height = extents[placement.thing, placement.style]
    if placement.turn:
        # Drawings leave the corners of their boxes free, so the turned box is a little too large.
        cos, sin = math.cos(placement.turn), abs(math.sin(placement.turn))
        width, height = width * cos + 0.8 * height * sin, height * cos + 0.8 * width * sin
    return placement.size * width / 2, placement.size * height / 2


BoxOf = tuple[float, float, float, float]
"""Centre, half the width and half the height."""


def _fits(x: float, y: float, half_w: float, half_h: float, boxes: list[BoxOf], overlap: float) -> bool:
    for other_x, other_y, other_w, other_h in boxes:
        across = half_w + other_w - abs(x - other_x)
        down = half_h + other_h - abs(y - other_y)
        if across > 0 and down > 0:
            if not overlap:
                return False
            across, down = min(across, 2 * half_w, 2 * other_w), min(down, 2 * half_h, 2 * other_h)
            if across * down > overlap * 4 * min(half_w * half_h, other_w * other_h):
                return False
    return True


def _scatter(
    rng: random.Random,
    groups: list[Group],
    placements: list[Placement],
    extents: Extents,
    habits: Habits,
    *,
    keeps_usual: bool,
) -> bool:
    """Throw things on the canvas until none covers another by too much; False when that fails."""
    axes = {AXIS[group.place] for group in groups if group.place}
    boxes: list[BoxOf] = []
    rows = iter(placements)
    for group in groups:
        usual = _usual_place(rng, group) if keeps_usual and not axes else ""
        for _ in range(group.n):
            placement = next(rows)
            half_w, half_h = _half(placement, extents)
            x_low, x_high = _range(group.place or usual, "x", half_w, axes)
            y_low, y_high = _range(group.place or usual, "y", half_h, axes)
            if habits.has_cuts and not axes and rng.random() < 0.4:
                cut = 2 * rng.uniform(0.1, priors.MOST_CUT)
                if rng.random() < 0.6:
                    x_low = x_high = rng.choice((half_w * (1 - cut), 1 - half_w * (1 - cut)))
                else:
                    y_low = y_high = rng.choice((half_h * (1 - cut), 1 - half_h * (1 - cut)))
            for _ in range(24):
                x, y = rng.uniform(x_low, x_high), rng.uniform(y_low, y_high)
                if _fits(x, y, half_w, half_h, boxes, habits.overlap):
                    break
            else:
                return False
            placement.x, placement.y = x, y
            boxes.append((x, y, half_w, half_h))
    return True


def _usual_place(rng: random.Random, group: Group) -> str:
    place, strength = priors.USUAL_PLACES.get(group.thing, ("", 0.0))
    return place if rng.random() < strength else ""


def _range(place: str, axis: str, half: float, axes: set[str]) -> tuple[float, float]:
    """Where the centre may lie on this axis."""
    low, high = half + 0.015, 1 - half - 0.015
    if place == "middle" and (axis in axes or not axes - {""}):
        low, high = 0.45, 0.55
    elif AXIS.get(place) == axis:
        low, high = (low, max(low, 0.36)) if place in ("left", "top") else (min(high, 0.64), high)
    return (low, high) if low <= high else (0.5, 0.5)


def _related(rng: random.Random, placements: list[Placement], relation: str, extents: Extents) -> bool:
    """Place two single things in their relation; False when they leave the canvas."""
    first, second = placements
    if relation == "on":
        first.size = min(first.size, second.size * 1.1)
    (w1, h1), (w2, h2) = _half(first, extents), _half(second, extents)
    gap = rng.uniform(0.02, 0.1 if relation == "next to" else 0.2)
    if relation in ("left of", "next to"):
        across = w1 + w2 + gap
        sway = rng.uniform(-0.08, 0.08)
        sign = -1 if relation == "left of" or rng.random() < 0.5 else 1
        dx, dy = sign * across, sway
    elif relation == "above":
        dx, dy = rng.uniform(-0.08, 0.08), -(h1 + h2 + gap)
    elif relation == "in front of":
        # Lower and to one side, so that something of both is seen.
        furthest = 0.85 * (w1 + w2)
        dx = rng.choice((-1, 1)) * rng.uniform(min(max(0.35 * (w1 + w2), w1), furthest), furthest)
        dy = rng.uniform(0.15, 0.5) * h2
    else:
        dx, dy = rng.uniform(-0.4, 0.4) * w2, -(h1 + h2 * 0.94)
    second.x = _between(rng, w2, w1, dx)
    second.y = _between(rng, h2, h1, dy)
    first.x, first.y = second.x + dx, second.y + dy
    return all(
        half_w <= placement.x <= 1 - half_w and half_h <= placement.y <= 1 - half_h
        for placement, half_w, half_h in ((first, w1, h1), (second, w2, h2))
    )


def _between(rng: random.Random, half: float, other_half: float, offset: float) -> float:
    """A centre from which both this thing and one at the offset stay on the canvas, where there is one."""
    low = max(half, other_half - offset) + 0.01
    high = min(1 - half, 1 - other_half - offset) - 0.01
    return rng.uniform(low, high) if low < high else (low + high) / 2
