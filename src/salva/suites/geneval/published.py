"""GenEval's published rules: boxes and clauses in, right or wrong and the reasons out.

To the letter, generous as they are: at least so many, the most confident boxes alone, nothing suppressed. The two rules
that people train on stand with them. Pure: the source of colours is handed in as a function of the boxes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import hypot
from typing import Literal, get_args

PUBLISHED, RL_STRICT, RL_SCORE = "published", "rl-strict", "rl-score"
RULES = (PUBLISHED, RL_STRICT, RL_SCORE)

COUNTING = "counting"
THRESHOLD, COUNTING_THRESHOLD = 0.3, 0.9
MOST_BOXES = 16
Colour = Literal["red", "orange", "yellow", "green", "blue", "purple", "pink", "brown", "black", "white"]
COLOURS: tuple[Colour, ...] = get_args(Colour)
Position = Literal["left of", "right of", "above", "below"]
POSITIONS: tuple[Position, ...] = get_args(Position)
LEFT, RIGHT, ABOVE, BELOW = POSITIONS
OTHER_SIDES: Mapping[str, str] = {LEFT: RIGHT, RIGHT: LEFT, ABOVE: BELOW, BELOW: ABOVE}

_OVERLAP, _BESIDE, _NEAR_ZERO = 0.1, 0.5, 1e-3
"""How much of both sizes two centres may be apart and count as not apart; which share of their distance an axis must
have; below which distance in pixels there is none."""

MISSING, TOO_MANY, COLOUR, POSITION, NO_TARGET = "missing", "too many", "colour", "position", "no target"


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """One entity that a prompt wants, or wants fewer of."""

    name: str
    """As the metadata spells the class."""
    count: int
    colour: str = ""
    position: str = ""
    """How it stands to another; empty for anywhere."""
    target: int = 0
    """Which of the included clauses it stands so to, counted from 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """What one prompt asks for, as the metadata says it."""

    tag: str
    include: tuple[Clause, ...]
    exclude: tuple[Clause, ...] = ()
    """Each is broken by as many of the entity as it counts."""

    @property
    def threshold(self) -> float:
        """The score that a box must be above, by this rule."""
        return COUNTING_THRESHOLD if self.tag == COUNTING else THRESHOLD


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenBox:
    """A box in pixels."""

    name: str
    score: float
    box: tuple[float, float, float, float]


