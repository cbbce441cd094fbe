"""What pictures that have nothing to do with their prompts would get: every picture in the place of another.

Cases in, the rate a shuffled faultless painter would have. Worlds of each prompt are painted in thought, each thing in
its third, and held against other prompts of the same suite.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from random import Random

from salva.core.case import Case
from salva.core.fingerprint import fingerprint
from salva.core.scene import Scene, Thing
from salva.errors import UsageError
from salva.logic.formula import Atom, Formula, atoms, axis_of
from salva.logic.notation import parse
from salva.logic.satisfaction import satisfies
from salva.logic.worlds import choose_world

MOST_CASES = 120
"""Of more cases so many are shuffled, spread over the categories and the same ones each time."""
_RANK = {"left": 0, "top": 0, "middle": 1, "right": 2, "bottom": 2}


def chance_of(cases: Sequence[Case], reading: str = "exact") -> float | None:
    """The mean over categories of how often a pair is wrong with another pair's pictures; None with fewer than two."""
    spread = _spread(cases) if len(cases) > MOST_CASES else cases
    usable = [case for case in spread if all(_painted(prompt.formula or "") for prompt in case.prompts)]
    by_category: dict[str, list[float]] = {}
    for case in usable:
        others = [other for other in usable if other is not case and len(other.prompts) == len(case.prompts)]
        if others:
            wrong = sum(not _is_right(case, other, reading) for other in others) / len(others)
            by_category.setdefault(case.category, []).append(wrong)
    shares = [sum(group) / len(group) for group in by_category.values()]
    return sum(shares) / len(shares) if shares else None


def _spread(cases: Sequence[Case]) -> list[Case]:
    """As many as are shuffled, each category in turn."""
    by_category: dict[str, list[Case]] = {}
    for case in sorted(cases, key=lambda case: fingerprint([case.case_id])):
        by_category.setdefault(case.category, []).append(case)
    turns = max(map(len, by_category.values()))
    dealt = [group[turn] for turn in range(turns) for group in by_category.values() if turn < len(group)]
    return dealt[:MOST_CASES]


def _is_right(case: Case, other: Case, reading: str) -> bool:
    """Whether another case's right pictures are right for this one."""
    for mine, theirs in zip(case.prompts, other.prompts, strict=True):
        scene = _painted(theirs.formula or "")
        if scene is None or not satisfies(parse(mine.formula or ""), scene, reading):
            return False
    return True


@lru_cache(maxsize=8192)
def _painted(notation: str) -> Scene | None:
    """One right picture of a formula, each thing in the third of its place; None where there is none to be had."""
    try:
        f = parse(notation)
        world = choose_world(f, Random(notation))
    except UsageError:
        return None
    named = _named(f)
    things = []
    for number, thing in enumerate(world.things):
        x, y = (
            _at(getattr(thing, axis), named.get((thing.entity, axis), frozenset()), number, len(world.things))
            for axis in ("x", "y")
        )
        box = (x - 0.02, y - 0.02, x + 0.02, y + 0.02)
        colour = thing.colour if thing.colour != "other" else "gray"
        things.append(Thing(label=thing.entity, box=box, colour=colour))
    return Scene(things=tuple(things))


def _named(f: Formula) -> dict[tuple[str, str], frozenset[int]]:
    named: dict[tuple[str, str], frozenset[int]] = {}
    for leaf in atoms(f):
        if isinstance(leaf, Atom) and leaf.place:
            key = (leaf.entity, axis_of(leaf.place))
            rank = _RANK[leaf.place.removeprefix("x-").removeprefix("y-")]
            named[key] = named.get(key, frozenset()) | {rank}
    return named


def _at(place: str | None, named: frozenset[int], number: int, n_things: int) -> float:
    """A coordinate in the third of a place; a thing without one stands in line with the others."""
    if place is None:
        return (number + 0.5) / n_things
    rank = min({0, 1, 2} - named) if place == "elsewhere" else _RANK[place]
    return rank / 3 + (number + 1) / (n_things + 1) / 3
