"""Whether a scene satisfies a formula.

A scene comes in and leaves as yes or no (dealing.py has the rule), or as the fewest differences to a world. Labels the
formula does not mention are ignored. Colours nobody looked at count as none of the mentioned; ask needs_colour first.
`beside` is the other wording of a pair: both are then judged in the frame in which they were proved equivalent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from salva.core.scene import Scene, Thing
from salva.errors import UsageError
from salva.logic.assignment import assign
from salva.logic.dealing import dealer
from salva.logic.diagram import FALSE, Choice, Context
from salva.logic.formula import Formula, Related, atoms, described_by
from salva.logic.frame import ELSEWHERE, Cell, Counts, EntityFrame, StateClass
from salva.logic.notation import to_notation
from salva.logic.order import RANK
from salva.logic.placing import Axis, Things, holds, third
from salva.messages import message

MISSING = "missing"
EXTRA = "extra"
FORBIDDEN = "forbidden"
X_MISPLACED = "x-misplaced"
Y_MISPLACED = "y-misplaced"
COLOUR = "colour"
UNRELATED = "unrelated"

_MAX_STATES = 500
"""States of one class that are compared with a scene; the fullest are looked at first."""
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
_THIRDS = {"x": ("left", "middle", "right"), "y": ("top", "middle", "bottom")}


@dataclass(frozen=True, slots=True, kw_only=True)
class Discrepancy:
    """One difference between a scene and the nearest world of a formula."""

    kind: str
    """missing, extra, forbidden (there should be none), x-misplaced, y-misplaced, colour or unrelated."""
    entity: str
    expected: str
    """A number, a place, a colour or a relation."""
    seen: str
    relation: Related | None = None
    """The relation an "unrelated" difference is about."""
    is_unwanted: bool = False
    """Whether that relation holds and should not, rather than the other way round."""


def satisfies(f: Formula, scene: Scene, counts: str = "exact", beside: Formula | None = None) -> bool:
    """Whether the scene is one of the formula's worlds."""
    return dealer((f,) if beside is None else (f, beside), counts).holds(scene)


def discrepancies(
    f: Formula, scene: Scene, counts: str = "exact", beside: Formula | None = None
) -> tuple[Discrepancy, ...]:
    """The fewest differences between the scene and a world of the formula; empty exactly when it satisfies it."""
    if satisfies(f, scene, counts, beside):
        return ()
    return _explainer(f, counts, beside).discrepancies(scene)


def needs_colour(f: Formula) -> bool:
    """Whether the formula speaks of colours, so that a scene without them cannot be judged."""
    return any(atom.colour for leaf in atoms(f) for atom in described_by(leaf))


_SPARE = 4
"""More than any thing's edits: what a world needs is there before a further thing takes room that it only offers."""
IsAt = Callable[[str, Thing, str, str], bool]
"""Whether a thing of an entity stands at a place of an axis."""


class _CheapestStates(NamedTuple):
    cost: int
    states: tuple[Counts | bool, ...]


class _Explainer:
    """One formula, ready for many scenes that are wrong for it."""

    def __init__(self, f: Formula, counts: str, beside: Formula | None) -> None:
        self._dealer = dealer((f,) if beside is None else (f, beside), counts)
        self.diagram = self._dealer.diagram
        self._axes = {axis: Axis(f, axis) for axis in ("x", "y")}

    def discrepancies(self, scene: Scene) -> tuple[Discrepancy, ...]:
        """What is wrong; the scene must be wrong."""
        things = self._dealer.things(scene)

        def by_order(entity: str, thing: Thing, axis: str, place: str) -> bool:
            return place in self._axes[axis].fitting(entity, thing, things)

        # Where the order finds everything in place and the scene is wrong all the same, a stricter eye sees why.
        for is_at in (by_order, _by_halves, _by_thirds):
            self.diagram.begin()
            target = self._nearest(things, is_at, 0, self.diagram.roots[0], (), {})
            if target.cost >= _NEVER:
                raise UsageError(message("formula-contradictory"))
            found = tuple(self._differences(things, is_at, target))
            if found:
                return found
        raise AssertionError("a scene with everything in its third is right")

    def _differences(self, things: Things, is_at: IsAt, target: _CheapestStates) -> Iterator[Discrepancy]:
        for level, wanted in zip(self.diagram.levels, target.states, strict=True):
            if level.frame is not None:
                assert not isinstance(wanted, bool)
                yield from _of_entity(level.frame, wanted, things.get(level.frame.entity, ()), is_at)
            elif level.relation and (seen := holds(level.relation, things)) is not None and seen != wanted:
                assert level.spelling is not None
                yield _unrelated(level.spelling, bool(wanted))

    def _nearest(
        self,
        things: Things,
        is_at: IsAt,
        i: int,
        node: int,
        context: Context,
        memo: dict[tuple[int, int, Context], _CheapestStates],
    ) -> _CheapestStates:
        """The cheapest way through the levels from here to a world."""
        if node == FALSE:
            return _CheapestStates(_NEVER, ())
        if i == len(self.diagram.levels):
            return _CheapestStates(0, ())
        best = memo.get((i, node, context))
        if best is None:
            best = _CheapestStates(_NEVER, ())
            for choice, after in self.diagram.options(i, context):
                if choice.fits[0]:
                    rest = self.diagram.nodes.restrict(node, i, choice.values, choice.memo)
                    further = self._nearest(things, is_at, i + 1, rest, after, memo)
                    cost, state = self._closest(things, is_at, i, choice)
                    if further.cost < _NEVER and cost + further.cost < best.cost:
                        best = _CheapestStates(cost + further.cost, (state, *further.states))
            memo[i, node, context] = best
        return best

    def _closest(self, things: Things, is_at: IsAt, i: int, choice: Choice) -> tuple[int, Counts | bool]:
        level = self.diagram.levels[i]
        if isinstance(choice.made, bool):
            assert level.relation is not None
            seen = holds(level.relation, things)
            return (0 if seen is None or seen == choice.made else _EDIT), choice.made
        assert level.frame is not None
        own = things.get(level.frame.entity, ())
        assert isinstance(choice.made, StateClass)
        states = _states_of(level.frame, choice.made, min(choice.weight, _MAX_STATES))
        return min(((_distance(level.frame, state, own, is_at), state) for state in states), key=lambda pair: pair[0])