ColourReader = Callable[[Sequence[SeenBox]], Sequence[str]]
"""The colours of boxes of one class, in their order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """Why an image is wrong."""

    kind: str
    name: str
    message: str
    """In the words of the published program."""
    expected: str = ""
    seen: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    """What a rule says of one image."""

    faults: tuple[Fault, ...] = ()
    score: float = 0.0
    """Partial credit by rl-score; by the other rules 1 or 0."""

    @property
    def is_right(self) -> bool:
        """Whether nothing is wrong."""
        return not self.faults

    @property
    def reason(self) -> str:
        """A line for each fault."""
        return "\n".join(fault.message for fault in self.faults)


def kept_boxes(boxes: Sequence[SeenBox], threshold: float) -> dict[str, list[SeenBox]]:
    """By class the boxes above a threshold, the most confident first, sixteen at most."""
    kept: dict[str, list[SeenBox]] = {}
    # Of equal scores the later one first, as in the published program.
    for box in sorted(boxes, key=lambda one: one.score)[::-1]:
        if box.score > threshold and len(group := kept.setdefault(box.name, [])) < MOST_BOXES:
            group.append(box)
    return kept


def positions_of(one: tuple[float, float, float, float], other: tuple[float, float, float, float]) -> tuple[str, ...]:
    """How a box stands to another: what is far enough on an axis, less a tenth of both sizes; in alphabetical order."""
    apart, reduced = [], []
    for low, high in ((0, 2), (1, 3)):
        distance = (one[low] + one[high]) / 2 - (other[low] + other[high]) / 2
        sizes = abs(one[high] - one[low]) + abs(other[high] - other[low])
        apart.append(distance)
        left = max(abs(distance) - _OVERLAP * sizes, 0.0)
        reduced.append(left if distance > 0 else -left)
    if all(abs(distance) < _NEAR_ZERO for distance in reduced):
        return ()
    x, y = (distance / hypot(*apart) for distance in reduced)
    positions = {ABOVE: y < -_BESIDE, BELOW: y > _BESIDE, LEFT: x < -_BESIDE, RIGHT: x > _BESIDE}
    return tuple(name for name, holds in positions.items() if holds)


def judge_published(demand: Demand, boxes: Sequence[SeenBox], colours: ColourReader) -> Ruling:
    """The published evaluation of one image."""
    kept = kept_boxes(boxes, demand.threshold)
    faults: list[Fault] = []
    groups: list[Sequence[SeenBox] | None] = []
    for clause in demand.include:
        # Whatever else is there plays no part: colour and position consider the most confident alone.
        named = kept.get(clause.name, [])[: clause.count]
        if len(named) < clause.count:
            wrong = [_counted(MISSING, clause, ">=", len(named))]
        else:
            wrong = _checked(clause, named, groups, colours, ">=")
        faults += wrong
        groups.append(None if wrong else named)
    faults += [
        _counted(TOO_MANY, clause, "<", len(kept[clause.name]))
        for clause in demand.exclude
        if len(kept.get(clause.name, ())) >= clause.count
    ]
    return Ruling(faults=tuple(faults), score=float(not faults))


def judge_strictly(
    demand: Demand, boxes: Sequence[SeenBox], colours: ColourReader, *, is_partial: bool = False
) -> Ruling:
    """The rules that models are trained on: exact numbers, and every box counts.

    is_partial: a part pays, the mean credit of what each clause says. A number gets 1 less its error relative to what
    was asked for, no less than 0; so does a colour; a position all or nothing, once. What cannot be judged because the
    number is wrong gets 0.
    """
    kept = kept_boxes(boxes, demand.threshold)
    faults: list[Fault] = []
    earned: list[float] = []
    groups: list[Sequence[SeenBox] | None] = []
    for clause in demand.include:
        named = kept.get(clause.name, [])
        earned.append(_credit(clause.count, len(named)))
        if len(named) != clause.count:
            wrong = [_counted(MISSING if len(named) < clause.count else TOO_MANY, clause, "==", len(named))]
            earned += [0.0] if clause.colour or clause.position else []
        else:
            wrong = _checked(clause, named, groups, colours, "==", earned)
        faults += wrong
        groups.append(None if wrong else named)
    score = sum(earned) / len(earned) if is_partial and earned else float(not faults)
    return Ruling(faults=tuple(faults), score=score)


def _checked(
    clause: Clause,
    named: Sequence[SeenBox],
    groups: Sequence[Sequence[SeenBox] | None],
    colours: ColourReader,
    sign: str,
    credit: list[float] | None = None,
) -> list[Fault]:
    """What is wrong with the colours, and where these are right with the positions, of boxes that are there."""
    earned = credit if credit is not None else []
    if clause.colour:
        shown_colours = list(colours(named))
        earned.append(_credit(clause.count, shown_colours.count(clause.colour)))
        if shown_colours.count(clause.colour) < clause.count:
            return [_wrong_colour(clause, shown_colours, sign)]
    if not clause.position:
        return []
    targets = groups[clause.target]
    fault = _no_target(clause) if targets is None else _wrong_position(clause, named, targets)
    earned.append(0.0 if fault else 1.0)
    return [fault] if fault else []


def _credit(asked: int, seen: int) -> float:
    return max(0.0, 1 - abs(asked - seen) / asked)


def _counted(kind: str, clause: Clause, sign: str, n: int) -> Fault:
    return Fault(
        kind=kind,
        name=clause.name,
        message=f"expected {clause.name}{sign}{clause.count}, found {n}",
        expected=f"{sign}{clause.count}",
        seen=str(n),
    )


def _wrong_colour(clause: Clause, shown_colours: Sequence[str], sign: str) -> Fault:
    others = sorted(set(shown_colours) - set(COLOURS))
    seen = ", ".join(
        f"{shown_colours.count(colour)} {colour}" for colour in (*COLOURS, *others) if colour in shown_colours
    )
    counted = f"found {shown_colours.count(clause.colour)} {clause.colour}; and {seen}"
    message = f"expected {clause.colour} {clause.name}{sign}{clause.count}, {counted}"
    return Fault(kind=COLOUR, name=clause.name, message=message, expected=clause.colour, seen=seen)


def _no_target(clause: Clause) -> Fault:
    message = f"no target for {clause.name} to be {clause.position}"
    return Fault(kind=NO_TARGET, name=clause.name, message=message, expected=clause.position)


def _wrong_position(clause: Clause, named: Sequence[SeenBox], targets: Sequence[SeenBox]) -> Fault | None:
    """The first of the boxes that does not stand to one of the targets as it should."""
    for box in named:
        for target in targets:
            seen = positions_of(box.box, target.box)
            if clause.position not in seen:
                where = " and ".join(seen)
                message = f"expected {clause.name} {clause.position} target, found {where} target"
                return Fault(
                    kind=POSITION, name=clause.name, message=message, expected=clause.position, seen=where or "neither"
                )
    return None


_SIDES = "|".join(POSITIONS)
_WORDS = {
    MISSING: re.compile(
        r"expected (?P<name>.+?)(?P<expected>(?P<sign>>=|==|<)(?P<count>[0-9]{1,9})), found (?P<seen>[0-9]{1,9})"
    ),
    COLOUR: re.compile(
        r"expected (?P<expected>\S+) (?P<name>.+?)(>=|==)\d+, found \d+ (?P=expected); and (?P<seen>.+)",
    ),
    POSITION: re.compile(rf"expected (?P<name>.+) (?P<expected>{_SIDES}) target, found (?P<seen>.*) target"),
    NO_TARGET: re.compile(rf"no target for (?P<name>.+) to be (?P<expected>{_SIDES})"),
}
"""How the program says that something is wrong; numbers that are too high are said as those that are too low."""
_LONGEST_LINE = 1000


def fault_in(line: str) -> Fault | None:
    """The fault that a line of a reason states; None for words that we do not know."""
    for kind, words in _WORDS.items() if len(line) <= _LONGEST_LINE else ():
        if match := words.fullmatch(line):
            parts = match.groupdict()
            if kind == MISSING and (parts["sign"] == "<" or int(parts["seen"]) > int(parts["count"])):
                kind = TOO_MANY
            seen = parts.get("seen", "") or ("neither" if kind == POSITION else "")
            return Fault(kind=kind, name=parts["name"], message=line, expected=parts["expected"], seen=seen)
    return None


JUDGES: Mapping[str, Callable[[Demand, Sequence[SeenBox], ColourReader], Ruling]] = {
    PUBLISHED: judge_published,
    RL_STRICT: judge_strictly,
    RL_SCORE: partial(judge_strictly, is_partial=True),
}
