"""Entities of a scene and cells: how they can be put in, and whether they stand where a cell says.

Pieces of one entity come in, ways to deal them out go out, alike ones merged. Knows no formulas and no worlds;
dealing.py asks which of the ways make one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise, product
from math import comb, prod
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


class Dealing(NamedTuple):
    """The things of an entity, in the order of a view, each put into a cell."""

    pieces: tuple[Piece, ...]
    cells: tuple[int, ...]
    """By piece: the number of its cell."""
    counts: Counts
    """By cell: how many it got."""


def rank_of(place: str | None) -> int | None:
    """The rank of a named place; None for elsewhere."""
    return None if place is None or place == ELSEWHERE else RANK[place]


def spots_of(things: Things, axis: str) -> dict[int, Spot]:
    """Where every thing of a scene stands on an axis, by its id."""
    at = {id(thing): getattr(thing, axis) for of_entity in things.values() for thing in of_entity}
    order = {value: number for number, value in enumerate(sorted(set(at.values())))}
    return {key: Spot(order[value], (value > 0.5) - (value < 0.5), third(value)) for key, value in at.items()}


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
    by_rank: dict[int, list[Spot]] = {}
    for cell, piece in members:
        rank, spot = rank_of(getattr(cell, axis)), getattr(piece, axis)
        if rank is not None and spot is not None:
            by_rank.setdefault(rank, []).append(spot)
    if len(by_rank) < 2:
        return all(spot.is_at(rank) for rank, spots in by_rank.items() for spot in spots)
    spans = [(min(by_rank[rank]), max(by_rank[rank])) for rank in sorted(by_rank)]
    return all(before[1].order < behind[0].order for before, behind in pairwise(spans))


class Cells:
    """The cells of one entity, ready for many scenes: what each thing may be put into, and every way to put them in."""

    def __init__(self, frame: EntityFrame) -> None:
        self.frame = frame
        self.are_placed = tuple(is_placed(cell) for cell in frame.cells)
        self.colours = tuple(dict.fromkeys(cell.colour for cell in frame.cells))
        self._first = {colour: [cell.colour for cell in frame.cells].index(colour) for colour in self.colours}
        self._named = {axis: tuple(dict.fromkeys(getattr(cell, axis) for cell in frame.cells)) for axis in ("x", "y")}
        self._has_both = self._named["x"] != (None,) and self._named["y"] != (None,)
        self._axis = "y" if self._named["x"] == (None,) else "x"
        self._open: dict[tuple[str | None, int | None, int | None], tuple[_Way, ...]] = {}

    def colour_of(self, colour: str | None) -> str | None:
        """A thing's colour as the cells tell it: other where it is none of theirs, None where they name none."""
        return colour if colour in self._first else self.colours[-1]

    def by_colour(self, pieces: Sequence[Piece]) -> Counts:
        """How many of the things have each colour of the cells."""
        return tuple(map([piece.colour for piece in pieces].count, self.colours))

    def n_parted(self, by_colour: Counts) -> int:
        """How many ways there are to part so many things of each colour among its cells."""
        n_cells = len(self.frame.cells) // len(self.colours)
        return prod(comb(n + n_cells - 1, n) for n in by_colour)

    def parted(self, by_colour: Counts) -> Iterator[Counts]:
        """Every way to part so many things of each colour among its cells."""
        loose = dict(zip(self._first.values(), by_colour, strict=True))
        return spread(self.frame, tuple(loose.get(j, 0) for j in range(len(self.frame.cells))), loose)

    def dealings(self, pieces: tuple[Piece, ...], numbers: Sequence[Counts] | None) -> Iterator[Dealing]:
        """The ways to put the things into the cells; of alike things only those that keep their order.

        The things come sorted. Given the numbers that may stand in the cells, only ways that lead to them.
        """
        ways = [self._ways(piece) for piece in pieces]
        most = len(pieces) if self.frame.is_exact else self.frame.most + 1
        for cells, counts in self._walk(ways, [], [0] * len(self.frame.cells), ("", -1), numbers):
            # Beyond the largest number anybody names they are not distinguished.
            yield Dealing(pieces, tuple(cells), tuple(min(n, most) for n in counts))

    def _walk(
        self,
        ways: Sequence[tuple[_Way, ...]],
        cells: list[int],
        counts: list[int],
        last: tuple[str, int],
        goals: Sequence[Counts] | None,
    ) -> Iterator[tuple[list[int], list[int]]]:
        """Every way to go on from the things that are in their cells; the lists are the walk's own."""
        while len(cells) < len(ways):
            steps = []
            for way in ways[len(cells)]:
                # Exchanging two alike things that stand in the wrong order never makes a dealing worse.
                if self._has_both or way.level[0] != last[0] or way.level[1] >= last[1]:
                    ahead = goals and [goal for goal in goals if goal[way.cell] > counts[way.cell]]
                    if goals is None or ahead:
                        steps.append((way, ahead))
            if len(steps) != 1:
                for way, ahead in steps:
                    more = counts.copy()
                    more[way.cell] += 1
                    yield from self._walk(ways, [*cells, way.cell], more, way.level, ahead)
                return
            way, goals = steps[0]
            cells.append(way.cell)
            counts[way.cell] += 1
            last = way.level
        yield cells, counts

    def _ways(self, piece: Piece) -> tuple[_Way, ...]:
        """The cells a thing may be put into."""
        colour, x, y = piece
        key = colour, x and x.third, y and y.third
        ways = self._open.get(key)
        if ways is None:
            xs = _open_places(x, self._named["x"], "x")
            ys = _open_places(y, self._named["y"], "y")
            cells = [self.frame.cells.index(Cell(colour, at_x, at_y)) for at_x in xs for at_y in ys]
            ways = self._open[key] = tuple(_Way(j, (str(colour), self._level(j, piece))) for j in cells)
        return ways

    def _level(self, j: int, piece: Piece) -> int:
        rank, spot = rank_of(getattr(self.frame.cells[j], self._axis)), getattr(piece, self._axis)
        return rank if rank is not None else spot.third if spot else 0


class _Way(NamedTuple):
    """A cell a thing may be put into."""

    cell: int
    level: tuple[str, int]
    """Its colour and its place on the axis by which alike things keep their order."""


def _open_places(spot: Spot | None, named: tuple[str | None, ...], axis: str) -> list[str | None]:
    """The places of an axis a thing may be dealt to."""
    if spot is None or named == (None,):
        return [None]
    own = _THIRDS[axis][spot.third]
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
