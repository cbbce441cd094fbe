"""Prompts reworded by a law: a text and its formula come in, proved rewordings go out.

Every rewording has the same worlds, and its English reads back to a formula that has them too. A relation
seen from the other side comes first, then one law after the other; a double denial comes last.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from salva.english.nouns import plural
from salva.english.reader import read
from salva.english.sentences import from_english, to_english
from salva.english.words import comparable
from salva.errors import FormulaError
from salva.logic.equivalence import are_equivalent
from salva.logic.formula import And, Formula, Not, Or, Related, entities
from salva.logic.notation import parse, to_notation
from salva.logic.rewrite import rewrites

_FAMILIES = ("commutative", "de-morgan", "distributive", "associative", "absorption", "complement")
"""As they are tried; saying an entity twice is no other wording."""
CONVERSE = "converse"
_OTHER_SIDE = {
    "left_of": "right_of",
    "right_of": "left_of",
    "above": "below",
    "below": "above",
    "next_to": "next_to",
    "near": "near",
    "larger_than": "smaller_than",
    "smaller_than": "larger_than",
}
_N_TRIED = 200
"""Rewrites that are looked at before a formula is left with those that were found."""
_WORD = re.compile(r"[^\W\d_]+")


class Reworded(NamedTuple):
    """Another wording of a prompt."""

    law: str
    text: str
    formula: str


def rewordings(text: str, notation: str, n_wanted: int) -> list[Reworded]:
    """So many other wordings, or as many as the laws give; none for a text that does not say its formula's words."""
    if n_wanted == 0 or not _names_its_things(text, notation):
        return []
    said = {comparable(text)}
    f = _as_said(text, parse(notation))
    queues = [_turned(f), *(_of_family(family, f) for family in _FAMILIES)]
    made: list[Reworded] = []
    # Turn by turn one of each family, so that several rewordings are of several laws.
    while queues and len(made) < n_wanted:
        for queue in list(queues):
            other = next((reworded for reworded in queue if comparable(reworded.text) not in said), None)
            if other is None:
                queues.remove(queue)
            elif len(made) < n_wanted:
                said.add(comparable(other.text))
                made.append(other)
    return made


def _as_said(text: str, f: Formula) -> Formula:
    """The formula as the text itself puts it, where that says the same: other readers may say an entity twice."""
    try:
        plain = from_english(text)
    except FormulaError:
        return f
    return plain if are_equivalent(plain, f) else f


def _turned(f: Formula) -> Iterator[Reworded]:
    """Every relation seen from the other side: left of the dog is right of the cat."""
    turned = _converse(f)
    if turned != f and (text := _said(turned, f)):
        yield Reworded(CONVERSE, text, to_notation(turned))


def _converse(f: Formula) -> Formula:
    if isinstance(f, Related):
        other = _OTHER_SIDE.get(f.relation)
        return f.turned(other) if other else f
    if isinstance(f, Not):
        return Not(_converse(f.part))
    return type(f)(_converse(f.left), _converse(f.right)) if isinstance(f, And | Or) else f


def _of_family(family: str, f: Formula) -> Iterator[Reworded]:
    for n, rewrite in enumerate(rewrites(f, family)):
        if n == _N_TRIED:
            return
        if text := _said(rewrite.formula, f):
            yield Reworded(rewrite.law.name, text, to_notation(rewrite.formula))


def _said(made: Formula, f: Formula) -> str:
    """The English of what was made that reads back to the worlds of the formula, in the plainest words; or nothing."""
    exact = to_english(made)
    # Small models know "not two cats" sooner than "fewer than two cats".
    texts = dict.fromkeys((exact.replace("fewer than ", "not "), exact))
    return next((text for text in texts if _says(text, f)), "") if are_equivalent(made, f) else ""


def _says(text: str, f: Formula) -> bool:
    try:
        return are_equivalent(read(text), f)
    except FormulaError:
        return False


def _names_its_things(text: str, notation: str) -> bool:
    """Whether a text names all that its formula does: one in another language is not said again in English."""
    said = _spaced(text)
    return all(_spaced(entity) in said or _spaced(plural(entity)) in said for entity in entities(parse(notation)))


def _spaced(text: str) -> str:
    return f" {' '.join(_WORD.findall(text.lower()))} "
