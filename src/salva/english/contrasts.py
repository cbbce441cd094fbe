"""What two prompts say differently, and whether a question somebody wrote is about that.

Formulas and the text of a question come in. A contrast can only be decided by questions about what tells its prompts
apart: floor and lighting differ between any two images. Knows nothing of answers.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator

from salva.english.nouns import singular
from salva.english.wordlists import words
from salva.english.words import number_of
from salva.logic.formula import And, Atom, Formula, Literal, Not, Or, mentioned_by

_Statement = tuple[Literal, bool]
"""An atom or relation, and whether it is asserted rather than denied."""

_PLACE_WORDS = words("words", "place_words")
_COLOUR_WORDS = frozenset(("colour", "color"))
_OPEN_WORDS = frozenset(("what", "which"))
_NUMBER_WORDS = words("words", "number_words")


def questions_of_contrast(f: Formula, g: Formula, questions: Iterable[str]) -> list[str]:
    """Those of the questions that are about what one formula says and the other does not, or denies."""
    one, other = set(_statements(f)), set(_statements(g))
    agreed = {leaf for leaf, is_so in one if is_so} & {leaf for leaf, is_so in other if is_so}
    differing = {leaf for leaf, _ in one ^ other} - agreed
    # An entity that both prompts want differs by its colour, place or number, and a question must ask for that.
    wanted = {name for leaf, is_so in one if is_so for name in mentioned_by(leaf)}
    wanted &= {name for leaf, is_so in other if is_so for name in mentioned_by(leaf)}
    if not differing:
        differing, wanted = {leaf for leaf, _ in one | other}, set()
    return [text for text in questions if any(_is_about(leaf, text, wanted) for leaf in differing)]


def _statements(f: Formula, is_so: bool = True) -> Iterator[_Statement]:
    if isinstance(f, Not):
        yield from _statements(f.part, not is_so)
    elif isinstance(f, And | Or):
        yield from _statements(f.left, is_so)
        yield from _statements(f.right, is_so)
    else:
        yield f, is_so


def _is_about(leaf: Literal, text: str, wanted: Collection[str]) -> bool:
    words = set(re.findall(r"[^\W_]+", text.lower()))
    words |= {singular(word) for word in words}
    # Sizes and the like stand before the noun in an entity, and a question need not repeat them.
    if not all(name.rpartition(" ")[2] in words for name in mentioned_by(leaf)):
        return False
    if not isinstance(leaf, Atom) or leaf.entity not in wanted:
        return True
    is_open = bool(words & _OPEN_WORDS)
    if leaf.colour and (leaf.colour in words or (is_open and words & _COLOUR_WORDS)):
        return True
    if leaf.place and words & _PLACE_WORDS:
        return True
    return leaf.count > 1 and (bool(words & _NUMBER_WORDS) or any(number_of(word) for word in words))
