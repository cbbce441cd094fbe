"""What makes a triple valid: SemVarBench's fourteen criteria, those that code can decide and those it cannot.

Code decides what follows from the sentences themselves: the permutation follows its rule, meanings differ where
they must and agree where they must, as far as the logic core can read them. The others are questions for a text
model and then for people.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from salva.english.reader import read
from salva.errors import FormulaError
from salva.logic.equivalence import are_equivalent
from salva.logic.formula import Formula, entities
from salva.logic.notation import to_notation

BY_CODE = "code"
CRITERIA = {
    # basic
    "complete-expression": "Are all three sentences complete and free of language errors?",
    "concrete-objects": "Do they name clear, tangible things, and nothing abstract or ambiguous?",
    "reasonable-semantics": "Does each make sense, in the real world or in one of fiction?",
    # visualizable
    "visual-elements": "Can all that they say be seen in a picture?",
    "static-scene": "Does one still picture suffice, with no sound, motion or sequence of moments?",
    "moderate-detail": "Are their things of similar scale and not too many to show at once?",
    "quantifiable-comparison": "If they compare amounts, could one count or measure them in the picture? (yes if "
    "nothing is compared)",
    # discriminative
    "permutation-rule": "Does the second sentence come from the first by the stated exchange and nothing else?",
    "distinct-semantics": "Do the first two differ in meaning, while the first and the third mean the same?",
    "visually-distinct": "Would pictures of the first two differ at a glance?",
    # recognizable
    "item-specific-scene": "If a scene is named, does it keep the things by which it is recognised? "
    "(yes if none is named)",
    "item-specific-character": "If a character is known by an item, does that item stay with the character? "
    "(yes if none is)",
    "attire-based-character": "If a character is known by clothes, do they stay with the character? (yes if none is)",
    "action-based-character": "If a character is known by what it does, does it still do that? (yes if none is)",
}
"""Criterion to the question about it, for a text model or a person; yes means valid."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CriterionCheck:
    """What was found about one criterion."""

    criterion: str
    is_valid: bool
    confidence: float
    by: str
    """"code", or the text model's name."""
    why: str = ""


def checks_by_code(anchor: str, changed: str, kept: str) -> Iterator[CriterionCheck]:
    """Every criterion that the sentences themselves decide."""
    yield _decided("permutation-rule", sorted(_words(anchor)) == sorted(_words(changed)), "the words are not the same")
    if problem := _same_or_not(anchor, changed, kept):
        yield _decided("distinct-semantics", False, problem)
    elif all(_formula(text) is not None for text in (anchor, changed, kept)):
        yield _decided("distinct-semantics", True)
    doubled = [word for text in (anchor, changed, kept) for word, after in _pairs(text) if word == after]
    if doubled:
        yield _decided("complete-expression", False, f"{doubled[0]!r} stands twice in a row")


def _same_or_not(anchor: str, changed: str, kept: str) -> str:
    """What is wrong with the meanings, as far as it can be told without a doubt."""
    if _words(anchor) == _words(changed):
        return "T_a and T_pv are the same sentence"
    if _words(kept) == _words(changed):
        return "T_pi is the same sentence as T_pv"
    one, other, same = (_formula(text) for text in (anchor, changed, kept))
    if one and other and are_equivalent(one, other):
        return "T_a and T_pv are equivalent by the logic core"
    if one and same and not are_equivalent(one, same):
        return "T_a and T_pi are not equivalent by the logic core"
    return ""


def formulas_of(anchor: str, changed: str, kept: str) -> tuple[str, str, str] | None:
    """What the sentences say, in notation; None where the logic core cannot read one of them.

    Where it takes a property that it does not know for part of a name ("large clock"), it has not read the sentence.
    """
    a, pv, pi = (_formula(text) for text in (anchor, changed, kept))
    if not (a and pv and pi) or any(" " in name for formula in (a, pv, pi) for name in entities(formula)):
        return None
    return to_notation(a), to_notation(pv), to_notation(pi)


def _decided(criterion: str, is_valid: bool, why: str = "") -> CriterionCheck:
    return CriterionCheck(
        criterion=criterion, is_valid=is_valid, confidence=1.0, by=BY_CODE, why="" if is_valid else why
    )


def _words(text: str) -> list[str]:
    """Lower case, without punctuation, a and an alike."""
    return ["a" if word == "an" else word for word in re.findall(r"[\w'-]+", text.lower())]


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    return pairwise(_words(text))


def _formula(text: str) -> Formula | None:
    try:
        return read(text)
    except FormulaError:
        return None
