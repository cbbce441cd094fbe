"""What one entity can be like, seen by one or two formulas that share a vocabulary.

A state is a number of things in each cell (colour by x-place by y-place, only what is mentioned).
States that no atom, no cap and no relation can tell apart form a class; classes are found with
their sizes, without listing the states. Knows single entities only; diagram.py joins them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

from salva.errors import UsageError
from salva.logic.formula import Atom, Description, Stated, axis_of, unknown
from salva.logic.order import RANK, View
from salva.logic.touching import Profile
from salva.messages import message

COUNTS = ("exact", "at-least")
ELSEWHERE = "elsewhere"
"""The place of a thing that stands at none of those named for it; with all three of an axis named there is none."""
_MAX_STEPS = 50_000

Counts = tuple[int, ...]


class Cell(NamedTuple):
    """One way a thing of an entity can be; None where nothing of the kind is mentioned."""

    colour: str | None
    x: str | None
    y: str | None


class StateClass(NamedTuple):
    """What formulas can see of a state."""

    truths: tuple[bool, ...]
    """By atom of the entity."""
    fits: tuple[bool, ...]
    """By formula: whether its exactness allows the state."""
    profile: Profile | None
    """Only for entities that stand in relations."""


def validate_counts(counts: str) -> None:
    """Raise UsageError unless counts can be this."""
    if counts not in COUNTS:
        raise UsageError(unknown("counts", counts, COUNTS))


class EntityFrame:
    """The cells of one entity and the classes of its states."""

    def __init__(
        self,
        entity: str,
        atoms: Sequence[Atom],
        stated: Sequence[Stated | None],
        counts: str,
        related: View | None,
    ) -> None:
        """`stated` holds, by formula, the numbers it states for the entity; None where it does not mention it.

        `related` is what relations see of it; None where it stands in none.
        """
        self.entity = entity
        self.atoms = tuple(atoms)
        self.is_exact = counts == "exact"
        self.is_related = related is not None
        joint: dict[Description, int] = {(None, None): 0}
        for of_formula in stated:
            for description, n in of_formula.mentioned.items() if of_formula else ():
                joint[description] = max(n, joint.get(description, 0))
        self.cells = _cells(joint)
        self.most = max(joint.values())
        """The largest number stated in any formula for any description."""
        rows = [_row(description) for description in joint]
        self._atom_rows = tuple((list(joint).index((atom.colour, atom.place)), atom.count) for atom in atoms)
        self._caps = tuple(_caps(joint, of_formula, stated) for of_formula in stated)
        self._bounds = tuple(max(caps[i] for caps in self._caps) for i in range(len(joint)))
        self._n_described = len(joint)
        self._most_seen = related.most if related else 0
        if related:
            rows += [Cell(colour, None, None) for colour in self._seen_colours(related, "")]
            for axis in sorted(related.axes & {"x", "y"}):
                places = [place for place in dict.fromkeys(getattr(cell, axis) for cell in self.cells) if place]
                for colour, place in product(self._seen_colours(related, axis), places):
                    rows.append(Cell(colour, place, None) if axis == "x" else Cell(colour, None, place))
        self._rows = tuple(rows)
        self._unnamed = tuple(_unnamed([getattr(cell, axis) for cell in self.cells]) for axis in ("x", "y"))
        self._matches = tuple(tuple(_matches(row, cell) for row in rows) for cell in self.cells)
        self._memo: dict[tuple[int, Counts], dict[StateClass, int]] = {}

    def _seen_colours(self, related: View, of: str) -> dict[str | None, None]:
        """The colours that relations tell apart: all of them or, where they ask for none, none."""
        return dict.fromkeys(cell.colour if of in related.colours else None for cell in self.cells)

    def classes(self) -> dict[StateClass, int]:
        """Every class that some formula's exactness allows, with its number of states, fullest first."""
        return self._completions(0, (0,) * len(self._rows))

    def state(self, of_class: StateClass, index: int) -> Counts:
        """The state with this index in a class: how many things each cell holds."""
        counts: list[int] = []
        totals = (0,) * len(self._rows)
        for i in range(len(self.cells)):
            for count, after in self._steps(i, totals):
                n = self._completions(i + 1, after).get(of_class, 0)
                if index < n:
                    counts.append(count)
                    totals = after
                    break
                index -= n
        assert len(counts) == len(self.cells)
        return tuple(counts)

    def classify(self, counts: Counts) -> StateClass:
        """The class of any state, even one that no exactness allows."""
        totals = [0] * len(self._rows)
        for matches, n in zip(self._matches, counts, strict=True):
            for row, is_match in enumerate(matches):
                totals[row] += n if is_match else 0
        return self._classify(tuple(totals))

    def _completions(self, i: int, totals: Counts) -> dict[StateClass, int]:
        found = self._memo.get((i, totals))
        if found is not None:
            return found
        if len(self._memo) > _MAX_STEPS:
            raise UsageError(message("formula-too-large"))
        found = {}
        if i == len(self.cells):
            seen = self._classify(totals)
            if any(seen.fits):
                found[seen] = 1
        else:
            for _, after in self._steps(i, totals):
                for seen, n in self._completions(i + 1, after).items():
                    found[seen] = found.get(seen, 0) + n
        self._memo[i, totals] = found
        return found

    def _steps(self, i: int, totals: Counts) -> Iterator[tuple[int, Counts]]:
        """Every number of things cell i can take, most first, with the totals after it."""
        matches = self._matches[i]
        # One above the largest number mentioned stands for "more": no atom can tell further.
        limit = self.most + 1
        if self.is_exact:
            limit = min(bound - t for bound, t, m in zip(self._bounds, totals, matches, strict=False) if m)
        for count in range(limit, -1, -1):
            after = tuple(t + count if m else t for t, m in zip(totals, matches, strict=True))
            yield count, after if self.is_exact else tuple(min(t, self.most + 1) for t in after)

    def _classify(self, totals: Counts) -> StateClass:
        truths = tuple(totals[row] >= n for row, n in self._atom_rows)
        if self.is_exact:
            fits = tuple(all(t <= cap for t, cap in zip(totals, caps, strict=False)) for caps in self._caps)
        else:
            fits = (True,) * len(self._caps)
        return StateClass(truths, fits, self._profile(totals) if self.is_related else None)

    def _profile(self, totals: Counts) -> Profile:
        by_colour: list[tuple[str | None, int]] = []
        xs: list[tuple[str | None, str | None, int]] = []
        ys: list[tuple[str | None, str | None, int]] = []
        for row, total in zip(self._rows[self._n_described :], totals[self._n_described :], strict=True):
            n = min(total, self._most_seen) if self.is_exact or total <= self.most else self._most_seen
            if n and row.x:
                xs.append((row.colour, row.x, n))
            elif n and row.y:
                ys.append((row.colour, row.y, n))
            elif n:
                by_colour.append((row.colour, n))
        anywhere = tuple((colour, None, n) for colour, n in by_colour)
        return Profile(tuple(by_colour), tuple(xs) or anywhere, tuple(ys) or anywhere, self._most_seen, *self._unnamed)


