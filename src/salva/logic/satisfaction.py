"""Whether a scene is one of a formula's worlds, and what is wrong with it when it is not.

A scene comes in, is put into the words of the formula (how many things in which cell, which relations
hold), and leaves as yes or no, or as the fewest differences to a world. Labels the formula does not
mention are ignored. Colours nobody looked at count as none of the mentioned; ask needs_colour first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from salva.core.scene import Scene, Thing
from salva.errors import UsageError
from salva.logic.diagram import FALSE, TRUE, Choice, Context
from salva.logic.formula import Atom, Formula, Related, atoms
from salva.logic.frame import Cell, Counts, EntityFrame, StateClass
from salva.logic.placing import Axis, Things, is_related
from salva.logic.words import counted
from salva.logic.worlds import diagram_of

MISSING = "missing"
EXTRA = "extra"
X_MISPLACED = "x-misplaced"
Y_MISPLACED = "y-misplaced"
COLOUR = "colour"
UNRELATED = "unrelated"

_MAX_STATES = 500
"""States of one class that are compared with a scene; the fullest are looked at first."""
_MAX_REMEMBERED = 2_000
# One edit outweighs any number of things, which only decide between worlds equally near. Of two edits the
# milder is likelier: a dog on the wrong side is a misplaced dog before it is a missing cat.
_EDIT = 1_000_000
_CHANGE = 1_000
_NEVER = 10**12
_PLACE_WORDS = {
    "left": "on the left",
    "right": "on the right",
    "top": "at the top",
    "bottom": "at the bottom",
    "middle": "in the middle",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Discrepancy:
    """One difference between a scene and the nearest world of a formula."""

    kind: str
    """missing, extra, x-misplaced, y-misplaced, colour or unrelated."""
    entity: str
    expected: str
    """A number, a place, a colour or a relation."""
    seen: str
    message: str
    relation: Related | None = None
    """The relation an "unrelated" difference is about."""
    is_unwanted: bool = False
    """Whether that relation holds and should not, rather than the other way round."""


def satisfies(f: Formula, scene: Scene, reading: str = "exact", place: str = "order") -> bool:
    """Whether the scene is one of the formula's worlds."""
    return _checker(f, reading, place).holds(scene)


def explain(f: Formula, scene: Scene, reading: str = "exact", place: str = "order") -> tuple[Discrepancy, ...]:
    """The fewest differences between the scene and a world of the formula; empty exactly when it satisfies it."""
    return _checker(f, reading, place).explain(scene)


def needs_colour(f: Formula) -> bool:
    """Whether the formula speaks of colours, so that a scene without them cannot be judged."""
    return any(isinstance(leaf, Atom) and leaf.colour is not None for leaf in atoms(f))


class _View(NamedTuple):
    """A scene in the words of a formula."""

    counts: tuple[Counts | bool | None, ...]
    """By level: things in each cell, or whether the relation holds (None when an entity is absent)."""


class _Target(NamedTuple):
    cost: int
    states: tuple[Counts | bool, ...]


