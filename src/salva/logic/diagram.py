"""Formulas as decision diagrams.

Levels are entities (which class of states?) and relations (true or not?); a formula shrinks at each
choice, equal rests are walked once. Counting, finding a difference and picking the n-th world are
walks over the same levels. Sizes are guarded: what would take too long raises UsageError.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from threading import Lock
from typing import NamedTuple

from salva.errors import UsageError
from salva.logic.formula import (
    MAX_DEPTH,
    And,
    Atom,
    Formula,
    Literal,
    Not,
    Related,
    atoms,
    depth,
    entities,
    stated_counts,
)
from salva.logic.frame import Counts, EntityFrame, StateClass, validate_counts
from salva.logic.order import canonical, is_consistent, view_of
from salva.logic.touching import Profile
from salva.messages import message

_MAX_LEVELS = 200
_MAX_VISITS = 200_000
_ORDER_VISITS = 30
"""What one look at an arrangement costs, in visits."""

FALSE, TRUE = 0, 1
Context = tuple[Profile | bool, ...]
"""What was chosen so far among entities that stand in relations to each other."""


class Nodes:
    """Shared formulas: equal ones have equal numbers, whatever the order of their parts."""

    def __init__(self) -> None:
        self._parts: list[tuple[str, int, int]] = [("", 0, 0), ("", 0, 0)]
        self.levels: list[int] = [0, 0]
        """By node: a bit for every level it depends on."""
        self._numbers: dict[tuple[str, int, int], int] = {}
        self._lock = Lock()

    def leaf(self, literal: int, level: int) -> int:
        return self._node(("leaf", literal, 0), 1 << level)

    def negation(self, a: int) -> int:
        if a <= TRUE:
            return 1 - a
        kind, inner, _ = self._parts[a]
        return inner if kind == "not" else self._node(("not", a, 0), self.levels[a])

    def both(self, a: int, b: int) -> int:
        if a > b:
            a, b = b, a
        if a == FALSE or self._parts[b] == ("not", a, 0) or self._parts[a] == ("not", b, 0):
            return FALSE
        if a in (TRUE, b):
            return b
        return self._node(("and", a, b), self.levels[a] | self.levels[b])

    def restrict(self, node: int, level: int, values: dict[int, bool], memo: dict[int, int]) -> int:
        """The node once the literals of this level have these values."""
        if not self.levels[node] >> level & 1:
            return node
        restricted = memo.get(node)
        if restricted is None:
            kind, a, b = self._parts[node]
            if kind == "leaf":
                restricted = int(values[a])
            elif kind == "not":
                restricted = self.negation(self.restrict(a, level, values, memo))
            else:
                left = self.restrict(a, level, values, memo)
                restricted = self.both(left, self.restrict(b, level, values, memo)) if left else FALSE
            memo[node] = restricted
        return restricted

    def _node(self, parts: tuple[str, int, int], levels: int) -> int:
        # Diagrams are cached and shared by threads; a number is published only when its parts are there.
        with self._lock:
            number = self._numbers.get(parts)
            if number is None:
                number = len(self._parts)
                self._parts.append(parts)
                self.levels.append(levels)
                self._numbers[parts] = number
        return number


class Choice(NamedTuple):
    """One branch of a level."""

    values: dict[int, bool]
    """The truth of every literal decided here."""
    fits: tuple[bool, ...]
    """By formula: whether its exactness allows it."""
    weight: int
    """How many states take this branch."""
    made: StateClass | bool
    memo: dict[int, int]


class Level(NamedTuple):
    """An entity whose state is chosen, or a relation that is true or not."""

    frame: EntityFrame | None
    relation: Related | None
    spelling: Related | None
    """The relation as first mentioned."""
    literals: tuple[int, ...]
    """The literals decided here: the entity's atoms in order, or the relation."""
    choices: tuple[Choice, ...]
    opens: int
    """The first level of the group of related entities this one belongs to."""
    is_last: bool
    """Whether it is the last of that group."""


Path = list[tuple[Level, Choice]]


