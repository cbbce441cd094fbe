"""Whether the things of a scene can be dealt to the cells of one world so that the geometry fits.

Worlds know no geometry: they are numbers of things in cells. Of the placed things of a world take a smallest set that
keeps it a world wherever the others stand: where two of the set have different places on an axis, the strict order of
their centres decides; every other placed thing goes by halves (middle: by the middle third). A thing is elsewhere only
where its third is no place named for it. So the answer depends on the worlds alone, and equivalent formulas agree.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import combinations, product
from typing import NamedTuple

from salva.core.scene import Scene, Thing
from salva.errors import UsageError
from salva.logic.diagram import FALSE, TRUE, Diagram
from salva.logic.formula import Formula
from salva.logic.frame import ELSEWHERE, Cell, Counts, EntityFrame
from salva.logic.order import RANK
from salva.logic.placing import PLACE_RULES, Things, is_related, third

_MAX_STEPS = 100_000
_MAX_REMEMBERED = 4_000
_THIRDS = {"x": ("left", "middle", "right"), "y": ("top", "middle", "bottom")}

State = tuple[Counts | bool | None, ...]
"""By level: things in each cell, or whether the relation holds (None where an entity is absent)."""


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


class _Dealt(NamedTuple):
    piece: Piece
    cell: int


Dealing = tuple[_Dealt, ...]
View = tuple[tuple[Piece, ...] | bool | None, ...]
"""By level: the things of the entity, or whether the relation holds in the scene."""


def _rank(place: str | None) -> int | None:
    return None if place is None or place == ELSEWHERE else RANK[place]


class Dealer:
    """One formula, alone or in one frame with another, ready for many scenes."""

    def __init__(self, formulas: Sequence[Formula], reading: str, place: str) -> None:
        if place not in PLACE_RULES:
            raise UsageError(f"no place rule {place!r}; known: {', '.join(PLACE_RULES)}")
        self.diagram = Diagram(formulas, reading)
        self._is_by_thirds = place == "thirds"
        frames = [level.frame for level in self.diagram.levels if level.frame]
        self._labels = frozenset(frame.entity for frame in frames)
        self._has = {axis: any(getattr(frame.cells[0], axis) for frame in frames) for axis in ("x", "y")}
        self._answers: dict[View, bool] = {}
        self._worlds: dict[State, bool] = {}
        self._smallest: dict[State, tuple[Mapping[tuple[int, int], int], ...]] = {}
        self._n_steps = 0

    def holds(self, scene: Scene) -> bool:
        """Whether the scene is right for the first formula."""
        view = self.view(scene)
        answer = self._answers.get(view)
        if answer is None:
            self._n_steps = 0
            self.diagram.begin()
            answer = any(self._fits(deal, state) for deal, state in self._deals(view, 0, self.diagram.roots[0], ()))
            if len(self._answers) < _MAX_REMEMBERED:
                self._answers[view] = answer
        return answer

    def things(self, scene: Scene) -> dict[str, list[Thing]]:
        """The things the formulas speak of, by name."""
        things: dict[str, list[Thing]] = {}
        for thing in scene.things:
            if thing.label in self._labels:
                things.setdefault(thing.label, []).append(thing)
        return things

    def view(self, scene: Scene) -> View:
        """The scene as far as the formulas can tell."""
        things = self.things(scene)
        spots = {axis: _spots(things, axis) for axis in ("x", "y") if self._has[axis]}
        view: list[tuple[Piece, ...] | bool | None] = []
        for level in self.diagram.levels:
            if level.frame is None:
                assert level.relation is not None
                first, second = things.get(level.relation.first, ()), things.get(level.relation.second, ())
                is_true = any(is_related(level.relation.relation, a, b) for a in first for b in second)
                view.append(is_true if first and second else None)
                continue
            sample = level.frame.cells[0]
            view.append(
                tuple(
                    sorted(
                        Piece(
                            colour=thing.colour if sample.colour else None,
                            x=spots["x"][id(thing)] if sample.x else None,
                            y=spots["y"][id(thing)] if sample.y else None,
                        )
                        for thing in things.get(level.frame.entity, ())
                    )
                    if sample != (None, None, None)
                    else [_PLAIN] * len(things.get(level.frame.entity, ()))
                )
            )
        return tuple(view)

    def _deals(
        self, view: View, i: int, node: int, made: tuple[Dealing | bool | None, ...]
    ) -> Iterator[tuple[tuple[Dealing | bool | None, ...], State]]:
        """Every way to deal the things to the cells of a world of the first formula."""
        if node == FALSE:
            return
        if i == len(self.diagram.levels):
            if node == TRUE:
                state = self._state(made)
                if self._is_world(state):
                    yield made, state
            return
        level, seen = self.diagram.levels[i], view[i]
        if level.frame is None:
            rest = self.diagram.nodes.restrict(node, i, {level.literals[0]: bool(seen)}, {})
            assert not isinstance(seen, tuple)
            yield from self._deals(view, i + 1, rest, (*made, seen))
            return
        assert isinstance(seen, tuple)
        for dealing in _dealings(level.frame, seen, self._is_by_thirds):
            self._step()
            of_class = level.frame.classify(_counts(level.frame, dealing))
            if of_class.fits[0]:
                values = dict(zip(level.literals, of_class.truths, strict=True))
                rest = self.diagram.nodes.restrict(node, i, values, {})
                yield from self._deals(view, i + 1, rest, (*made, dealing))

    def _state(self, made: tuple[Dealing | bool | None, ...]) -> State:
        state: list[Counts | bool | None] = []
        for level, part in zip(self.diagram.levels, made, strict=True):
            state.append(_counts(level.frame, part) if level.frame and isinstance(part, tuple) else part)  # type: ignore[arg-type]  # a dealing where there is a frame
        return tuple(state)

    def _is_world(self, state: State) -> bool:
        """Whether numbers in cells and relations are a world of the first formula that somebody can paint."""
        known = self._worlds.get(state)
        if known is None:
            known = self.diagram.admits(state)
            if len(self._worlds) < 20 * _MAX_REMEMBERED:
                self._worlds[state] = known
        return known

    def _fits(self, made: tuple[Dealing | bool | None, ...], state: State) -> bool:
        """Whether the places of a dealing agree with where the things stand."""
        placed = self._placed(made)
        if self._is_by_thirds or not placed:
            return True
        return any(self._fits_set(placed, kept) for kept in self._smallest_sets(state))

    def _placed(self, made: tuple[Dealing | bool | None, ...]) -> dict[tuple[int, int], list[Piece]]:
        placed: dict[tuple[int, int], list[Piece]] = {}
        for i, (level, part) in enumerate(zip(self.diagram.levels, made, strict=True)):
            if level.frame is not None and isinstance(part, tuple):
                for dealt in part:
                    if _is_placed(level.frame.cells[dealt.cell]):
                        placed.setdefault((i, dealt.cell), []).append(dealt.piece)
        return placed

    def _fits_set(self, placed: Mapping[tuple[int, int], list[Piece]], kept: Mapping[tuple[int, int], int]) -> bool:
        """Whether some choice of so many things from each cell is in order, and all others are at their own places."""
        cells = {key: self._cell(key) for key in placed}
        choices: list[list[tuple[tuple[int, int], tuple[int, ...]]]] = []
        for key, pieces in placed.items():
            stray = [n for n, piece in enumerate(pieces) if not _is_at_home(piece, cells[key])]
            free = [n for n in range(len(pieces)) if n not in stray]
            n_more = min(kept.get(key, 0), len(pieces)) - len(stray)
            if n_more < 0:
                return False
            choices.append([(key, (*stray, *more)) for more in combinations(free, n_more)])
        for chosen in product(*choices):
            self._step()
            members = [(cells[key], placed[key][n]) for key, numbers in chosen for n in numbers]
            if all(_is_in_order(members, axis) for axis in ("x", "y")):
                return True
        return False

    def _cell(self, key: tuple[int, int]) -> Cell:
        frame = self.diagram.levels[key[0]].frame
        assert frame is not None
        return frame.cells[key[1]]

    def _smallest_sets(self, state: State) -> tuple[Mapping[tuple[int, int], int], ...]:
        """The smallest sets of placed things, as numbers by cell, that keep a world one wherever the others stand."""
        found = self._smallest.get(state)
        if found is None:
            whole: dict[tuple[int, int], int] = {}
            for i, (level, counts) in enumerate(zip(self.diagram.levels, state, strict=True)):
                if level.frame is not None and isinstance(counts, tuple):
                    whole |= {(i, j): n for j, n in enumerate(counts) if n and _is_placed(level.frame.cells[j])}
            found = tuple(dict(kept) for kept in self._shrunk(state, whole, whole, {}))
            if len(self._smallest) < _MAX_REMEMBERED:
                self._smallest[state] = found
        return found

    def _shrunk(
        self,
        state: State,
        whole: Mapping[tuple[int, int], int],
        kept: Mapping[tuple[int, int], int],
        seen: dict[tuple[int, ...], bool],
    ) -> Iterator[Mapping[tuple[int, int], int]]:
        """The smallest sufficient sets within one that is sufficient."""
        is_smallest = True
        for key, n in kept.items():
            if n:
                fewer = {**kept, key: n - 1}
                name = tuple(fewer.values())
                is_new = name not in seen
                if is_new:
                    seen[name] = self._is_sufficient(state, whole, fewer)
                if seen[name]:
                    is_smallest = False
                    if is_new:
                        yield from self._shrunk(state, whole, fewer, seen)
        if is_smallest:
            yield kept

    def _is_sufficient(
        self, state: State, whole: Mapping[tuple[int, int], int], kept: Mapping[tuple[int, int], int]
    ) -> bool:
        """Whether the state stays a world wherever the things that are not kept stand."""
        by_level: list[list[Counts | bool | None]] = []
        for i, (level, counts) in enumerate(zip(self.diagram.levels, state, strict=True)):
            loose = {j: n - kept[i, j] for (at, j), n in whole.items() if at == i and n > kept[i, j]}
            if level.frame is None or not loose or not isinstance(counts, tuple):
                by_level.append([counts])
            else:
                by_level.append(list(_spread(level.frame, counts, loose)))
        for other in product(*by_level):
            self._step()
            if not self._is_world(other) and self.diagram.is_paintable(other):
                return False
        return True

    def _step(self) -> None:
        self._n_steps += 1
        if self._n_steps > _MAX_STEPS:
            raise UsageError("there are too many ways to put these things in the places of the formula; name fewer")


_PLAIN = Piece(None, None, None)


@lru_cache(maxsize=4096)
def dealer(formulas: tuple[Formula, ...], reading: str, place: str) -> Dealer:
    """The dealer of a formula, alone or in one frame with another."""
    return Dealer(formulas, reading, place)


def _spots(things: Things, axis: str) -> dict[int, Spot]:
    at = {id(thing): getattr(thing, axis) for of_entity in things.values() for thing in of_entity}
    order = {value: number for number, value in enumerate(sorted(set(at.values())))}
    return {key: Spot(order[value], (value > 0.5) - (value < 0.5), third(value)) for key, value in at.items()}


def _counts(frame: EntityFrame, dealing: Dealing) -> Counts:
    counts = [0] * len(frame.cells)
    for dealt in dealing:
        counts[dealt.cell] += 1
    if not frame.is_exact:
        counts = [min(n, frame.most + 1) for n in counts]
    return tuple(counts)


def _is_placed(cell: Cell) -> bool:
    return _rank(cell.x) is not None or _rank(cell.y) is not None


def _is_at_home(piece: Piece, cell: Cell) -> bool:
    """Whether a thing stands where its cell says without regard to others."""
    for spot, place in ((piece.x, cell.x), (piece.y, cell.y)):
        rank = _rank(place)
        if rank is not None and spot is not None and not spot.is_at(rank):
            return False
    return True


def _is_in_order(members: Sequence[tuple[Cell, Piece]], axis: str) -> bool:
    """Whether those with different places stand in the order of these, and those without such company by themselves."""
    ranked = [
        (rank, spot)
        for cell, piece in members
        if (rank := _rank(getattr(cell, axis))) is not None and (spot := getattr(piece, axis)) is not None
    ]
    if len({rank for rank, _ in ranked}) < 2:
        return all(spot.is_at(rank) for rank, spot in ranked)
    return all(a.order < b.order for r, a in ranked for s, b in ranked if r < s)


def _dealings(frame: EntityFrame, pieces: tuple[Piece, ...], is_by_thirds: bool) -> Iterator[Dealing]:
    """The ways to put an entity's things into its cells; of alike things only those that keep their order."""
    if len(frame.cells) == 1:
        yield tuple(_Dealt(piece, 0) for piece in pieces)
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
        return str(frame.cells[j].colour), spot.third if _rank(place) is None and spot else _rank(place) or 0

    order = sorted(range(len(pieces)), key=lambda n: (str(pieces[n].colour), getattr(pieces[n], axis) or 0))

    def walk(at: int, last: tuple[str, int], dealt: tuple[_Dealt, ...]) -> Iterator[Dealing]:
        if at == len(order):
            yield dealt
            return
        piece = pieces[order[at]]
        for j in options[order[at]]:
            here = level(j, piece)
            # Exchanging two alike things that stand in the wrong order never makes a dealing worse.
            if has_both or here[0] != last[0] or here[1] >= last[1]:
                yield from walk(at + 1, here, (*dealt, _Dealt(piece, j)))

    yield from walk(0, ("", -1), ())


