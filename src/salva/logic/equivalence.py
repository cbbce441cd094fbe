"""Whether two formulas say the same, and what tells them apart when they do not.

Two formulas are equivalent when they have the same worlds over their joint vocabulary. Each keeps
its own exactness for what it mentions; what only one of them mentions is held to that one's caps,
so that `cat & (cat | dog)` says the same as `cat`. Decided, never sampled.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from salva.logic.diagram import Diagram
from salva.logic.formula import Formula
from salva.logic.worlds import World, count_worlds, world_at


@dataclass(frozen=True, slots=True, kw_only=True)
class Witness:
    """A world that tells two formulas apart."""

    world: World
    holds_for: Literal[1, 2]
    """Which of the two formulas has this world."""


def are_equivalent(f: Formula, g: Formula, counts: str = "exact") -> bool:
    """Whether both formulas have the same worlds."""
    return witness(f, g, counts) is None


@lru_cache(maxsize=4096)
def witness(f: Formula, g: Formula, counts: str = "exact") -> Witness | None:
    """A world of one formula that is none of the other; None when they are equivalent."""
    found = Diagram((f, g), counts).difference()
    if found is None:
        return None
    path, index = found
    return Witness(world=world_at(path), holds_for=2 if index else 1)


def is_determinate(f: Formula, counts: str = "exact") -> bool:
    """Whether exactly one world makes the formula true."""
    return count_worlds(f, counts) == 1


def is_contradictory(f: Formula, counts: str = "exact") -> bool:
    """Whether no world makes the formula true."""
    return count_worlds(f, counts) == 0
