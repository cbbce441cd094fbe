"""Laws applied to a formula, at any position and in both directions.

A formula comes in, equivalent formulas come out one by one, each proven: a rewrite that drops the
only mention of a larger number changes what exactness allows, and is not offered.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from salva.logic.equivalence import are_equivalent
from salva.logic.formula import MAX_DEPTH, And, Atom, Formula, Not, Or, Related, depth
from salva.logic.laws import Law, find_laws
from salva.logic.notation import parse

Position = tuple[int, ...]
"""The way down from the root: 0 is the left (or only) part, 1 the right one."""

Direction = Literal["forward", "backward"]
"""forward reads the law from left to right."""
_DIRECTIONS: tuple[Direction, ...] = ("forward", "backward")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewrite:
    """A formula made from another by one law at one position."""

    law: Law
    position: Position
    formula: Formula
    """The whole formula after the rewrite."""
    direction: Direction


def rewrites(f: Formula, law: str | None = None) -> Iterator[Rewrite]:
    """Every formula one application of a law away, or of one law or family; each different one once.

    Saying a thing twice (idempotence, backward) fits everywhere and is only done when asked for.
    """
    laws = find_laws(law)
    seen: set[tuple[str, Formula]] = set()
    for position, part in _parts(f):
        for candidate in laws:
            for direction in _DIRECTIONS:
                source, goal = _patterns(candidate)[:: 1 if direction == "forward" else -1]
                if law is None and candidate.family == "idempotence" and direction == "backward":
                    continue
                bound = _match(source, part, {})
                variables = {part.entity for _, part in _parts(goal) if isinstance(part, Atom)}
                if bound is None or not variables <= bound.keys():
                    continue
                made = _replace(f, position, _fill(goal, bound))
                if made == f or (candidate.name, made) in seen or depth(made) > MAX_DEPTH:
                    continue
                seen.add((candidate.name, made))
                if are_equivalent(f, made):
                    yield Rewrite(law=candidate, position=position, formula=made, direction=direction)


@lru_cache(maxsize=256)
def _patterns(law: Law) -> tuple[Formula, Formula]:
    # Entities are lower case in the notation, so the variables are one-letter entities in a pattern.
    return parse(law.left.lower()), parse(law.right.lower())


def _parts(f: Formula, position: Position = ()) -> Iterator[tuple[Position, Formula]]:
    yield position, f
    if isinstance(f, Not):
        yield from _parts(f.part, (*position, 0))
    elif isinstance(f, And | Or):
        yield from _parts(f.left, (*position, 0))
        yield from _parts(f.right, (*position, 1))


def _match(pattern: Formula, f: Formula, bound: dict[str, Formula]) -> dict[str, Formula] | None:
    """What the variables stand for when the pattern is this formula; None when it is not."""
    if isinstance(pattern, Atom):
        known = bound.get(pattern.entity)
        if known is None:
            return {**bound, pattern.entity: f}
        return bound if known == f else None
    if isinstance(pattern, Not):
        return _match(pattern.part, f.part, bound) if isinstance(f, Not) else None
    assert not isinstance(pattern, Related)
    # The connective is compared by class, so that one branch serves And and Or.
    if not isinstance(f, And | Or) or type(f) is not type(pattern):
        return None
    left = _match(pattern.left, f.left, bound)
    return None if left is None else _match(pattern.right, f.right, left)


def _fill(pattern: Formula, bound: dict[str, Formula]) -> Formula:
    if isinstance(pattern, Atom):
        return bound[pattern.entity]
    if isinstance(pattern, Not):
        return Not(_fill(pattern.part, bound))
    assert not isinstance(pattern, Related)
    return type(pattern)(_fill(pattern.left, bound), _fill(pattern.right, bound))


def _replace(f: Formula, position: Position, part: Formula) -> Formula:
    if not position:
        return part
    step, *rest = position
    if isinstance(f, Not):
        return Not(_replace(f.part, tuple(rest), part))
    assert isinstance(f, And | Or)
    if step == 0:
        return type(f)(_replace(f.left, tuple(rest), part), f.right)
    return type(f)(f.left, _replace(f.right, tuple(rest), part))
