"""Right images of a formula, as scenes: what a faultless model could show.

A formula and a seed come in, a scene goes out; nothing is drawn as pixels.
"""

from __future__ import annotations

from functools import lru_cache
from random import Random

from salva.core.scene import Scene, Thing
from salva.errors import UsageError
from salva.logic.formula import Atom, Formula, atoms, axis_of
from salva.logic.notation import parse
from salva.logic.order import RANK
from salva.logic.worlds import choose_world

_FEWEST_SLOTS = 6
"""Where a thing can stand on an axis: few, so that many images come down to one scene, and enough for two things to
stand on the same side."""


@lru_cache(maxsize=8192)
def draw_scene(notation: str, seed: str) -> Scene | None:
    """A right image of a formula, each thing in the third of its place; None where there is none to be had."""
    try:
        f = parse(notation)
        # The words are left out: two wordings of one case show the same world.
        world = choose_world(f, Random(seed))
    except UsageError:
        return None
    named = _named(f)
    rng = Random(f"{notation} {seed}")
    n_slots = max(_FEWEST_SLOTS, len(world.things))
    lines = {axis: rng.sample(range(n_slots), len(world.things)) for axis in ("x", "y")}
    things = []
    for number, thing in enumerate(world.things):
        x, y = (
            _at(getattr(thing, axis), named.get((thing.entity, axis), frozenset()), line[number], n_slots)
            for axis, line in lines.items()
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
            named[key] = named.get(key, frozenset()) | {RANK[leaf.place]}
    return named


def _at(place: str | None, named: frozenset[int], slot: int, n_slots: int) -> float:
    """A coordinate in the third of a place; a thing without one stands anywhere."""
    if place is None:
        return (slot + 0.5) / n_slots
    rank = min({0, 1, 2} - named) if place == "elsewhere" else RANK[place]
    return rank / 3 + (slot + 1) / (n_slots + 1) / 3
