"""Which relations can hold together.

Takes how many things of each entity stand where, and relations said to hold or not; answers whether
some arrangement on the two axes and in size has exactly those. Things may share a coordinate or a size, so
neither of two things need be left of the other, or larger. Knows nothing of formulas.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, product
from typing import NamedTuple

from salva.logic.formula import Related

RANK = {"left": 0, "x-middle": 1, "middle": 1, "right": 2, "top": 0, "y-middle": 1, "bottom": 2}
"""The order of places on their axis."""

_SWAPPED = {"right_of": "left_of", "below": "above", "smaller_than": "larger_than"}
_BOTH_WAYS = ("next_to", "near")


class Profile(NamedTuple):
    """How many things of one entity there are, and at which places: 0, 1 or 2 for several."""

    total: int
    x: tuple[tuple[str | None, int], ...]
    """(place, number) for each place of the axis that has any; None where no place of the axis is named."""
    y: tuple[tuple[str | None, int], ...]
    unnamed_x: tuple[int, ...] = ()
    """The ranks that "elsewhere" can have: those of the places that are not named for the entity."""
    unnamed_y: tuple[int, ...] = ()


def canonical(relation: Related) -> Related:
    """The one form of a relation that can be said in two ways."""
    if relation.relation in _SWAPPED:
        return Related(_SWAPPED[relation.relation], relation.second, relation.first)
    if relation.relation in _BOTH_WAYS and relation.first > relation.second:
        return Related(relation.relation, relation.second, relation.first)
    return relation


def is_consistent(profiles: Mapping[str, Profile], said: Sequence[tuple[Related, bool]]) -> bool:
    """Whether some arrangement of the things makes exactly these (canonical) relations true and false."""
    for relation, holds in said:
        if holds and not (profiles[relation.first].total and profiles[relation.second].total):
            return False
    if _touches_twice(profiles, said):
        return False
    for nearness in [r for r, holds in said if holds and r.relation == "near"]:
        ways = _ways_to_be_near(nearness, dict(said))
        if ways is not None:
            return any(is_consistent(profiles, [*said, (way, True)]) for way in ways)
    if any(not holds and r.relation == "near" and _is_near(r, dict(said)) for r, holds in said):
        return False
    left_of = [(r, holds) for r, holds in said if r.relation == "left_of"]
    above = [(r, holds) for r, holds in said if r.relation == "above" or (r.relation == "on" and holds)]
    larger = [(r, holds) for r, holds in said if r.relation == "larger_than"]
    sizes = {e: ((None, p.total),) if p.total else () for e, p in profiles.items()}
    return (
        (not left_of or any(_can_be_lined_up(ranks, left_of) for ranks in _rankings(profiles, "x")))
        and (not above or any(_can_be_lined_up(ranks, above) for ranks in _rankings(profiles, "y")))
        and (not larger or _can_be_lined_up(sizes, larger))
    )


def _touches_twice(profiles: Mapping[str, Profile], said: Sequence[tuple[Related, bool]]) -> bool:
    # A thing that is on another is not next to it, so of one pair only one of the two holds.
    on = {frozenset((r.first, r.second)) for r, holds in said if holds and r.relation == "on"}
    return any(
        holds
        and r.relation == "next_to"
        and profiles[r.first].total == profiles[r.second].total == 1
        and frozenset((r.first, r.second)) in on
        for r, holds in said
    )


def _ways_to_be_near(nearness: Related, said: Mapping[Related, bool]) -> list[Related] | None:
    """What can still make two things near of which nothing is said to; None where something does, or may.

    Of two things that are near, one is on the other, or they are next to each other: so the three relations' rules say.
    """
    if _is_near(nearness, said):
        return None
    ways = [way for way in _touching(nearness) if way not in said]
    return None if any(way.relation == "next_to" for way in ways) else ways


def _is_near(nearness: Related, said: Mapping[Related, bool]) -> bool:
    return any(said.get(way) for way in _touching(nearness))


def _touching(nearness: Related) -> list[Related]:
    a, b = nearness.first, nearness.second
    return [Related("next_to", a, b), Related("on", a, b), Related("on", b, a)]


class _Group(NamedTuple):
    rank: int | None
    low: int
    high: int
    """Numbers of the points where the group's first and last thing stand; one point for one thing."""


def _can_be_lined_up(
    places: Mapping[str, tuple[tuple[int | None, int], ...]], said: Sequence[tuple[Related, bool]]
) -> bool:
    groups: dict[str, list[_Group]] = {}
    n_points = 0
    for entity, of_entity in places.items():
        groups[entity] = []
        for rank, number in of_entity:
            n_new = 1 if number == 1 else 2
            groups[entity].append(_Group(rank, n_points, n_points + n_new - 1))
            n_points += n_new
    loose: list[tuple[int, int]] = []
    strict: list[tuple[int, int]] = []
    everywhere = [group for of_entity in groups.values() for group in of_entity]
    loose += [(group.low, group.high) for group in everywhere if group.low != group.high]
    ranked = [group for group in everywhere if group.rank is not None]
    strict += [(a.high, b.low) for a in ranked for b in ranked if (a.rank or 0) < (b.rank or 0)]
    options: list[list[tuple[int, int]]] = []
    for relation, holds in said:
        pairs = list(product(groups[relation.first], groups[relation.second]))
        if holds:
            options.append([(a.low, b.high) for a, b in pairs])
        else:
            loose += [(b.high, a.low) for a, b in pairs]
    options.sort(key=len)
    return _has_a_choice(n_points, loose, strict, options)


def _rankings(profiles: Mapping[str, Profile], axis: str) -> Iterator[dict[str, tuple[tuple[int | None, int], ...]]]:
    """Where the things of each entity can stand on an axis, by rank: elsewhere is any place not named for them."""
    ways: list[list[tuple[tuple[int | None, int], ...]]] = []
    for profile in profiles.values():
        groups = dict(getattr(profile, axis))
        n_elsewhere = groups.pop("elsewhere", 0)
        fixed = tuple((RANK[place] if place else None, n) for place, n in groups.items())
        unnamed = getattr(profile, f"unnamed_{axis}")
        spread: list[tuple[tuple[int | None, int], ...]] = [()]
        if n_elsewhere:
            # Several things elsewhere may stand together or apart; more than one at a rank says no more than two do.
            spread = [((rank, n_elsewhere),) for rank in unnamed]
            if n_elsewhere > 1:
                spread += [((a, n), (b, m)) for a, b in combinations(unnamed, 2) for n, m in ((1, 1), (2, 2))]
        ways.append([(*fixed, *some) for some in spread])
    for chosen in product(*ways):
        yield dict(zip(profiles, chosen, strict=True))


def _has_a_choice(
    n_points: int, loose: list[tuple[int, int]], strict: list[tuple[int, int]], options: list[list[tuple[int, int]]]
) -> bool:
    """Whether one pair of each option can be added to the strict ones."""
    n_sure = next((i for i, pairs in enumerate(options) if len(pairs) != 1), len(options))
    strict = [*strict, *(pairs[0] for pairs in options[:n_sure])]
    if not _is_ordered(n_points, loose, strict):
        return False
    if n_sure == len(options):
        return True
    first, rest = options[n_sure], options[n_sure + 1 :]
    return any(_has_a_choice(n_points, loose, [*strict, pair], rest) for pair in first)


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
