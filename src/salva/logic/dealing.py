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

from salva.core.grouping import group_by
from salva.core.scene import Scene, Thing
from salva.errors import UsageError
from salva.logic.diagram import FALSE, TRUE, Diagram
from salva.logic.formula import Formula
from salva.logic.frame import Cell, Counts
from salva.logic.pieces import Cells, Dealing, Piece, is_at_home, is_in_order, spots_of, spread
from salva.logic.placing import holds
from salva.messages import message

_MAX_STEPS = 100_000
_MAX_REMEMBERED = 4_000
_MAX_PARTED = 3_000

State = tuple[Counts | bool | None, ...]
"""By level: things in each cell, or whether the relation holds (None where an entity is absent)."""


View = tuple[tuple[Piece, ...] | bool | None, ...]
"""By level: the things of the entity, or whether the relation holds in the scene."""
_Deal = tuple[Dealing | bool | None, ...]


class Dealer:
    """One formula, alone or in one frame with another, ready for many scenes."""

    def __init__(self, formulas: Sequence[Formula], counts: str) -> None:
        self.diagram = Diagram(formulas, counts)
        frames = [level.frame for level in self.diagram.levels if level.frame]
        self._cells = [Cells(level.frame) if level.frame else None for level in self.diagram.levels]
        self._labels = frozenset(frame.entity for frame in frames)
        self._has = {axis: any(getattr(frame.cells[0], axis) for frame in frames) for axis in ("x", "y")}
        self._n_steps = 0
        self._answer = lru_cache(_MAX_REMEMBERED)(self._find_answer)
        self._numbers = lru_cache(_MAX_REMEMBERED)(self._find_numbers)
        self._smallest_sets = lru_cache(_MAX_REMEMBERED)(self._find_smallest_sets)
        self._after = lru_cache(20 * _MAX_REMEMBERED)(self._find_after)
        self._is_world = lru_cache(20 * _MAX_REMEMBERED)(self.diagram.admits)

    def holds(self, scene: Scene) -> bool:
        """Whether the scene is right for the first formula."""
        return self._answer(self.view(scene))

    def _find_answer(self, view: View) -> bool:
        self._n_steps = 0
        self.diagram.begin()
        return any(self._fits(deal, state) for deal, state in self._deals(view, 0, self.diagram.roots[0], ()))

    def things(self, scene: Scene) -> dict[str, list[Thing]]:
        """The things the formulas speak of, by name."""
        return group_by((thing for thing in scene.things if thing.label in self._labels), lambda thing: thing.label)

    def view(self, scene: Scene) -> View:
        """The scene as far as the formulas can tell."""
        things = self.things(scene)
        spots = {axis: spots_of(things, axis) for axis in ("x", "y") if self._has[axis]}
        view: list[tuple[Piece, ...] | bool | None] = []
        for level, cells in zip(self.diagram.levels, self._cells, strict=True):
            if level.relation:
                view.append(holds(level.relation, things))
            elif cells:
                sample = cells.frame.cells[0]
                pieces = [
                    Piece(
                        cells.colour_of(thing.colour),
                        spots["x"][id(thing)] if sample.x else None,
                        spots["y"][id(thing)] if sample.y else None,
                    )
                    for thing in things.get(cells.frame.entity, ())
                ]
                view.append(tuple(sorted(pieces)))
        return tuple(view)

    def _deals(self, view: View, i: int, node: int, made: _Deal) -> Iterator[tuple[_Deal, State]]:
        """Every way to deal the things to the cells of a world of the first formula."""
        if node == FALSE:
            return
        if i == len(self.diagram.levels):
            state = tuple(part.counts if isinstance(part, Dealing) else part for part in made)
            if node == TRUE and self._is_world(state):
                yield made, state
            return
        level, cells, seen = self.diagram.levels[i], self._cells[i], view[i]
        if not isinstance(seen, tuple):
            rest = self.diagram.nodes.restrict(node, i, {level.literals[0]: bool(seen)}, {})
            yield from self._deals(view, i + 1, rest, (*made, seen))
        elif cells:
            numbers = None
            if cells.frame.is_exact and len(cells.frame.cells) > 1:
                numbers = self._numbers(i, node, cells.by_colour(seen))
            for dealing in cells.dealings(seen, numbers):
                self._step()
                yield from self._deals(view, i + 1, self._after(i, node, dealing.counts), (*made, dealing))

    def _find_after(self, i: int, node: int, counts: Counts) -> int:
        """What is left to decide once an entity's things are in these cells; FALSE where there may not be so many."""
        level, cells = self.diagram.levels[i], self._cells[i]
        assert cells is not None
        of_class = cells.frame.classify(counts)
        values = dict(zip(level.literals, of_class.truths, strict=True))
        return self.diagram.nodes.restrict(node, i, values, {}) if of_class.fits[0] else FALSE

    def _find_numbers(self, i: int, node: int, by_colour: Counts) -> tuple[Counts, ...] | None:
        """The ways to part these things among the cells of an entity that may lead to a world; None: too many."""
        cells = self._cells[i]
        assert cells is not None
        if cells.n_parted(by_colour) > _MAX_PARTED:
            return None
        return tuple(counts for counts in cells.parted(by_colour) if self._after(i, node, counts) != FALSE)

    def _fits(self, made: _Deal, state: State) -> bool:
        """Whether the places of a dealing agree with where the things stand."""
        placed: dict[tuple[int, int], list[tuple[Cell, Piece]]] = {}
        for i, (cells, part) in enumerate(zip(self._cells, made, strict=True)):
            if cells and isinstance(part, Dealing):
                for piece, j in zip(part.pieces, part.cells, strict=True):
                    if cells.are_placed[j]:
                        placed.setdefault((i, j), []).append((cells.frame.cells[j], piece))
        return not placed or any(self._fits_set(placed, kept) for kept in self._smallest_sets(state))

    def _fits_set(
        self, placed: Mapping[tuple[int, int], list[tuple[Cell, Piece]]], kept: Mapping[tuple[int, int], int]
    ) -> bool:
        """Whether some choice of so many things from each cell is in order, and all others are at their own places."""
        choices: list[list[list[tuple[Cell, Piece]]]] = []
        for key, members in placed.items():
            n_kept = min(kept.get(key, 0), len(members))
            stray = [(cell, piece) for cell, piece in members if not is_at_home(piece, cell)]
            if n_kept == len(members):
                choices.append([members])
            elif len(stray) > n_kept:
                return False
            else:
                free = [member for member in members if is_at_home(member[1], member[0])]
                choices.append([[*stray, *chosen] for chosen in combinations(free, n_kept - len(stray))])
        for groups in product(*choices):
            self._step()
            chosen_ones = [member for group in groups for member in group]
            if all(is_in_order(chosen_ones, axis) for axis in ("x", "y")):
                return True
        return False

    def _find_smallest_sets(self, state: State) -> tuple[Mapping[tuple[int, int], int], ...]:
        """The smallest sets of placed things, as numbers by cell, that keep a world one wherever the others stand."""
        whole: dict[tuple[int, int], int] = {}
        for i, (cells, counts) in enumerate(zip(self._cells, state, strict=True)):
            if cells and isinstance(counts, tuple):
                whole |= {(i, j): n for j, n in enumerate(counts) if n and cells.are_placed[j]}
        return tuple(dict(kept) for kept in self._shrunk(state, whole, whole, {}))

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


dealer = lru_cache(maxsize=4096)(Dealer)
"""The dealer of a formula, alone or in one frame with another."""
