"""The things of a scene and the cells of an entity: how they can be put in, and whether they stand where a cell says.

Pieces of one entity come in, ways to deal them out go out, alike ones merged. Knows no formulas and no worlds;
dealing.py asks which of the ways make one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import NamedTuple

from salva.logic.frame import ELSEWHERE, Cell, Counts, EntityFrame
from salva.logic.order import RANK
from salva.logic.placing import Things, third

_THIRDS = {"x": ("left", "middle", "right"), "y": ("top", "middle", "bottom")}


class Spot(NamedTuple):
    """Where a thing stands on one axis, as far as any rule looks."""

    order: int
    """Its place in the order of all centres; equal centres have equal numbers."""
    half: int
    """-1, 0 or 1: before the middle, on it, behind it."""
    third: int
    """0, 1 or 2."""

    def is_at(self, rank: int) -> bool:
        """Whether it is at a place by itself: by halves, or by the middle third."""
        return self.third == 1 if rank == 1 else self.half == rank - 1


class Piece(NamedTuple):
    """A thing in the words of a formula."""

    colour: str | None
    x: Spot | None
    """None where the formula names no place on that axis."""
    y: Spot | None


class Dealt(NamedTuple):
    """A thing and the number of the cell it was put into."""

    piece: Piece
    cell: int


Dealing = tuple[Dealt, ...]


def rank_of(place: str | None) -> int | None:
    """The rank of a named place; None for elsewhere."""
    return None if place is None or place == ELSEWHERE else RANK[place]


def spots_of(things: Things, axis: str) -> dict[int, Spot]:
    """Where every thing of a scene stands on an axis, by its id."""
    at = {id(thing): getattr(thing, axis) for of_entity in things.values() for thing in of_entity}
    order = {value: number for number, value in enumerate(sorted(set(at.values())))}
    return {key: Spot(order[value], (value > 0.5) - (value < 0.5), third(value)) for key, value in at.items()}


def counts_of(frame: EntityFrame, dealing: Dealing) -> Counts:
    """How many things each cell got; beyond the largest number anybody names they are told apart no further."""
    counts = [0] * len(frame.cells)
    for dealt in dealing:
        counts[dealt.cell] += 1
    if not frame.is_exact:
        counts = [min(n, frame.most + 1) for n in counts]
    return tuple(counts)


def is_placed(cell: Cell) -> bool:
    """Whether a cell is at a named place."""
    return rank_of(cell.x) is not None or rank_of(cell.y) is not None


def is_at_home(piece: Piece, cell: Cell) -> bool:
    """Whether a thing stands where its cell says without regard to others."""
    for spot, place in ((piece.x, cell.x), (piece.y, cell.y)):
        rank = rank_of(place)
        if rank is not None and spot is not None and not spot.is_at(rank):
            return False
    return True


def is_in_order(members: Sequence[tuple[Cell, Piece]], axis: str) -> bool:
    """Whether those with different places stand in the order of these, and those without such company by themselves."""
    ranked = [
        (rank, spot)
        for cell, piece in members
        if (rank := rank_of(getattr(cell, axis))) is not None and (spot := getattr(piece, axis)) is not None
    ]
    if len({rank for rank, _ in ranked}) < 2:
        return all(spot.is_at(rank) for rank, spot in ranked)
    return all(a.order < b.order for r, a in ranked for s, b in ranked if r < s)


def dealings(
    frame: EntityFrame, pieces: tuple[Piece, ...], is_by_thirds: bool, numbers: tuple[Counts, ...] | None
) -> Iterator[Dealing]:
    """The ways to put an entity's things into its cells; of alike things only those that keep their order.

    Given the numbers that may stand in the cells, only ways that lead to them.
    """
    if len(frame.cells) == 1:
        yield tuple(Dealt(piece, 0) for piece in pieces)
        return
    number = {cell: j for j, cell in enumerate(frame.cells)}
    colours = {cell.colour for cell in frame.cells}
    named = {axis: tuple(dict.fromkeys(getattr(cell, axis) for cell in frame.cells)) for axis in ("x", "y")}
    options: list[list[int]] = []
    for piece in pieces:
        colour = piece.colour if piece.colour in colours else "other" if "other" in colours else None
        xs = _open_places(piece.x, named["x"], "x", is_by_thirds)
        ys = _open_places(piece.y, named["y"], "y", is_by_thirds)
        options.append([number[Cell(colour, x, y)] for x in xs for y in ys])
    has_both = named["x"] != (None,) and named["y"] != (None,)
    axis = "y" if named["x"] == (None,) else "x"

    def level(j: int, piece: Piece) -> tuple[str, int]:
        place = getattr(frame.cells[j], axis)
        spot = getattr(piece, axis)
        return str(frame.cells[j].colour), spot.third if rank_of(place) is None and spot else rank_of(place) or 0

    order = sorted(range(len(pieces)), key=lambda n: (str(pieces[n].colour), getattr(pieces[n], axis) or 0))

    counts = [0] * len(frame.cells)

    def walk(
        at: int, last: tuple[str, int], dealt: tuple[Dealt, ...], goals: Sequence[Counts] | None
    ) -> Iterator[Dealing]:
        if at == len(order):
            yield dealt
            return
        piece = pieces[order[at]]
        for j in options[order[at]]:
            ahead = goals if goals is None else [goal for goal in goals if goal[j] > counts[j]]
            if goals is not None and not ahead:
                continue
            here = level(j, piece)
            # Exchanging two alike things that stand in the wrong order never makes a dealing worse.
            if has_both or here[0] != last[0] or here[1] >= last[1]:
                counts[j] += 1
                yield from walk(at + 1, here, (*dealt, Dealt(piece, j)), ahead)
                counts[j] -= 1

    yield from walk(0, ("", -1), (), numbers)


def _open_places(spot: Spot | None, named: tuple[str | None, ...], axis: str, is_by_thirds: bool) -> list[str | None]:
    """The places of an axis a thing may be dealt to."""
    if spot is None or named == (None,):
        return [None]
    own = _THIRDS[axis][spot.third]
    if is_by_thirds:
        return [own if own in named else ELSEWHERE]
    return [place for place in named if place != ELSEWHERE or own not in named]


def spread(frame: EntityFrame, counts: Counts, loose: Mapping[int, int]) -> Iterator[Counts]:
    """Every way to put the loose things into cells of their own colour, nowhere named first."""
    base = [n - loose.get(j, 0) for j, n in enumerate(counts)]
    by_colour: dict[str | None, int] = {}
    for j, n in loose.items():
        by_colour[frame.cells[j].colour] = by_colour.get(frame.cells[j].colour, 0) + n
    ways = []
    for colour, n in by_colour.items():
        cells = sorted(
            (j for j, cell in enumerate(frame.cells) if cell.colour == colour),
            key=lambda j: is_placed(frame.cells[j]),
        )
        ways.append([(cells, parts) for parts in parted(n, len(cells))])
    for chosen in product(*ways):
        made = list(base)
        for cells, parts in chosen:
            for j, n in zip(cells, parts, strict=True):
                made[j] += n
        yield tuple(made) if frame.is_exact else tuple(min(n, frame.most + 1) for n in made)


def parted(n: int, n_parts: int) -> Iterator[tuple[int, ...]]:
    """Every way to part so many things among so many places, most in the first place first."""
    if n_parts == 1:
        yield (n,)
        return
    for first in range(n, -1, -1):
        for rest in parted(n - first, n_parts - 1):
            yield (first, *rest)
