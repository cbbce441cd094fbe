"""Which relations can hold together.

Takes how many things of each entity stand where, and relations said to hold or not; answers whether
some arrangement on the two axes and in size has exactly those. Things may share a coordinate or a size, so
neither of two things need be left of the other, or larger. Knows nothing of formulas.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations, pairwise, product
from typing import NamedTuple

from salva.logic.formula import Related
from salva.logic.touching import TOUCHING, Profile, ways_to_touch

RANK = {"left": 0, "x-middle": 1, "middle": 1, "right": 2, "top": 0, "y-middle": 1, "bottom": 2}
"""The order of places on their axis."""

_SWAPPED = {"right_of": "left_of", "below": "above", "smaller_than": "larger_than"}
_AXES = {"left_of": "x", "above": "y", "on": "y", "near": "y"}
_BOTH_WAYS = ("next_to", "near")


class Stack(NamedTuple):
    """So many things of one colour that stand together on an axis."""

    colour: str | None
    rank: int | None
    n: int


class View(NamedTuple):
    """What the relations of an entity can see of its things."""

    most: int
    """The number that stands for itself and all larger ones."""
    colours: frozenset[str]
    """For what colours matter: "" for numbers, x and y for places."""
    axes: frozenset[str]
    """The axes on which places matter."""


def view_of(entity: str, relations: Iterable[Related]) -> View | None:
    """What these relations can see of an entity; None where it stands in none of them."""
    lows, highs, touching = [0], [0], [0]
    colours: set[str] = set()
    axes: set[str] = set()
    for relation in map(canonical, relations):
        sides = zip(relation.sides(), (lows, highs), strict=True)
        for side, ends in ((side, ends) for side, ends in sides if side.entity == entity):
            axis = _AXES.get(relation.relation, "")
            axes.add(axis)
            colours |= {axis, ""} if side.colour else set()
            # What is near may be on the other or beneath it.
            for some in (lows, highs) if relation.relation == "near" else (ends,):
                some.append(side.count)
            touching.append(side.count + 1 if relation.relation in TOUCHING else 0)
    most = max(max(lows) + max(highs), *touching)
    return View(most, frozenset(colours), frozenset(axes)) if most else None


def canonical(relation: Related) -> Related:
    """The one form of a relation that can be said in two ways."""
    if relation.relation in _SWAPPED:
        return relation.turned(_SWAPPED[relation.relation])
    # Two cats, each next to a dog: not a dog that is next to two cats.
    is_of_one = relation.first_side.count == relation.second_side.count == 1
    if relation.relation in _BOTH_WAYS and is_of_one and _name(relation.turned(relation.relation)) < _name(relation):
        return relation.turned(relation.relation)
    return relation


def _name(relation: Related) -> tuple[str, str]:
    return relation.first, relation.first_side.colour or ""


def is_consistent(profiles: Mapping[str, Profile], said: Sequence[tuple[Related, bool]]) -> bool:
    """Whether some arrangement of the things makes exactly these (canonical) relations true and false."""
    for relation, holds in said:
        if holds and any(profiles[side.entity].number(side.colour) < side.count for side in relation.sides()):
            return False
    left_of = [(r, holds) for r, holds in said if r.relation == "left_of"]
    above = [(r, holds) for r, holds in said if r.relation == "above"]
    larger = [(r, holds) for r, holds in said if r.relation == "larger_than"]
    sizes = {e: tuple(Stack(colour, None, n) for colour, n in p.totals) for e, p in profiles.items()}
    return (
        (not left_of or any(_can_be_lined_up(stacks, left_of) for stacks in _rankings(profiles, "x")))
        and (not larger or _can_be_lined_up(sizes, larger))
        # What is on something is above it as well.
        and any(
            not (above or on) or any(_can_be_lined_up(stacks, [*above, *on]) for stacks in _rankings(profiles, "y"))
            for on in ways_to_touch(profiles, said)
        )
    )


class _Line(NamedTuple):
    """A stack as points of an axis, the first one lowest."""

    stack: Stack
    points: range


_Order = tuple[list[tuple[int, int]], list[tuple[int, int]]]
"""Points that are at most as far as others, and points that are before others."""


def _can_be_lined_up(stacks: Mapping[str, Sequence[Stack]], said: Sequence[tuple[Related, bool]]) -> bool:
    lines: dict[str, list[_Line]] = {}
    n_points = 0
    for entity, of_entity in stacks.items():
        lines[entity] = []
        for stack in of_entity:
            lines[entity].append(_Line(stack, range(n_points, n_points + stack.n)))
            n_points += stack.n
    everywhere = [line for of_entity in lines.values() for line in of_entity]
    loose = [pair for line in everywhere for pair in pairwise(line.points)]
    ranked = [(line.stack.rank, line.points) for line in everywhere if line.stack.rank is not None]
    strict = [(a[-1], b[0]) for rank, a in ranked for other, b in ranked if rank < other]
    options = [list(_orders(lines, relation, holds)) for relation, holds in said]
    options.sort(key=len)
    return _has_a_choice(n_points, loose, strict, options)


def _orders(lines: Mapping[str, Sequence[_Line]], relation: Related, holds: bool) -> Iterator[_Order]:
    """What makes a relation true or false: the lowest of its first side are before the highest of its second.

    It is false where all but fewer of the lowest are not before all but fewer of the highest.
    """
    first, second = (
        [line.points for line in lines[side.entity] if side.colour in (None, line.stack.colour)]
        for side in relation.sides()
    )
    n, m = relation.first_side.count, relation.second_side.count
    if holds:
        for lows, highs in product(_parted(first, n), _parted(second, m)):
            ends = [a[i - 1] for a, i in zip(first, lows, strict=True) if i]
            yield [], [(end, b[-j]) for end in ends for b, j in zip(second, highs, strict=True) if j]
        return
    for lows, highs in product(_parted(first, n - 1), _parted(second, m - 1)):
        rest = [a[i] for a, i in zip(first, lows, strict=True) if i < len(a)]
        yield [(b[-1 - j], start) for start in rest for b, j in zip(second, highs, strict=True) if j < len(b)], []


def _parted(lines: Sequence[range], n: int) -> Iterator[tuple[int, ...]]:
    """Every way to take so many points from some lines; all of them where there are fewer."""
    n = min(n, sum(map(len, lines)))
    ways = (range(min(n, len(line)) + 1) for line in lines)
    return (taken for taken in product(*ways) if sum(taken) == n)


def _rankings(profiles: Mapping[str, Profile], axis: str) -> Iterator[dict[str, tuple[Stack, ...]]]:
    """Where the things of each entity can stand on an axis, by rank: elsewhere is any place not named for them."""
    ways: list[list[tuple[Stack, ...]]] = []
    for profile in profiles.values():
        by_stack = [
            list(_elsewhere(colour, n, getattr(profile, f"unnamed_{axis}"), profile.most))
            if place == "elsewhere"
            else [(Stack(colour, RANK[place] if place else None, n),)]
            for colour, place, n in getattr(profile, axis)
        ]
        ways.append([tuple(stack for stacks in chosen for stack in stacks) for chosen in product(*by_stack)])
    for chosen in product(*ways):
        yield dict(zip(profiles, chosen, strict=True))


def _elsewhere(colour: str | None, n: int, ranks: Sequence[int], most: int) -> Iterator[tuple[Stack, ...]]:
    """Where so many things can stand that are at no named place: together or apart."""
    for rank in ranks:
        yield (Stack(colour, rank, n),)
    for (a, b), i in product(combinations(ranks, 2), range(1, most + 1)):
        for j in range(max(1, n - i), (most if n == most else n - i) + 1):
            yield Stack(colour, a, i), Stack(colour, b, j)


def _has_a_choice(
    n_points: int, loose: list[tuple[int, int]], strict: list[tuple[int, int]], options: Sequence[Sequence[_Order]]
) -> bool:
    """Whether one order of each option can be added."""
    n_sure = next((i for i, orders in enumerate(options) if len(orders) != 1), len(options))
    loose = [*loose, *(pair for orders in options[:n_sure] for pair in orders[0][0])]
    strict = [*strict, *(pair for orders in options[:n_sure] for pair in orders[0][1])]
    if not _is_ordered(n_points, loose, strict):
        return False
    if n_sure == len(options):
        return True
    first, rest = options[n_sure], options[n_sure + 1 :]
    return any(_has_a_choice(n_points, [*loose, *more], [*strict, *sure], rest) for more, sure in first)


def _is_ordered(n_points: int, loose: list[tuple[int, int]], strict: list[tuple[int, int]]) -> bool:
    """Whether points exist with every (a, b) of loose at a <= b and of strict at a < b."""
    reach = [1 << point for point in range(n_points)]
    for a, b in loose:
        reach[a] |= 1 << b
    for a, b in strict:
        reach[a] |= 1 << b
    for middle in range(n_points):
        beyond = reach[middle]
        for point in range(n_points):
            if reach[point] >> middle & 1:
                reach[point] |= beyond
    return all(a != b and not reach[b] >> a & 1 for a, b in strict)