def _open_places(spot: Spot | None, named: tuple[str | None, ...], axis: str, is_by_thirds: bool) -> list[str | None]:
    """The places of an axis a thing may be dealt to."""
    if spot is None or named == (None,):
        return [None]
    own = _THIRDS[axis][spot.third]
    if is_by_thirds:
        return [own if own in named else ELSEWHERE]
    return [place for place in named if place != ELSEWHERE or own not in named]


def _spread(frame: EntityFrame, counts: Counts, loose: Mapping[int, int]) -> Iterator[Counts]:
    """Every way to put the loose things into cells of their own colour, nowhere named first."""
    base = [n - loose.get(j, 0) for j, n in enumerate(counts)]
    by_colour: dict[str | None, int] = {}
    for j, n in loose.items():
        by_colour[frame.cells[j].colour] = by_colour.get(frame.cells[j].colour, 0) + n
    ways = []
    for colour, n in by_colour.items():
        cells = sorted(
            (j for j, cell in enumerate(frame.cells) if cell.colour == colour),
            key=lambda j: _is_placed(frame.cells[j]),
        )
        ways.append([(cells, parts) for parts in _parted(n, len(cells))])
    for chosen in product(*ways):
        made = list(base)
        for cells, parts in chosen:
            for j, n in zip(cells, parts, strict=True):
                made[j] += n
        yield tuple(made) if frame.is_exact else tuple(min(n, frame.most + 1) for n in made)


def _parted(n: int, n_parts: int) -> Iterator[tuple[int, ...]]:
    if n_parts == 1:
        yield (n,)
        return
    for first in range(n, -1, -1):
        for rest in _parted(n - first, n_parts - 1):
            yield (first, *rest)
