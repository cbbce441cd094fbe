"""Members of a list.

Phrases or clauses with the words that join them come in, the formula of the list goes out. A list that can be read in
two ways is refused with both readings: and beside or, a denial that may go on ("there isn't a cat and a dog"), a place
or relation that may be meant for more than the last entity ("a lion and a bear on the left"), an entity that may be
mentioned twice or be there twice ("a cat and a cat").
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from salva.english.tokens import JOINTS, WITHOUT, Words
from salva.logic.formula import (
    MAX_COUNT,
    And,
    Atom,
    Formula,
    Not,
    Or,
    Related,
    are_apart,
    conjunction,
    described_by,
    disjunction,
    related,
)
from salva.messages import message

NOT, NO, DENIAL = "not", "no", "denial"


class Ending(NamedTuple):
    """What is said of an entity behind its noun: places, a relation to another entity, or a colour."""

    words: str
    places: tuple[str, ...] = ()
    relation: str | None = None
    second: Atom | None = None
    is_second_known: bool = False
    """Whether the other entity was mentioned before."""
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
        if self.relation and self.second:
            return between(self.relation, f, self.second)
        if self.colour:
            return Atom(f.entity, f.count, self.colour, f.place) if f.colour is None else None
        return conjunction(Atom(f.entity, f.count, f.colour, place) for place in self.places) if not f.place else None


def between(relation: str, first: Atom, second: Formula) -> Related | None:
    """The relation between what two atoms describe; None where it cannot be said of them."""
    if not isinstance(second, Atom) or first.place or second.place or not are_apart(first, second):
        return None
    return related(relation, first, second)


class Mention(NamedTuple):
    """A noun phrase that says that something is there."""

    atom: Atom
    is_in_corner: bool = False


class Group(NamedTuple):
    """The members between "either", "both" or "neither" and the end of their list."""

    members: tuple[Phrase, ...]
    connective: str

    def reaching_on(self, connective: str, after: Sequence[Formula]) -> Formula | None:
        """The reading in which what follows belongs to the last member; None where that says the same."""
        *before, last = [member.formula for member in self.members]
        inner = self.members[-1].group
        if connective != self.connective:
            return joined([*before, joined([last, *after], connective)], self.connective)
        reached = inner.reaching_on(connective, after) if inner else None
        return joined([*before, reached], connective) if reached else None


class Phrase(NamedTuple):
    """What was read of one member of a list."""

    formula: Formula
    ending: Ending | None = None
    opening: str = ""
    """not, no, without or denial: what may be said of the following members too."""
    mentions: tuple[Mention, ...] = ()
    """What it says to be there, beyond what was mentioned before."""
    is_known: bool = False
    """Whether it is about an entity that was mentioned before."""
    has_article: bool = False
    """Whether the next member of a list may do without an article."""
    group: Group | None = None


class Joint(NamedTuple):
    """What stands between two members of a list."""

    words: str
    at: int


def whole_of(words: Words, phrases: Sequence[Phrase], joints: Sequence[Joint]) -> Phrase:
    """A list without an opening word as a phrase."""
    connectives = _connectives(joints)
    formulas = [phrase.formula for phrase in phrases]
    if len(set(connectives)) > 1:
        at = next(joint.at for joint, c in zip(joints, connectives, strict=True) if c != connectives[0])
        words.two_readings(_tight(formulas, connectives, "and"), _tight(formulas, connectives, "or"), at)
    connective = connectives[0] if connectives else "and"
    for i, (phrase, after) in enumerate(pairwise(phrases)):
        group = phrase.group if not words.is_set_off(joints[i].at) else None
        if group and (other := group.reaching_on(connective, formulas[i + 1 :])):
            words.two_readings(joined(formulas, connective), joined([*formulas[:i], other], connective), joints[i].at)
        if _reaches_on(phrase, after, connective):
            assert isinstance(phrase.formula, Not)
            reached = Not(joined([phrase.formula.part, *formulas[i + 1 :]], connective))
            words.two_readings(joined(formulas, connective), joined([*formulas[:i], reached], connective), joints[i].at)
    return members_of(words, phrases, connective, joints)


def members_of(words: Words, phrases: Sequence[Phrase], connective: str, joints: Sequence[Joint]) -> Phrase:
    """Members whose connective is settled as a phrase; where their endings reach must be."""
    formula = _formula_of(words, phrases, connective, joints)
    mentions = all_mentions(words, formula, phrases, [joint.at for joint in joints]) if connective == "and" else ()
    return Phrase(formula, mentions=mentions)


def all_mentions(words: Words, whole: Formula, phrases: Sequence[Phrase], joints: Sequence[int]) -> tuple[Mention, ...]:
    """What phrases that all hold say to be there; an entity that may be the same one or another is refused."""
    mentions: list[Mention] = []
    for phrase, at in zip(phrases, (0, *joints), strict=True):
        for mention in phrase.mentions:
            if earlier := next((other for other in mentions if may_be_same(mention, other)), None):
                if earlier.is_in_corner or mention.is_in_corner:
                    words.fail(message("corner-of-several", entity=mention.atom.entity), at)
                n = min(MAX_COUNT, earlier.atom.count + mention.atom.count)
                colour = mention.atom.colour if mention.atom.colour == earlier.atom.colour else None
                words.two_readings(whole, And(whole, Atom(mention.atom.entity, n, colour)), at)
        mentions += phrase.mentions
    return tuple(mentions)


def may_be_same(one: Mention, other: Mention) -> bool:
    """Whether two noun phrases may speak of one thing; what is in a corner has no single place."""
    return not are_apart(one.atom, other.atom)


def _formula_of(words: Words, phrases: Sequence[Phrase], connective: str, joints: Sequence[Joint]) -> Formula:
    formulas = [phrase.formula for phrase in phrases]
    last = phrases[-1].ending
    if last and last.verb == "are" and connective == "and" and _is_single(formulas[-1]):
        spread = [last.applied_to(f) for f in formulas[:-1]]
        if spread and all(spread):
            return joined([*(f for f in spread if f), formulas[-1]], connective)
    for phrase in phrases:
        if phrase.is_known and phrase.ending is None and isinstance(phrase.formula, Atom):
            words.fail(message("reference-open", entity=phrase.formula.entity))
    for i, (phrase, after) in enumerate(pairwise(phrases)):
        if i == 0 and after.ending and after.ending.is_second_known and phrase.formula == after.ending.second:
            continue
        if phrase.ending is None and after.ending and not after.is_known:
            _refuse_ending_of_all(words, phrases, connective, i, joints[i].at)
        if phrase.ending and after.ending is None and joints[i].words not in ("but", WITHOUT):
            _refuse_relation_to_all(words, phrases, connective, i, joints[i].at)
    return joined(formulas, connective)


def joined(formulas: Sequence[Formula], connective: str) -> Formula:
    """The formulas under one connective; of nor, none of them holds."""
    if connective == "nor":
        return conjunction([Not(f) for f in formulas])
    return disjunction(formulas) if connective == "or" else conjunction(formulas)


def _connectives(joints: Sequence[Joint]) -> list[str]:
    """And or or for every joint; a comma is whatever comes next, and commas alone are and."""
    found: list[str] = []
    for joint in reversed(joints):
        of_comma = found[0] if found else "and"
        found.insert(0, of_comma if joint.words == "," else JOINTS[joint.words])
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
    stated, after = formulas[i], formulas[i + 1]
    if ending.verb and not ending.relation:
        words.fail(message("reach-open", words=ending.words), at)
    if not ending.relation:
        return
    if isinstance(stated, Related) and (to_both := between(stated.relation, stated.sides()[0], after)):
        other = [*formulas[: i + 1], to_both, *formulas[i + 2 :]]
        words.two_readings(joined(formulas, connective), joined(other, connective), at)
    words.fail(message("reach-open", words=ending.words), at)


def _is_single(f: Formula) -> bool:
    """Whether a formula is about one entity, whose verb would be is."""
    if isinstance(f, Not | And):
        return _is_single(f.part if isinstance(f, Not) else f.left)
    return isinstance(f, Atom | Related) and described_by(f)[0].count == 1
