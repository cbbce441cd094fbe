"""Held-out sentences with what their pictures must show: the questions pocket is measured by.

Frames and, for some categories, pairs of things that no training caption had. A question knows its groups and
relation, so that the same question can be painted by pocket or drawn faultlessly, to see what the detector misses.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations

import pocket_priors as priors
from pocket_captions import NUMBERS, plural
from pocket_world import Group, is_held_out

FRAMES = (
    "{}",
    "there {is} {}",
    "{} in a simple picture",
    "a simple drawing that shows {}",
    "in this scene you see {}",
    "here you can see {} .",
    "please paint a nice picture of {}",
)
"""The first two are everyday ones; the others were in no training caption."""
PLACES = {
    "left": "on the left",
    "right": "on the right",
    "top": "on top",
    "bottom": "on the bottom",
    "middle": "in the middle",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One sentence to paint and what must be seen."""

    category: str
    text: str
    groups: tuple[Group, ...]
    relation: str = ""


def said(group: Group) -> str:
    """The group in the plainest words."""
    rest = f"{group.colour} " if group.colour else ""
    place = f" {PLACES[group.place]}" if group.place else ""
    if group.n > 1:
        return f"{NUMBERS[group.n - 1]} {rest}{plural(group.thing)}{place}"
    noun = f"{rest}{group.thing}{place}"
    if group.thing == "scissors":
        return f"a pair of {noun}"
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def _ask(
    rng: random.Random, category: str, groups: tuple[Group, ...], joint: str = " and ", relation: str = ""
) -> Question:
    body = said(groups[0])
    if len(groups) == 2:
        body = f"{body}{joint}{said(groups[1])}"
    elif len(groups) == 3:
        body = f"{said(groups[0])}, {said(groups[1])} and {said(groups[2])}"
    frame = rng.choice(FRAMES).replace("{is}", "is" if groups[0].n == 1 else "are")
    return Question(category=category, text=frame.replace("{}", body), groups=groups, relation=relation)


def _apart(rng: random.Random, n: int) -> list[str]:
    while True:
        things = rng.sample(priors.THINGS, n)
        if not any(is_held_out(a, b) for a, b in combinations(things, 2)):
            return things


def _one(rng: random.Random, i: int) -> Question:
    return _ask(rng, "one thing", (Group(thing=priors.THINGS[i % len(priors.THINGS)]),))


def _pair(rng: random.Random, _: int) -> Question:
    return _ask(rng, "pair", tuple(Group(thing=thing) for thing in _apart(rng, 2)))


def _held_out_pair(rng: random.Random, i: int) -> Question:
    pairs = [pair for pair in combinations(priors.THINGS, 2) if is_held_out(*pair)]
    things = list(pairs[(i // 2) % len(pairs)])
    return _ask(
        rng, "pair never seen together", tuple(Group(thing=thing) for thing in (things if i % 2 else things[::-1]))
    )


def _triple(rng: random.Random, _: int) -> Question:
    return _ask(rng, "three things", tuple(Group(thing=thing) for thing in _apart(rng, 3)))


def _placed(category: str, places: tuple[str, str]) -> Callable[[random.Random, int], Question]:
    def ask(rng: random.Random, i: int) -> Question:
        first, second = places if i % 2 else places[::-1]
        one, two = _apart(rng, 2)
        return _ask(rng, category, (Group(thing=one, place=first), Group(thing=two, place=second)))

    return ask


def _counted(category: str, low: int, high: int) -> Callable[[random.Random, int], Question]:
    def ask(rng: random.Random, i: int) -> Question:
        return _ask(rng, category, (Group(thing=rng.choice(priors.THINGS), n=low + i % (high - low + 1)),))

    return ask


def _number_and_one(rng: random.Random, i: int) -> Question:
    one, two = _apart(rng, 2)
    groups = [Group(thing=one, n=2 + i % 4), Group(thing=two)]
    return _ask(rng, "two to five and one", tuple(groups if i % 2 else groups[::-1]))


def _coloured(rng: random.Random, i: int) -> Question:
    thing = priors.COLOURED[i % len(priors.COLOURED)]
    return _ask(rng, "coloured thing", (Group(thing=thing, colour=rng.choice(priors.COLOURS)),))


def _two_coloured(rng: random.Random, _: int) -> Question:
    while True:
        one, two = rng.sample(priors.COLOURED, 2)
        if not is_held_out(one, two):
            break
    first, second = rng.sample(priors.COLOURS, 2)
    return _ask(rng, "two coloured things", (Group(thing=one, colour=first), Group(thing=two, colour=second)))


def _related(rng: random.Random, i: int) -> Question:
    relation = ("left of", "above")[i % 2]
    joint = (" to the left of ", " above ")[i % 2]
    return _ask(rng, "left of, above", tuple(Group(thing=thing) for thing in _apart(rng, 2)), joint, relation)


CATEGORIES: dict[str, Callable[[random.Random, int], Question]] = {
    "one thing": _one,
    "pair": _pair,
    "pair never seen together": _held_out_pair,
    "three things": _triple,
    "left and right": _placed("left and right", ("left", "right")),
    "top and bottom": _placed("top and bottom", ("top", "bottom")),
    "counts 1 to 5": _counted("counts 1 to 5", 1, 5),
    "counts 6 to 10": _counted("counts 6 to 10", 6, 10),
    "two to five and one": _number_and_one,
    "coloured thing": _coloured,
    "two coloured things": _two_coloured,
    "left of, above": _related,
}


def questions(n_each: int, seed: int = 2027) -> list[Question]:
    """n_each questions of every category, the same for the same seed."""
    found = []
    for name, ask in CATEGORIES.items():
        rng = random.Random(f"{seed}-{name}")
        found += [ask(rng, i) for i in range(n_each)]
    return found
