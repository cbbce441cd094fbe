"""Which things can be on, next to and near each other.

Takes how many things of each entity there are and relations said to hold or not; gives the ways in which things can
touch that make just these true. Between two things one relation can hold: one is on the other, or it is next to it.
Geometry beyond that is none of its concern; order.py lines up what is on something.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, combinations, product
from typing import NamedTuple

from salva.core.grouping import group_by
from salva.errors import UsageError
from salva.logic.formula import Atom, Related
from salva.messages import message

TOUCHING = ("next_to", "on", "near")
_MAX_STEPS = 2_000

_Thing = tuple[str, str | None, int]
"""Entity, colour and a number that tells it from others alike."""
_Touches = dict[tuple[_Thing, _Thing], str]
"""By pair: next_to (both ways round), or on (the upper thing first)."""


class Profile(NamedTuple):
    """How many things of one entity there are, by colour and by place; colours only where a relation asks for one."""

    totals: tuple[tuple[str | None, int], ...]
    """(colour, number) for each colour that there is."""
    x: tuple[tuple[str | None, str | None, int], ...]
    """(colour, place, number) for each place of the axis that has any; no place where none is named."""
    y: tuple[tuple[str | None, str | None, int], ...]
    most: int
    """The number that stands for itself and all larger ones."""
    unnamed_x: tuple[int, ...] = ()
    """The ranks that "elsewhere" can have: those of the places that are not named for the entity."""
    unnamed_y: tuple[int, ...] = ()

    def number(self, colour: str | None) -> int:
        """How many things have this colour; all of them for None."""
        return sum(n for of_colour, n in self.totals if colour in (None, of_colour))


def ways_to_touch(
    numbers: Mapping[str, Profile], said: Sequence[tuple[Related, bool]]
) -> Iterator[list[tuple[Related, bool]]]:
    """For each way that makes the relations true and false: everything that is on something, as above."""
    touching = (claim for claim in said if claim[0].relation in TOUCHING)
    by_pair = group_by(touching, lambda claim: frozenset((claim[0].first, claim[0].second)))
    for ways in product(*(list(_of_pair(numbers, of_pair)) for of_pair in by_pair.values())):
        yield [(relation, True) for relation in chain.from_iterable(ways)]


def _of_pair(numbers: Mapping[str, Profile], said: Sequence[tuple[Related, bool]]) -> Iterator[list[Related]]:
    """The ways for the things of two entities; what is near is next to the other, on it or beneath it."""
    touching = [r for r, holds in said if holds and r.relation != "near"]
    denied = [r for r, holds in said if not holds]
    claims = [[(r, "first")] for r in touching]
    claims += [
        [(_as(r, kind), upper) for kind, upper in (("next_to", "first"), ("on", "first"), ("on", "second"))]
        for r, holds in said
        if holds and r.relation == "near"
    ]
    # The largest number stands for any larger one: there are as many as could be asked for.
    n_wanted = sum(r.first_side.count * (1 + r.second_side.count) for (r, _), *_ in claims)
    things = [
        (entity, colour, i)
        for entity in dict.fromkeys(side.entity for r, _ in said for side in r.sides())
        for colour, n in numbers[entity].totals
        for i in range(n if n < numbers[entity].most else max(n, n_wanted))
    ]
    steps = iter(range(_MAX_STEPS))
    for chosen in product(*claims):
        if _can_touch(things, chosen, denied, {}, steps):
            yield [
                _as(r, "above") if upper == "first" else r.turned("above") for r, upper in chosen if r.relation == "on"
            ]


def _as(relation: Related, kind: str) -> Related:
    return Related(kind, relation.first, relation.second, relation.first_side, relation.second_side)


def _can_touch(
    things: Sequence[_Thing],
    claims: Sequence[tuple[Related, str]],
    denied: Sequence[Related],
    touches: _Touches,
    steps: Iterator[int],
) -> bool:
    """Whether things can be chosen for each claim so that no two touch in two ways and nothing denied is true."""
    if next(steps, None) is None:
        raise UsageError(message("formula-too-large"))
    if any(_holds(relation, things, touches) for relation in denied):
        return False
    if not claims:
        return True
    (relation, upper), *rest = claims
    first, second = ([thing for thing in things if _is_of(thing, side)] for side in relation.sides())
    for chosen in _choices(first, relation.first_side.count, touches):
        used = {**touches, **{(a, a): "" for a in chosen}}
        for others in _others(second, relation.second_side.count, used, len(chosen)):
            pairs = ((a, b) for a, of_a in zip(chosen, others, strict=True) for b in of_a)
            more = _with(touches, relation.relation, pairs if upper == "first" else ((b, a) for a, b in pairs))
            if more is not None and _can_touch(things, rest, denied, more, steps):
                return True
    return False


def _choices(things: Sequence[_Thing], n: int, touches: _Touches) -> Iterator[tuple[_Thing, ...]]:
    """Ways to choose so many things; of those alike that touch nothing yet, the first ones."""
    used = {thing for pair in touches for thing in pair}
    for chosen in combinations(things, n):
        fresh = [thing for thing in chosen if thing not in used]
        if all(other in used or other in fresh for a in fresh for other in things if other[:2] == a[:2] and other < a):
            yield chosen


def _others(things: Sequence[_Thing], n: int, touches: _Touches, times: int) -> Iterator[list[tuple[_Thing, ...]]]:
    """Ways to choose so many things so many times, one choice after the other."""
    if not times:
        yield []
        return
    for chosen in _choices(things, n, touches):
        used = {**touches, **{(a, a): "" for a in chosen}}
        for rest in _others(things, n, used, times - 1):
            yield [chosen, *rest]


def _with(touches: _Touches, kind: str, pairs: Iterable[tuple[_Thing, _Thing]]) -> _Touches | None:
    """The touches with these as well; None where two things would touch in two ways."""
    made = dict(touches)
    for a, b in pairs:
        if made.get((a, b), kind) != kind or made.get((b, a), kind) != kind:
            return None
        made[a, b] = kind
        if kind == "next_to":
            made[b, a] = kind
    return made


def _holds(relation: Related, things: Sequence[_Thing], touches: _Touches) -> bool:
    first, second = ([thing for thing in things if _is_of(thing, side)] for side in relation.sides())

    def is_so(a: _Thing, b: _Thing) -> bool:
        if relation.relation == "near":
            return (a, b) in touches or (b, a) in touches
        return touches.get((a, b)) == relation.relation

    n_so = sum(sum(is_so(a, b) for b in second) >= relation.second_side.count for a in first)
    return n_so >= relation.first_side.count


def _is_of(thing: _Thing, side: Atom) -> bool:
    return thing[0] == side.entity and side.colour in (None, thing[1])
