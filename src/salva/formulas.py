"""The logic core for Python users: every function takes formulas, or texts in the notation or in English.

>>> salva.are_equivalent("cat & dog", "dog & cat")
True
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from salva.core.scene import Scene
from salva.english import sentences
from salva.logic import equivalence, notation, rewrite, satisfaction
from salva.logic import worlds as finite
from salva.logic.equivalence import Witness
from salva.logic.formula import Formula
from salva.logic.rewrite import Rewrite
from salva.logic.satisfaction import Discrepancy
from salva.logic.worlds import World

Text = Formula | str
Counts = Literal["exact", "at-least"]


def parse(text: Text) -> Formula:
    """A formula from its notation or from an English sentence.

    >>> salva.to_notation(salva.parse("a cat and two dogs"))
    'cat & 2 dog'
    """
    return sentences.parse_text(text) if isinstance(text, str) else text


def are_equivalent(first: Text, second: Text, counts: Counts = "exact") -> bool:
    """Whether two formulas have the same worlds.

    >>> salva.are_equivalent("!(cat | dog)", "!cat & !dog")
    True
    """
    return equivalence.are_equivalent(parse(first), parse(second), counts)


def is_determinate(formula: Text, counts: Counts = "exact") -> bool:
    """Whether exactly one world satisfies a formula.

    >>> salva.is_determinate("cat | dog")
    False
    """
    return equivalence.is_determinate(parse(formula), counts)


def witness(first: Text, second: Text, counts: Counts = "exact") -> Witness | None:
    """A world of one formula that is none of the other; None where they are equivalent.

    >>> salva.witness("cat", "cat & dog").holds_for
    1
    """
    return equivalence.witness(parse(first), parse(second), counts)


def worlds(formula: Text, counts: Counts = "exact", limit: int = 1000) -> tuple[World, ...]:
    """The worlds that satisfy a formula.

    >>> len(salva.worlds("cat | dog"))
    3
    """
    return finite.worlds(parse(formula), counts, limit)


def rewrites(formula: Text, law: str | None = None) -> Iterator[Rewrite]:
    """Everything that the laws of logic turn a formula into in one step.

    >>> [salva.to_notation(step.formula) for step in salva.rewrites("cat & dog", "commutative")]
    ['dog & cat']
    """
    return rewrite.rewrites(parse(formula), law)


def satisfies(formula: Text, scene: Scene, counts: Counts = "exact") -> bool:
    """Whether a scene is one of a formula's worlds.

    >>> salva.satisfies("!cat", salva.Scene())
    True
    """
    return satisfaction.satisfies(parse(formula), scene, counts)


def discrepancies(formula: Text, scene: Scene, counts: Counts = "exact") -> tuple[Discrepancy, ...]:
    """What is wrong with a scene, by the nearest world of a formula; empty where nothing is.

    >>> salva.discrepancies("2 cat", salva.Scene())[0].expected
    '2'
    """
    return satisfaction.discrepancies(parse(formula), scene, counts)


def to_notation(formula: Text) -> str:
    """A formula in the notation.

    >>> salva.to_notation("a cat to the left of a dog")
    'left_of(cat, dog)'
    """
    return notation.to_notation(parse(formula))


def to_english(formula: Text) -> str:
    """A formula as an English sentence.

    >>> salva.to_english("cat & 2 dog")
    'There is a cat and two dogs'
    """
    return sentences.to_english(parse(formula))


def from_english(text: str) -> Formula:
    """A formula from an English sentence; FormulaError for one that cannot be read.

    >>> salva.to_notation(salva.from_english("There is a cat but no dog"))
    'cat & !dog'
    """
    return sentences.from_english(text)