class _Checker:
    """One formula, ready for many scenes."""

    def __init__(self, f: Formula, reading: str, place: str) -> None:
        self.diagram = diagram_of(f, reading)
        self.x_axis = Axis(f, "x", place)
        self.y_axis = Axis(f, "y", place)
        self._labels = frozenset(level.frame.entity for level in self.diagram.levels if level.frame)
        self._states: dict[int, list[Counts]] = {}
        self._known: dict[_View, bool] = {}
        self._targets: dict[_View, _Target] = {}

    def holds(self, scene: Scene) -> bool:
        return self._holds(self._view(self._things(scene)))

    def explain(self, scene: Scene) -> tuple[Discrepancy, ...]:
        things = self._things(scene)
        view = self._view(things)
        if self._holds(view):
            return ()
        target = self._targets.get(view)
        if target is None:
            self.diagram.begin()
            target = self._nearest(view, 0, self.diagram.roots[0], (), {})
            if target.cost >= _NEVER:
                raise UsageError("the formula is contradictory: no scene satisfies it, so none is near to doing so")
            if len(self._targets) < _MAX_REMEMBERED:
                self._targets[view] = target
        found: list[Discrepancy] = []
        for level, seen, wanted in zip(self.diagram.levels, view.counts, target.states, strict=True):
            if level.frame is not None:
                assert not isinstance(seen, bool)
                assert not isinstance(wanted, bool)
                found += self._differences(level.frame, seen or (), wanted, things)
            elif seen is not None and seen != wanted:
                assert level.spelling is not None
                found.append(_unrelated(level.spelling, bool(wanted)))
        return tuple(found)

    def _things(self, scene: Scene) -> Things:
        things: dict[str, list[Thing]] = {}
        for thing in scene.things:
            if thing.label in self._labels:
                things.setdefault(thing.label, []).append(thing)
        return things

    def _view(self, things: Things) -> _View:
        counts: list[Counts | bool | None] = []
        for level in self.diagram.levels:
            if level.frame is not None:
                own = things.get(level.frame.entity, ())
                if len(level.frame.cells) == 1:
                    counts.append((_clamped(level.frame, len(own)),))
                else:
                    cells = self._cells(level.frame, things)
                    counts.append(tuple(_clamped(level.frame, cells.count(cell)) for cell in level.frame.cells))
            else:
                assert level.relation is not None
                first, second = things.get(level.relation.first, ()), things.get(level.relation.second, ())
                is_true = any(is_related(level.relation.relation, a, b) for a in first for b in second)
                counts.append(is_true if first and second else None)
        return _View(tuple(counts))

    def _cells(self, frame: EntityFrame, things: Things) -> list[Cell]:
        """The cell of each thing of an entity."""
        colours = {cell.colour for cell in frame.cells}
        own = things.get(frame.entity, ())
        xs, ys = self.x_axis.places(frame.entity, things), self.y_axis.places(frame.entity, things)
        if colours == {None}:
            return [Cell(None, x, y) for x, y in zip(xs, ys, strict=True)]
        return [
            Cell(thing.colour if thing.colour in colours and thing.colour is not None else "other", x, y)
            for thing, x, y in zip(own, xs, ys, strict=True)
        ]

    def _holds(self, view: _View) -> bool:
        known = self._known.get(view)
        if known is None:
            known = self._decide(view)
            if len(self._known) < _MAX_REMEMBERED:
                self._known[view] = known
        return known

    def _decide(self, view: _View) -> bool:
        node = self.diagram.roots[0]
        for i, (level, seen) in enumerate(zip(self.diagram.levels, view.counts, strict=True)):
            if level.frame is None:
                values = {level.literals[0]: bool(seen)}
            else:
                assert isinstance(seen, tuple)
                of_class = level.frame.classify(seen)
                if not of_class.fits[0]:
                    return False
                values = dict(zip(level.literals, of_class.truths, strict=True))
            node = self.diagram.nodes.restrict(node, i, values, {})
        return node == TRUE

    def _nearest(
        self, view: _View, i: int, node: int, context: Context, memo: dict[tuple[int, int, Context], _Target]
    ) -> _Target:
        """The cheapest way through the levels from here to a world."""
        if node == FALSE:
            return _Target(_NEVER, ())
        if i == len(self.diagram.levels):
            return _Target(0, ())
        best = memo.get((i, node, context))
        if best is None:
            best = _Target(_NEVER, ())
            for choice, after in self.diagram.options(i, context):
                if choice.fits[0]:
                    rest = self.diagram.nodes.restrict(node, i, choice.values, choice.memo)
                    further = self._nearest(view, i + 1, rest, after, memo)
                    cost, state = self._closest(i, choice, view.counts[i])
                    if cost + further.cost < best.cost:
                        best = _Target(cost + further.cost, (state, *further.states))
            memo[i, node, context] = best
        return best

    def _closest(self, i: int, choice: Choice, seen: Counts | bool | None) -> tuple[int, Counts | bool]:
        if isinstance(choice.made, bool):
            return (0 if seen is None or seen == choice.made else _EDIT), choice.made
        frame = self.diagram.levels[i].frame
        assert frame is not None
        assert isinstance(seen, tuple)
        return min(
            ((_distance(frame.cells, seen, state), state) for state in self._states_of(frame, choice)),
            key=lambda pair: pair[0],
        )

    def _states_of(self, frame: EntityFrame, choice: Choice) -> list[Counts]:
        known = self._states.get(id(choice.made))
        if known is None:
            assert isinstance(choice.made, StateClass)
            known = [frame.state(choice.made, index) for index in range(min(choice.weight, _MAX_STATES))]
            self._states[id(choice.made)] = known
        return known

    def _differences(self, frame: EntityFrame, seen: Counts, wanted: Counts, things: Things) -> list[Discrepancy]:
        if seen == wanted:
            return []
        found: list[Discrepancy] = []
        own = list(zip(things.get(frame.entity, ()), self._cells(frame, things), strict=True))
        for source, goal in _moves(frame.cells, seen, wanted):
            thing = next(thing for thing, cell in own if cell == source)
            own.remove((thing, source))
            found += _moved(frame.entity, thing, source, goal)
        n_seen, n_wanted = sum(seen), sum(wanted)
        if n_seen != n_wanted:
            kind = MISSING if n_seen < n_wanted else EXTRA
            n_there = len(things.get(frame.entity, ()))
            there = counted(frame.entity, n_there) if n_there else f"no {frame.entity}"
            expected = str(n_wanted) if n_wanted else "none"
            found.append(
                Discrepancy(
                    kind=kind,
                    entity=frame.entity,
                    expected=str(n_wanted),
                    seen=str(n_there),
                    message=f"{there} where {expected} should be",
                )
            )
        return found


