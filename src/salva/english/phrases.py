"""Members of a list.

Phrases or clauses with the words that join them come in, the formula of the list goes out. A list that can be read in
two ways is refused with both readings: and beside or, a denial that may go on ("there isn't a cat and a dog"), a place
or relation that may be meant for more than the last entity ("a lion and a bear on the left").
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from salva.english.tokens import JOINTS, WITHOUT, Words
from salva.logic.formula import And, Atom, Formula, Not, Or, Related, conjunction, disjunction
from salva.messages import message

NOT, NO, DENIAL = "not", "no", "denial"


class Ending(NamedTuple):
    """What is said of an entity behind its noun: a place, a relation to another entity, or a colour."""

    words: str
    place: str | None = None
    relation: str | None = None
    second: str = ""
    colour: str | None = None
    verb: str = ""
    """is or are, where the ending is said as a sentence."""

    def applied_to(self, f: Formula) -> Formula | None:
        """The formula with this said of each of its entities as well; None where that cannot be said."""
        if isinstance(f, Not):
            part = self.applied_to(f.part)
            return Not(part) if part else None
        if isinstance(f, And | Or):
            left, right = self.applied_to(f.left), self.applied_to(f.right)
            return type(f)(left, right) if left and right else None
        if isinstance(f, Related):
            return None
        if self.relation:
            is_plain = f == Atom(f.entity) and f.entity != self.second
            return Related(self.relation, f.entity, self.second) if is_plain else None
        if self.colour:
            return Atom(f.entity, f.count, self.colour, f.place) if f.colour is None else None
        return Atom(f.entity, f.count, f.colour, self.place) if f.place is None else None


class Phrase(NamedTuple):
    """What was read of one member of a list."""

    formula: Formula
    ending: Ending | None = None
    opening: str = ""
    """not, no, without or denial: what may be said of the following members too."""


class Joint(NamedTuple):
    """What stands between two members of a list."""

    words: str
    at: int


def whole_of(words: Words, phrases: Sequence[Phrase], joints: Sequence[Joint]) -> Formula:
    """The formula of a list without an opening word."""
    connectives = _connectives(words, joints)
    formulas = [phrase.formula for phrase in phrases]
    if len(set(connectives)) > 1:
        at = next(joint.at for joint, c in zip(joints, connectives, strict=True) if c != connectives[0])
        words.two_readings(_tight(formulas, connectives, "and"), _tight(formulas, connectives, "or"), at)
    connective = connectives[0] if connectives else "and"
    for i, (phrase, after) in enumerate(pairwise(phrases)):
        if _reaches_on(phrase, after, connective):
            assert isinstance(phrase.formula, Not)
            reached = Not(joined([phrase.formula.part, *formulas[i + 1 :]], connective))
            words.two_readings(joined(formulas, connective), joined([*formulas[:i], reached], connective), joints[i].at)
    return members_of(words, phrases, connective, joints)


def members_of(words: Words, phrases: Sequence[Phrase], connective: str, joints: Sequence[Joint]) -> Formula:
    """The formula of members whose connective is settled; where their endings reach must be."""
    formulas = [phrase.formula for phrase in phrases]
    last = phrases[-1].ending
    if last and last.verb == "are" and connective == "and" and _is_single(formulas[-1]):
        spread = [last.applied_to(f) for f in formulas[:-1]]
        if spread and all(spread):
            return joined([*(f for f in spread if f), formulas[-1]], connective)
    for i, (phrase, after) in enumerate(pairwise(phrases)):
        if phrase.ending is None and after.ending:
            _refuse_ending_of_all(words, phrases, connective, i, joints[i].at)
        if phrase.ending and after.ending is None and joints[i].words not in ("but", WITHOUT):
            _refuse_relation_to_all(words, phrases, connective, i, joints[i].at)
    return joined(formulas, connective)


def joined(formulas: Sequence[Formula], connective: str) -> Formula:
    """The formulas under one connective; of nor, none of them holds."""
    if connective == "nor":
        return conjunction([Not(f) for f in formulas])
    return disjunction(formulas) if connective == "or" else conjunction(formulas)


def _connectives(words: Words, joints: Sequence[Joint]) -> list[str]:
    """And or or for every joint; a comma is whatever comes next."""
    found: list[str] = []
    for joint in reversed(joints):
        if joint.words == "," and not found:
            words.expected("and or or before the last part of the list")
        found.insert(0, found[0] if joint.words == "," else JOINTS[joint.words])
    return found


def _tight(formulas: Sequence[Formula], connectives: Sequence[str], tight: str) -> Formula:
    """The reading in which one connective binds before the other."""
    runs: list[list[Formula]] = [[formulas[0]]]
    for f, connective in zip(formulas[1:], connectives, strict=True):
        if connective == tight:
            runs[-1].append(f)
        else:
            runs.append([f])
    return joined([joined(run, tight) for run in runs], "or" if tight == "and" else "and")


def _reaches_on(phrase: Phrase, after: Phrase, connective: str) -> bool:
    """Whether a denial may be meant for the next member too."""
    if phrase.opening == NO:
        return connective == "or" and after.opening == ""
    if phrase.opening == NOT:
        return after.opening != NOT
    return phrase.opening in (WITHOUT, DENIAL)


def _refuse_ending_of_all(words: Words, phrases: Sequence[Phrase], connective: str, i: int, at: int) -> None:
    """What ends a list may be said of its last entity or of all: "a lion and a bear on the left"."""
    ending = phrases[i + 1].ending
    assert ending is not None
    start = i
    while start and phrases[start - 1].ending is None:
        start -= 1
    formulas = [phrase.formula for phrase in phrases]
    spread = [ending.applied_to(f) for f in formulas[start : i + 1]]
    if all(spread):
        other = [*formulas[:start], *(f for f in spread if f), *formulas[i + 1 :]]
        words.two_readings(joined(formulas, connective), joined(other, connective), at)
    words.fail(message("reach-open", words=ending.words), at)


def _refuse_relation_to_all(words: Words, phrases: Sequence[Phrase], connective: str, i: int, at: int) -> None:
    """A relation may be one to the next entity too: "a cat next to a dog and a bird"."""
    ending, formulas = phrases[i].ending, [phrase.formula for phrase in phrases]
    assert ending is not None
    related, after = formulas[i], formulas[i + 1]
    if ending.verb and not ending.relation:
        words.fail(message("reach-open", words=ending.words), at)
    if not ending.relation:
        return
    if isinstance(related, Related) and after == Atom(getattr(after, "entity", "")) and after.entity != related.first:
        to_both = Related(related.relation, related.first, after.entity)
        other = [*formulas[: i + 1], to_both, *formulas[i + 2 :]]
        words.two_readings(joined(formulas, connective), joined(other, connective), at)
    words.fail(message("reach-open", words=ending.words), at)


def _is_single(f: Formula) -> bool:
    """Whether a formula is about one entity, whose verb would be is."""
    if isinstance(f, Not):
        return _is_single(f.part)
    return isinstance(f, Related) or (isinstance(f, Atom) and f.count == 1)
