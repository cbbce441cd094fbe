"""Whether one formula follows from another, excludes it, or is true of given literals."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from salva.logic.equivalence import is_contradictory
from salva.logic.formula import MAX_COUNT, And, Atom, Formula, Literal, Not, Related, conjunction, largest_counts


def entails(f: Formula, g: Formula, counts: str = "exact") -> bool:
    """Whether every world of f makes g true, by f's own idea of how many things there may be."""
    return is_contradictory(And(_closed(f, counts), Not(g)), "at-least")


def excludes(f: Formula, g: Formula, counts: str = "exact") -> bool:
    """Whether no image is right for both formulas."""
    return is_contradictory(And(_closed(f, counts), _closed(g, counts)), "at-least")


def is_true(f: Formula, holds: Callable[[Literal], bool]) -> bool:
    """Whether a formula is true when its atoms and relations are as said."""
    if isinstance(f, Atom | Related):
        return holds(f)
    if isinstance(f, Not):
        return not is_true(f.part, holds)
    if isinstance(f, And):
        return is_true(f.left, holds) and is_true(f.right, holds)
    return is_true(f.left, holds) or is_true(f.right, holds)


@lru_cache(maxsize=4096)
def _closed(f: Formula, counts: str) -> Formula:
    """The formula with its exactness spelled out, so that what is added to it cannot loosen that."""
    if counts == "at-least":
        return f
    caps = [Not(Atom(entity, n + 1)) for entity, n in largest_counts(f).items() if n < MAX_COUNT]
    return conjunction([f, *caps])