@lru_cache(maxsize=2048)
def _states_of(frame: EntityFrame, of_class: StateClass, n: int) -> list[Counts]:
    return [frame.state(of_class, index) for index in range(n)]


_explainer = lru_cache(maxsize=2048)(_Explainer)


def _by_halves(entity: str, thing: Thing, axis: str, place: str) -> bool:  # noqa: ARG001  # a thing alone
    at, rank = getattr(thing, axis), RANK[place]
    return third(at) == 1 if rank == 1 else at < 0.5 if rank == 0 else at > 0.5


def _by_thirds(entity: str, thing: Thing, axis: str, place: str) -> bool:  # noqa: ARG001  # as above
    return third(getattr(thing, axis)) == RANK[place]


def _matched(frame: EntityFrame, state: Counts, own: Sequence[Thing], is_at: IsAt) -> list[tuple[Thing, Cell]]:
    """Which thing stands for which place of a world, at the fewest edits; the rest is missing or too many."""
    counts = list(zip(frame.cells, state, strict=True))
    slots = [cell for cell, n in counts for _ in range(n)]
    n_needed = len(slots)
    if not frame.is_exact:
        # The largest number stands for any larger one, so such a cell has room for all that is left.
        slots += [cell for cell, n in counts if n > frame.most for _ in own]
    if not slots or not own:
        return []
    costs = [
        [len(_edits(frame, thing, cell, is_at)) + (_SPARE if i >= n_needed else 0) for i, cell in enumerate(slots)]
        for thing in own
    ]
    return [(own[row], slots[column]) for row, column in assign(costs)]


def _distance(frame: EntityFrame, state: Counts, own: Sequence[Thing], is_at: IsAt) -> int:
    n_wanted = sum(state)
    n_moves = 0
    if len(frame.cells) > 1:
        n_moves = sum(len(_edits(frame, thing, cell, is_at)) for thing, cell in _matched(frame, state, own, is_at))
    n_changes = 0 if _has_room(frame, state, own) else abs(len(own) - n_wanted)
    return (n_moves + n_changes) * _EDIT + n_changes * _CHANGE - n_wanted


def _has_room(frame: EntityFrame, state: Counts, own: Sequence[Thing]) -> bool:
    """Whether things beyond those a world counts are none too many for it."""
    return not frame.is_exact and len(own) > sum(state) and max(state) > frame.most


def _edits(frame: EntityFrame, thing: Thing, cell: Cell, is_at: IsAt) -> list[str]:
    """What would have to change for a thing to stand in a cell."""
    edits = []
    for kind, axis in ((X_MISPLACED, "x"), (Y_MISPLACED, "y")):
        place = getattr(cell, axis)
        if place == ELSEWHERE:
            named = {getattr(other, axis) for other in frame.cells}
            if _THIRDS[axis][third(getattr(thing, axis))] in named:
                edits.append(kind)
        elif place is not None and not is_at(frame.entity, thing, axis, place):
            edits.append(kind)
    named_colours = {other.colour for other in frame.cells}
    colour = thing.colour if thing.colour in named_colours else "other"
    if cell.colour is not None and cell.colour != colour:
        edits.append(COLOUR)
    return edits


def _of_entity(frame: EntityFrame, wanted: Counts, own: Sequence[Thing], is_at: IsAt) -> Iterator[Discrepancy]:
    if len(frame.cells) > 1:
        for thing, cell in _matched(frame, wanted, own, is_at):
            for kind in _edits(frame, thing, cell, is_at):
                yield _moved(frame.entity, thing, cell, kind)
    n_wanted, n_seen = sum(wanted), len(own)
    if n_seen != n_wanted and not _has_room(frame, wanted, own):
        kind = MISSING if n_seen < n_wanted else EXTRA if n_wanted else FORBIDDEN
        yield Discrepancy(kind=kind, entity=frame.entity, expected=str(n_wanted), seen=str(n_seen))


def _moved(entity: str, thing: Thing, goal: Cell, kind: str) -> Discrepancy:
    if kind == COLOUR:
        colour = thing.colour or "unknown"
        expected = str(goal.colour) if goal.colour != "other" else f"not {thing.colour}"
        return Discrepancy(kind=kind, entity=entity, expected=expected, seen=colour)
    axis = "x" if kind == X_MISPLACED else "y"
    at = getattr(thing, axis)
    where = _PLACE_WORDS.get(getattr(goal, axis)) or f"not {_PLACE_WORDS[_THIRDS[axis][third(at)]]}"
    seen = f"{axis} {at:.2f}"
    return Discrepancy(kind=kind, entity=entity, expected=where, seen=seen)


def _unrelated(relation: Related, should_hold: bool) -> Discrepancy:
    words = to_notation(relation)
    expected, seen = (words, f"not {words}") if should_hold else (f"not {words}", words)
    return Discrepancy(
        kind=UNRELATED,
        entity=relation.first,
        expected=expected,
        seen=seen,
        relation=relation,
        is_unwanted=not should_hold,
    )