def _caps(
    joint: dict[Description, int],
    own: Stated | None,
    stated: Sequence[Stated | None],
) -> Counts:
    """By description: the most things a formula allows; what it does not mention is held to the other's caps."""

    def cap(description: Description) -> int:
        if own is not None and (description == (None, None) or description in own.mentioned):
            return own.most(description)
        others = [other for other in stated if other is not None and other is not own]
        inside = [other for other in others if description == (None, None) or description in other.mentioned]
        return max(other.most(description) for other in inside)

    return tuple(cap(description) for description in joint)


def _cells(joint: dict[Description, int]) -> tuple[Cell, ...]:
    rows = [_row(description) for description in joint]
    colours = _values([row.colour for row in rows], "other")
    xs, ys = (_values([getattr(row, axis) for row in rows], ELSEWHERE) for axis in ("x", "y"))
    return tuple(Cell(colour, x, y) for colour in colours for x in xs for y in ys)


def _values(mentioned: list[str | None], rest: str) -> list[str | None]:
    values = list(dict.fromkeys(value for value in mentioned if value))
    if rest == ELSEWHERE and len(values) == 3:
        return [*values]
    return [*values, rest] if values else [None]


def _unnamed(places: list[str | None]) -> tuple[int, ...]:
    """The ranks of an axis that no place is named for."""
    return tuple(sorted({0, 1, 2} - {RANK[place] for place in places if place and place != ELSEWHERE}))


def _row(description: Description) -> Cell:
    colour, place = description
    if place is None:
        return Cell(colour, None, None)
    name = place.removeprefix("x-").removeprefix("y-")
    return Cell(colour, name, None) if axis_of(place) == "x" else Cell(colour, None, name)


def _matches(row: Cell, cell: Cell) -> bool:
    return all(wanted is None or wanted == has for wanted, has in zip(row, cell, strict=True))