class Diagram:
    """The levels and roots of one or two formulas over their joint vocabulary."""

    def __init__(self, formulas: Sequence[Formula], counts: str = "exact") -> None:
        validate_counts(counts)
        for formula in formulas:
            if depth(formula) > MAX_DEPTH:
                raise UsageError(message("formula-too-deep", limit=MAX_DEPTH))
        self.nodes = Nodes()
        self._literals: dict[Literal, int] = {}
        self._level_of: dict[Literal, int] = {}
        self.levels = self._build(formulas, counts)
        self.roots = [self._compile(formula) for formula in formulas]
        self._n_visits = 0
        self._consistent: dict[tuple[int, Context], bool] = {}
        self._counts: list[dict[tuple[int, int, Context], int]] = [{} for _ in formulas]
        self._counted: set[int] = set()

    def begin(self) -> None:
        """Start a walk with its whole allowance, and with nothing learnt that would make it cheaper."""
        self._n_visits = 0
        self._consistent.clear()

    def count(self, k: int = 0) -> int:
        """The number of worlds of formula k."""
        self.begin()
        if k not in self._counted:
            # Nothing that an unfinished walk has learnt: what is too large stays so, whatever was asked before.
            self._counts[k].clear()
            self._count(k, 0, self.roots[k], ())
            self._counted.add(k)
        return self._count(k, 0, self.roots[k], ())

    def difference(self) -> tuple[Path, int] | None:
        """A path to a world of one formula and not of the other, with the index of the one that holds."""
        self.begin()
        alike = [True] * (len(self.levels) + 1)
        for i in range(len(self.levels) - 1, -1, -1):
            alike[i] = alike[i + 1] and all(c.fits[0] == c.fits[1] for c in self.levels[i].choices)
        return self._difference(0, self.roots[0], self.roots[1], (), alike, set())

    def admits(self, state: Sequence[Counts | bool | None]) -> bool:
        """Whether numbers of things in cells, and which relations hold, are a world of the first formula."""
        node = self.roots[0]
        for i, (level, made) in enumerate(zip(self.levels, state, strict=True)):
            if level.frame is None:
                values = {level.literals[0]: bool(made)}
            else:
                assert isinstance(made, tuple)
                seen = level.frame.classify(made)
                if not seen.fits[0]:
                    return False
                values = dict(zip(level.literals, seen.truths, strict=True))
            node = self.nodes.restrict(node, i, values, {})
        return node == TRUE and self.is_paintable(state)

    def is_paintable(self, state: Sequence[Counts | bool | None]) -> bool:
        """Whether some image has things at these places that stand in just these relations."""
        context: list[Profile | bool] = []
        for i, (level, made) in enumerate(zip(self.levels, state, strict=True)):
            if level.frame is None:
                context.append(bool(made))
                if not self._is_consistent(i, tuple(context)):
                    return False
            elif level.frame.is_related:
                assert isinstance(made, tuple)
                profile = level.frame.classify(made).profile
                assert profile is not None
                context.append(profile)
            if level.is_last:
                context = []
        return True

    def paths(self, k: int = 0) -> Iterator[Path]:
        """Every path to worlds of formula k, fullest worlds first."""
        self.count(k)
        yield from self._paths(k, 0, self.roots[k], (), [])

    def path_at(self, index: int, k: int = 0) -> tuple[Path, int]:
        """The path to the world with this index, and the world's index among those of the path."""
        self.count(k)
        node, context = self.roots[k], Context()
        path: Path = []
        weight = 1
        for i, level in enumerate(self.levels):
            for choice, after in self.options(i, context):
                if not choice.fits[k]:
                    continue
                rest = self.nodes.restrict(node, i, choice.values, choice.memo)
                n = weight * choice.weight * self._count(k, i + 1, rest, after)
                if index < n:
                    path.append((level, choice))
                    node, context, weight = rest, after, weight * choice.weight
                    break
                index -= n
        assert len(path) == len(self.levels)
        return path, index

    def _count(self, k: int, i: int, node: int, context: Context) -> int:
        if node == FALSE:
            return 0
        if i == len(self.levels):
            return 1
        total = self._counts[k].get((i, node, context))
        if total is None:
            self._visit()
            total = 0
            for choice, after in self.options(i, context):
                if choice.fits[k]:
                    rest = self.nodes.restrict(node, i, choice.values, choice.memo)
                    total += choice.weight * self._count(k, i + 1, rest, after)
            self._counts[k][i, node, context] = total
        return total

    def _difference(
        self, i: int, f: int, g: int, context: Context, alike: list[bool], seen: set[tuple[int, int, int, Context]]
    ) -> tuple[Path, int] | None:
        if f == g and (f == FALSE or alike[i]):
            return None
        if i == len(self.levels):
            return [], 0 if f else 1
        key = (i, f, g, context)
        if key in seen:
            return None
        self._visit()
        for choice, after in self.options(i, context):
            rest_f = self.nodes.restrict(f, i, choice.values, choice.memo) if choice.fits[0] else FALSE
            rest_g = self.nodes.restrict(g, i, choice.values, choice.memo) if choice.fits[1] else FALSE
            rest = self._difference(i + 1, rest_f, rest_g, after, alike, seen)
            if rest is not None:
                return [(self.levels[i], choice), *rest[0]], rest[1]
        seen.add(key)
        return None

    def _paths(self, k: int, i: int, node: int, context: Context, path: Path) -> Iterator[Path]:
        if node == FALSE or not self._count(k, i, node, context):
            return
        if i == len(self.levels):
            yield path
            return
        for choice, after in self.options(i, context):
            if choice.fits[k]:
                rest = self.nodes.restrict(node, i, choice.values, choice.memo)
                yield from self._paths(k, i + 1, rest, after, [*path, (self.levels[i], choice)])

    def options(self, i: int, context: Context) -> Iterator[tuple[Choice, Context]]:
        """The choices open at a level, with the context after each."""
        level = self.levels[i]
        for choice in level.choices:
            if level.frame is not None and not level.frame.is_related:
                yield choice, ()
                continue
            made = choice.made if isinstance(choice.made, bool) else choice.made.profile
            assert made is not None
            after = (*context, made)
            if level.relation is None or self._is_consistent(i, after):
                yield choice, () if level.is_last else after

    def _is_consistent(self, i: int, context: Context) -> bool:
        remembered = self._consistent.get((i, context))
        if remembered is None:
            profiles: dict[str, Profile] = {}
            said: list[tuple[Related, bool]] = []
            for level, made in zip(self.levels[self.levels[i].opens : i + 1], context, strict=True):
                if isinstance(made, bool):
                    assert level.relation is not None
                    said.append((level.relation, made))
                else:
                    assert level.frame is not None
                    profiles[level.frame.entity] = made
            self._visit(_ORDER_VISITS)
            remembered = self._consistent[i, context] = is_consistent(profiles, said)
        return remembered

    def _visit(self, n: int = 1) -> None:
        self._n_visits += n
        if self._n_visits > _MAX_VISITS:
            raise UsageError(message("formula-too-large"))

    def _compile(self, f: Formula) -> int:
        if isinstance(f, Atom | Related):
            key = canonical(f) if isinstance(f, Related) else f
            return self.nodes.leaf(self._literals[key], self._level_of[key])
        if isinstance(f, Not):
            return self.nodes.negation(self._compile(f.part))
        a, b = self._compile(f.left), self._compile(f.right)
        if isinstance(f, And):
            return self.nodes.both(a, b)
        # One connective is enough for the walk: a or b is not (not a and not b).
        return self.nodes.negation(self.nodes.both(self.nodes.negation(a), self.nodes.negation(b)))

    def _build(self, formulas: Sequence[Formula], counts: str) -> list[Level]:
        spelled: dict[Related, Related] = {}
        of_entity: dict[str, dict[Atom, None]] = {}
        for f in formulas:
            for entity in entities(f):
                of_entity.setdefault(entity, {})
            for leaf in atoms(f):
                if isinstance(leaf, Atom):
                    of_entity[leaf.entity][leaf] = None
                else:
                    spelled.setdefault(canonical(leaf), leaf)
        if len(of_entity) + len(spelled) > _MAX_LEVELS:
            raise UsageError(message("formula-too-large"))
        stated = [stated_counts(f) for f in formulas]
        levels: list[Level] = []
        for group in _related_groups(of_entity, spelled):
            opens = len(levels)
            for part in group:
                is_last = part == group[-1]
                if isinstance(part, str):
                    view = view_of(part, spelled)
                    frame = EntityFrame(part, tuple(of_entity[part]), [s.get(part) for s in stated], counts, view)
                    literals = tuple(self._literal(atom, len(levels)) for atom in frame.atoms)
                    choices = tuple(
                        Choice(dict(zip(literals, seen.truths, strict=True)), seen.fits, n, seen, {})
                        for seen, n in frame.classes().items()
                    )
                    levels.append(Level(frame, None, None, literals, choices, opens, is_last))
                else:
                    literal = self._literal(part, len(levels))
                    fits = (True,) * len(formulas)
                    choices = tuple(Choice({literal: truth}, fits, 1, truth, {}) for truth in (True, False))
                    levels.append(Level(None, part, spelled[part], (literal,), choices, opens, is_last))
        return levels

    def _literal(self, literal: Literal, level: int) -> int:
        self._level_of[literal] = level
        return self._literals.setdefault(literal, len(self._literals))


def _related_groups(
    of_entity: dict[str, dict[Atom, None]], spelled: dict[Related, Related]
) -> list[list[str | Related]]:
    """Entities with the relations between them, a relation as soon as both its entities are there."""
    group_of = {entity: entity for entity in of_entity}
    for relation in spelled:
        old, new = group_of[relation.second], group_of[relation.first]
        for entity, group in group_of.items():
            if group == old:
                group_of[entity] = new
    groups: list[list[str | Related]] = []
    for name in dict.fromkeys(group_of.values()):
        parts: list[str | Related] = []
        waiting = [r for r in spelled if group_of[r.first] == name]
        placed: set[str] = set()
        for entity in of_entity:
            if group_of[entity] == name:
                placed.add(entity)
                parts.append(entity)
                parts += [r for r in waiting if entity in (r.first, r.second) and {r.first, r.second} <= placed]
        groups.append(parts)
    return groups