@lru_cache(maxsize=2048)
def _checker(f: Formula, reading: str, place: str) -> _Checker:
    return _Checker(f, reading, place)


def _clamped(frame: EntityFrame, n: int) -> int:
    return n if frame.is_exact else min(n, frame.most + 1)


def _distance(cells: Sequence[Cell], seen: Counts, wanted: Counts) -> int:
    moves = _moves(cells, seen, wanted) if len(cells) > 1 else ()
    n_moves = sum(_aspects(source, goal) for source, goal in moves)
    n_changes = abs(sum(seen) - sum(wanted))
    return (n_moves + n_changes) * _EDIT + n_changes * _CHANGE - sum(wanted)


def _moves(cells: Sequence[Cell], seen: Counts, wanted: Counts) -> list[tuple[Cell, Cell]]:
    """Things that are there but in the wrong cell, nearest cells first."""
    surplus = {cell: s - w for cell, s, w in zip(cells, seen, wanted, strict=True) if s > w}
    deficit = {cell: w - s for cell, s, w in zip(cells, seen, wanted, strict=True) if w > s}
    pairs = sorted(((a, b) for a in surplus for b in deficit), key=lambda pair: _aspects(*pair))
    moves: list[tuple[Cell, Cell]] = []
    for source, goal in pairs:
        n = min(surplus[source], deficit[goal])
        surplus[source] -= n
        deficit[goal] -= n
        moves += [(source, goal)] * n
    return moves


def _aspects(source: Cell, goal: Cell) -> int:
    return sum(a != b for a, b in zip(source, goal, strict=True))


def _moved(entity: str, thing: Thing, source: Cell, goal: Cell) -> list[Discrepancy]:
    found: list[Discrepancy] = []
    for kind, axis, was, should, at in (
        (X_MISPLACED, "x", source.x, goal.x, thing.x),
        (Y_MISPLACED, "y", source.y, goal.y, thing.y),
    ):
        if was != should:
            seen = f"{axis} {at:.2f}"
            where = _PLACE_WORDS.get(should or "") or f"not {_PLACE_WORDS[was or '']}"
            message = f"{counted(entity, 1)} at {seen} that should be {where}"
            found.append(Discrepancy(kind=kind, entity=entity, expected=where, seen=seen, message=message))
    if source.colour != goal.colour:
        colour = thing.colour or "unknown"
        expected = str(goal.colour) if goal.colour != "other" else f"not {source.colour}"
        message = f"{counted(entity, 1)} is {colour} and should be {expected}"
        found.append(Discrepancy(kind=COLOUR, entity=entity, expected=expected, seen=colour, message=message))
    return found


def _unrelated(relation: Related, should_hold: bool) -> Discrepancy:
    words = f"{relation.relation}({relation.first}, {relation.second})"
    if should_hold:
        expected, seen, message = words, f"not {words}", f"{words} does not hold and should"
    else:
        expected, seen, message = f"not {words}", words, f"{words} holds and should not"
    return Discrepancy(
        kind=UNRELATED,
        entity=relation.first,
        expected=expected,
        seen=seen,
        message=message,
        relation=relation,
        is_unwanted=not should_hold,
    )
