"""Whether a scene fits one world.

Worlds know no geometry: they are numbers of things in cells. Of the placed things of a world take a smallest set that
keeps it a world wherever the others stand: where two of the set have different places on an axis, the strict order of
their centres decides; every other placed thing goes by halves (middle: by the middle third). A thing is elsewhere only
where its third is no place named for it. So the answer depends on the worlds alone, and equivalent formulas agree.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import combinations, product

from salva.core.scene import Scene, Thing
from salva.errors import UsageError
from salva.logic.diagram import FALSE, TRUE, Diagram
from salva.logic.formula import Formula, unknown
from salva.logic.frame import Cell, Counts
from salva.logic.pieces import Cells, Dealing, Piece, is_at_home, is_in_order, spots_of, spread
from salva.logic.placing import PLACE_RULES, is_related
from salva.messages import message

_MAX_STEPS = 100_000
_MAX_REMEMBERED = 4_000
_MAX_PARTED = 3_000

State = tuple[Counts | bool | None, ...]
"""By level: things in each cell, or whether the relation holds (None where an entity is absent)."""


View = tuple[tuple[Piece, ...] | bool | None, ...]
"""By level: the things of the entity, or whether the relation holds in the scene."""


class Dealer:
    """One formula, alone or in one frame with another, ready for many scenes."""

    def __init__(self, formulas: Sequence[Formula], counts: str, place: str) -> None:
        if place not in PLACE_RULES:
            raise UsageError(unknown("place rule", place, PLACE_RULES))
        self.diagram = Diagram(formulas, counts)
        self._is_by_thirds = place == "thirds"
        frames = [level.frame for level in self.diagram.levels if level.frame]
        self._cells = [Cells(level.frame, self._is_by_thirds) if level.frame else None for level in self.diagram.levels]
        self._labels = frozenset(frame.entity for frame in frames)
        self._has = {axis: any(getattr(frame.cells[0], axis) for frame in frames) for axis in ("x", "y")}
        self._answers: dict[View, bool] = {}
        self._worlds: dict[State, bool] = {}
        self._smallest: dict[State, tuple[Mapping[tuple[int, int], int], ...]] = {}
        self._rests: dict[tuple[int, int, Counts], int] = {}
        self._parted: dict[tuple[int, int, Counts], tuple[Counts, ...]] = {}
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
        spots = {axis: spots_of(things, axis) for axis in ("x", "y") if self._has[axis]}
        view: list[tuple[Piece, ...] | bool | None] = []
        for level, cells in zip(self.diagram.levels, self._cells, strict=True):
            if level.frame is None or cells is None:
                assert level.relation is not None
                first, second = things.get(level.relation.first, ()), things.get(level.relation.second, ())
                is_true = any(is_related(level.relation.relation, a, b) for a in first for b in second)
                view.append(is_true if first and second else None)
                continue
            sample, own = level.frame.cells[0], things.get(level.frame.entity, ())
            if sample == (None, None, None):
                view.append((_PLAIN,) * len(own))
                continue
            pieces = [
                Piece(
                    cells.colour_of(thing.colour),
                    spots["x"][id(thing)] if sample.x else None,
                    spots["y"][id(thing)] if sample.y else None,
                )
                for thing in own
            ]
            view.append(tuple(sorted(pieces)))
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
        cells = self._cells[i]
        assert isinstance(seen, tuple)
        assert cells is not None
        for dealing in cells.dealings(seen, self._numbers(i, node, seen)):
            self._step()
            rest = self._after(i, node, dealing.counts)
            yield from self._deals(view, i + 1, rest, (*made, dealing))

    def _after(self, i: int, node: int, counts: Counts) -> int:
        """What is left to decide once an entity's things are in these cells; FALSE where there may not be so many."""
        rest = self._rests.get((i, node, counts))
        if rest is None:
            level = self.diagram.levels[i]
            assert level.frame is not None
            of_class = level.frame.classify(counts)
            rest = FALSE
            if of_class.fits[0]:
                values = dict(zip(level.literals, of_class.truths, strict=True))
                rest = self.diagram.nodes.restrict(node, i, values, {})
            if len(self._rests) < 20 * _MAX_REMEMBERED:
                self._rests[i, node, counts] = rest
        return rest

    def _numbers(self, i: int, node: int, pieces: Sequence[Piece]) -> tuple[Counts, ...] | None:
        """The ways to part these things among the cells of an entity that may lead to a world; None: too many."""
        frame, cells = self.diagram.levels[i].frame, self._cells[i]
        assert frame is not None
        assert cells is not None
        if not frame.is_exact or len(frame.cells) == 1:
            return None
        by_colour = cells.by_colour(pieces)
        numbers = self._parted.get((i, node, by_colour))
        if numbers is None:
            if cells.n_parted(by_colour) > _MAX_PARTED:
                return None
            numbers = tuple(c for c in cells.parted(by_colour) if self._after(i, node, c) != FALSE)
            if len(self._parted) < _MAX_REMEMBERED:
                self._parted[i, node, by_colour] = numbers
        return numbers

    def _state(self, made: tuple[Dealing | bool | None, ...]) -> State:
        return tuple(part.counts if isinstance(part, Dealing) else part for part in made)

    def _is_world(self, state: State) -> bool:
        """Whether numbers in cells and relations are a world of the first formula that somebody can generate."""
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
        for i, (cells, part) in enumerate(zip(self._cells, made, strict=True)):
            if cells is not None and isinstance(part, Dealing):
                for piece, j in zip(part.pieces, part.cells, strict=True):
                    if cells.are_placed[j]:
                        placed.setdefault((i, j), []).append(piece)
        return placed

    def _fits_set(self, placed: Mapping[tuple[int, int], list[Piece]], kept: Mapping[tuple[int, int], int]) -> bool:
        """Whether some choice of so many things from each cell is in order, and all others are at their own places."""
        choices: list[list[list[tuple[Cell, Piece]]]] = []
        for key, pieces in placed.items():
            cell, n_kept = self._cell(key), kept.get(key, 0)
            if n_kept >= len(pieces):
                choices.append([[(cell, piece) for piece in pieces]])
                continue
            free = [piece for piece in pieces if is_at_home(piece, cell)]
            stray = [piece for piece in pieces if not is_at_home(piece, cell)]
            if len(stray) > n_kept:
                return False
            more = combinations(free, n_kept - len(stray))
            choices.append([[(cell, piece) for piece in (*stray, *chosen)] for chosen in more])
        for groups in product(*choices):
            self._step()
            members = [member for group in groups for member in group]
            if all(is_in_order(members, axis) for axis in ("x", "y")):
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
            for i, (cells, counts) in enumerate(zip(self._cells, state, strict=True)):
                if cells is not None and isinstance(counts, tuple):
                    whole |= {(i, j): n for j, n in enumerate(counts) if n and cells.are_placed[j]}
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
                by_level.append(list(spread(level.frame, counts, loose)))
        for other in product(*by_level):
            self._step()
            if not self._is_world(other) and self.diagram.is_paintable(other):
                return False
        return True

    def _step(self) -> None:
        self._n_steps += 1
        if self._n_steps > _MAX_STEPS:
            raise UsageError(message("formula-too-large"))


_PLAIN = Piece(None, None, None)


@lru_cache(maxsize=4096)
def dealer(formulas: tuple[Formula, ...], counts: str, place: str) -> Dealer:
    """The dealer of a formula, alone or in one frame with another."""
    return Dealer(formulas, counts, place)
