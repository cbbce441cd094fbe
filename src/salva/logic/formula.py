"""The formula: what a prompt says, as a tree.

Atoms are lower bounds ("at least n red cats on the left"); connectives are binary, so that two
bracketings of one sentence are two formulas. Meaning lives in worlds.py, text in notation.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce

from salva.errors import UsageError
from salva.messages import Message, message

COLOURS = ("red", "orange", "yellow", "green", "blue", "purple", "pink", "brown", "black", "white", "gray")
PLACES = ("left", "x-middle", "right", "top", "y-middle", "bottom")
RELATIONS = ("left_of", "right_of", "above", "below", "next_to", "near", "on", "larger_than", "smaller_than")
MAX_COUNT = 99
MAX_DEPTH = 100
"""Trees are walked recursively; deeper ones are refused where they enter."""

NUMBER_WORDS = (
    *("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen"),
    *("fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty"),
)
"""The words for 1 to 20, in order."""
RESERVED_WORDS = frozenset(
    (
        *("a", "an", "the", "no", "not", "and", "or", "nor", "either", "neither", "both", "otherwise", "but", "with"),
        *("there", "is", "are", "it", "case", "that", "on", "in", "to", "of", "at", "least", "exactly", "only", "next"),
        *("left", "right", "top", "bottom", "middle", "above", "below", *NUMBER_WORDS),
        *("larger", "bigger", "smaller", "than"),
        *("along", "together", "as", "well"),
        *("under", "underneath", "beneath", "beside", "near", "most", "more", "fewer", "less", "true"),
    )
)
"""Words no entity may contain: a sentence that names such an entity could be read in two ways."""

_X_PLACES = frozenset(("left", "x-middle", "right"))


@dataclass(frozen=True, slots=True)
class Atom:
    """At least `count` things of this entity, colour and place."""

    entity: str
    """A singular noun, lower case, of one or more words."""
    count: int = 1
    colour: str | None = None
    place: str | None = None
    """left, x-middle, right on the x axis; top, y-middle, bottom on the y axis."""

    def __post_init__(self) -> None:
        if problem := entity_problem(self.entity):
            raise UsageError(problem)
        if not 1 <= self.count <= MAX_COUNT:
            raise UsageError(message("count-range", limit=MAX_COUNT, got=repr(self.count)))
        if self.colour is not None and self.colour not in COLOURS:
            raise UsageError(unknown("colour", self.colour, COLOURS))
        if self.place is not None and self.place not in PLACES:
            raise UsageError(unknown("place", self.place, PLACES))


@dataclass(frozen=True, slots=True)
class Side:
    """How many things of a side of a relation, and of which colour."""

    count: int = 1
    colour: str | None = None


_ANY_ONE = Side()


@dataclass(frozen=True, slots=True)
class Related:
    """At least so many of the first entity, each of which stands so to at least so many of the second."""

    relation: str
    first: str
    second: str
    first_side: Side = _ANY_ONE
    second_side: Side = _ANY_ONE

    def __post_init__(self) -> None:
        if self.relation not in RELATIONS:
            raise UsageError(unknown("relation", self.relation, RELATIONS))
        if not are_apart(*self.sides()):
            raise UsageError(message("relation-sides", example=f"{self.relation}(cat, dog)"))

    def sides(self) -> tuple[Atom, Atom]:
        """What stands in the relation, and to what, each as an atom."""
        first, second = self.first_side, self.second_side
        return Atom(self.first, first.count, first.colour), Atom(self.second, second.count, second.colour)

    def turned(self, relation: str) -> Related:
        """The sides exchanged, under this relation."""
        return Related(relation, self.second, self.first, self.second_side, self.first_side)


def related(relation: str, first: Atom, second: Atom) -> Related:
    """The relation between what two atoms without a place describe."""
    sides = (Side(atom.count, atom.colour) for atom in (first, second))
    return Related(relation, first.entity, second.entity, *sides)


@dataclass(frozen=True, slots=True)
class And:
    """Both parts hold."""

    left: Formula
    right: Formula


@dataclass(frozen=True, slots=True)
class Or:
    """At least one part holds."""

    left: Formula
    right: Formula


@dataclass(frozen=True, slots=True)
class Not:
    """The part does not hold."""

    part: Formula


Formula = Atom | Related | And | Or | Not
Literal = Atom | Related


def unknown(what: str, name: object, known: Sequence[str]) -> Message:
    """The message about a name that formulas do not know."""
    return message("formula-unknown", what=what, name=name, known=", ".join(known))


def entity_problem(entity: str) -> Message | None:
    """Why this text cannot name an entity, or None when it can."""
    words = entity.split(" ") if isinstance(entity, str) else []
    if not words or not all(_is_word(word) for word in words):
        return message("entity-form", entity=entity)
    for word in words:
        if word in RESERVED_WORDS:
            return message("entity-reserved", word=word, entity=entity)
    if len(words) > 1 and words[0] in COLOURS:
        return message("entity-colour", entity=entity)
    return None


def atoms(f: Formula) -> tuple[Literal, ...]:
    """Every atom and relation, each once, in order of first mention."""
    return tuple(dict.fromkeys(_leaves(f)))


def are_apart(one: Atom, other: Atom) -> bool:
    """Whether nothing can be described by both atoms."""
    return one.entity != other.entity or _exclude((one.colour, one.place), (other.colour, other.place))


def entities(f: Formula) -> tuple[str, ...]:
    """Every entity, each once, in order of first mention."""
    names = (name for leaf in _leaves(f) for name in mentioned_by(leaf))
    return tuple(dict.fromkeys(names))


def mentioned_by(leaf: Literal) -> tuple[str, ...]:
    """The entities one atom or relation mentions."""
    return (leaf.entity,) if isinstance(leaf, Atom) else (leaf.first, leaf.second)


def described_by(leaf: Literal) -> tuple[Atom, ...]:
    """What one atom or relation describes: itself, or its sides."""
    return (leaf,) if isinstance(leaf, Atom) else leaf.sides()


def axis_of(place: str) -> str:
    """ "x" or "y"."""
    return "x" if place in _X_PLACES else "y"


def depth(f: Formula) -> int:
    """The number of connectives on the longest path to a leaf."""
    deepest = 0
    stack: list[tuple[Formula, int]] = [(f, 0)]
    while stack:
        node, level = stack.pop()
        deepest = max(deepest, level)
        if isinstance(node, Not):
            stack.append((node.part, level + 1))
        elif isinstance(node, And | Or):
            stack += [(node.left, level + 1), (node.right, level + 1)]
    return deepest


def conjunction(parts: Iterable[Formula]) -> Formula:
    """All the parts joined by And, nested to the left."""
    return _fold(parts, And)


def disjunction(parts: Iterable[Formula]) -> Formula:
    """All the parts joined by Or, nested to the left."""
    return _fold(parts, Or)


def largest_counts(f: Formula) -> dict[str, int]:
    """The most things of each entity that exactness allows.

    That is the largest sum over descriptions that exclude each other: a cat on the left and a cat
    on the right are two cats, a cat and a red cat are one. Denied descriptions do not add up: a cat that is neither on
    the left nor on the right is one cat.
    """
    return {entity: stated.most() for entity, stated in stated_counts(f).items()}


Description = tuple[str | None, str | None]
"""(colour, place); None where nothing is said."""


@dataclass(frozen=True, slots=True)
class Stated:
    """What a formula says of one entity: the largest number for each description."""

    mentioned: dict[Description, int]
    asserted: dict[Description, int]
    """Those that are not denied wherever they stand."""

    def most(self, within: Description = (None, None)) -> int:
        """The most things of a description that exactness allows."""
        single = max((n for d, n in self.mentioned.items() if _lies_within(d, within)), default=0)
        return max(single, largest_total(self.asserted, within))


def stated_counts(f: Formula) -> dict[str, Stated]:
    """What is stated for each entity; a relation states its sides, whether it holds or not."""
    stated: dict[str, Stated] = {}

    def note(entity: str, description: Description, n: int, is_asserted: bool) -> None:
        of_entity = stated.setdefault(entity, Stated({}, {}))
        for numbers in (of_entity.mentioned, of_entity.asserted)[: 1 + is_asserted]:
            numbers[description] = max(n, numbers.get(description, 0))

    stack: list[tuple[Formula, bool]] = [(f, True)]
    while stack:
        node, is_asserted = stack.pop()
        if isinstance(node, Atom):
            note(node.entity, (node.colour, node.place), node.count, is_asserted)
        elif isinstance(node, Related):
            for side in described_by(node):
                note(side.entity, (side.colour, None), side.count, True)
        elif isinstance(node, Not):
            stack.append((node.part, not is_asserted))
        else:
            stack += [(node.right, is_asserted), (node.left, is_asserted)]
    return stated


def largest_total(stated: dict[Description, int], within: Description = (None, None)) -> int:
    """The largest sum of counts over descriptions that lie within one and exclude each other."""
    candidates = [(n, d) for d, n in stated.items() if _lies_within(d, within)]
    if len(candidates) < 2:
        return candidates[0][0] if candidates else 0
    candidates.sort(key=lambda pair: -pair[0])
    return _heaviest_clique(candidates, 0, 0)


def _heaviest_clique(candidates: list[tuple[int, Description]], total: int, best: int) -> int:
    best = max(best, total)
    for i, (n, description) in enumerate(candidates):
        if total + sum(m for m, _ in candidates[i:]) <= best:
            break
        others = [other for other in candidates[i + 1 :] if _exclude(description, other[1])]
        best = _heaviest_clique(others, total + n, best)
    return best


def _lies_within(inner: Description, outer: Description) -> bool:
    return all(o is None or i == o for i, o in zip(inner, outer, strict=True))


def _exclude(one: Description, other: Description) -> bool:
    if one[0] and other[0] and one[0] != other[0]:
        return True
    return bool(one[1] and other[1] and one[1] != other[1] and axis_of(one[1]) == axis_of(other[1]))


def _is_word(word: str) -> bool:
    return bool(word) and word == word.lower() and all(part.isalpha() for part in word.split("-"))


def _leaves(f: Formula) -> Iterator[Literal]:
    stack: list[Formula] = [f]
    while stack:
        node = stack.pop()
        if isinstance(node, Atom | Related):
            yield node
        elif isinstance(node, Not):
            stack.append(node.part)
        else:
            stack += [node.right, node.left]


def _fold(parts: Iterable[Formula], connective: type[And] | type[Or]) -> Formula:
    rest = iter(parts)
    whole = next(rest, None)
    if whole is None:
        raise UsageError(message("formula-no-parts"))
    return reduce(connective, rest, whole)
