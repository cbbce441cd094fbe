"""Formulas as English sentences, and back.

Groups open with a word ("both", "either", "all of", "it is not the case that"), and what is said again of an entity
with "it is the case that", so a sentence made here has one reading: from_english gives back the very formula. It also
takes plain sentences people write, and refuses, pointing at the place, what could be read in two ways.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, pairwise
from typing import NamedTuple

from salva.english.names import warn_of_unknown
from salva.english.nouns import plural
from salva.english.phrases import Mention, may_be_same
from salva.english.reader import read
from salva.english.tokens import NOT_THE_CASE, THE_CASE
from salva.english.words import RELATION_WORDS, described, in_relation, noun_of, number_word
from salva.errors import FormulaError, UsageError
from salva.logic.formula import And, Atom, Formula, Not, Or, Related, atoms, axis_of, described_by, entities
from salva.logic.notation import checked_text, parse, to_notation
from salva.logic.touching import TOUCHING

_PLACE_WORDS = {
    "left": "on the left",
    "right": "on the right",
    "top": "at the top",
    "bottom": "at the bottom",
    "x-middle": "in the horizontal middle",
    "y-middle": "in the vertical middle",
}


def to_english(f: Formula) -> str:
    """The sentence for a formula, without a full stop."""
    sentence = _SentenceWriter(f).sentence(f)
    return sentence[0].upper() + sentence[1:]


def from_english(text: str) -> Formula:
    """The formula a sentence stands for; raises FormulaError where it leaves the grammar or has two readings.

    Warns about an entity that is not in the lexicon.
    """
    f = read(checked_text(text, "a sentence"))
    for entity in entities(f):
        warn_of_unknown(entity)
    return f


def parse_text(text: str) -> Formula:
    """The formula of a text that is either in notation or in English.

    Without a sign of the notation it is English where that can be read, else a bare entity ("cat", "3 red cat"), which
    must be one that English has a word for: "cats" and "some cats" are no entities of that name.
    """
    if any(sign in text for sign in "&|!@()"):
        return parse(text)
    try:
        return from_english(text)
    except FormulaError as refused:
        try:
            f = parse(text)
            if from_english(to_english(f)) == f:
                return f
        except FormulaError:
            pass
        raise refused from None


class SentenceReading(NamedTuple):
    """The meaning of a prompt, as far as the grammar reads it."""

    formula: str | None
    """In notation."""
    problem: str = ""
    """Why there is none."""


def read_prompt(text: str) -> SentenceReading:
    """The formula of a prompt in notation, or why the grammar refuses it."""
    try:
        return SentenceReading(to_notation(from_english(" ".join(text.split()))))
    except UsageError as error:
        return SentenceReading(None, error.problem if isinstance(error, FormulaError) else str(error))


class _SentenceWriter:
    def __init__(self, f: Formula) -> None:
        self._n_denials = 0
        places = {leaf.place for leaf in atoms(f) if isinstance(leaf, Atom) and leaf.place}
        self._is_short = len({axis_of(p) for p in places}) == 1 and not places <= {"x-middle", "y-middle"}

    def sentence(self, f: Formula) -> str:
        if isinstance(f, And) and _is_nominal(f):
            phrases = [self._phrase(part) for part in _chain(f)]
            # Without the comma what follows could belong to the last alternative.
            word = ", and" if "either " in phrases[-2] else "and"
            return self._there_is(f, _listed(phrases, word))
        if isinstance(f, And) and all(_is_nominal(part) for part in _chain(f)[:-1]):
            return _listed(self._clauses(f), "and")
        # A clause with an open end ("it is not the case that ...") would swallow what follows it.
        return self._clause(f)

    def _clause(self, f: Formula) -> str:
        if _is_nominal(f):
            return self._there_is(f, self._phrase(f))
        if isinstance(f, Not):
            self._n_denials += 1
            denied = self._clause(f.part)
            self._n_denials -= 1
            return f"{NOT_THE_CASE} {denied}"
        assert isinstance(f, And | Or)
        return _grouped(f, self._clauses(f))

    def _clauses(self, f: And | Or) -> list[str]:
        """The clauses of a group; what may speak of an entity mentioned before says that it does."""
        clauses: list[str] = []
        mentioned: list[Mention] = []
        for part in _chain(f):
            is_again = isinstance(f, And) and any(may_be_same(a, b) for a in _mentions(part) for b in mentioned)
            clauses.append(f"{THE_CASE} {self._clause(part)}" if is_again else self._clause(part))
            mentioned += [] if is_again else _mentions(part)
        return clauses

    def _there_is(self, f: Formula, phrase: str) -> str:
        first = f
        while isinstance(first, And | Or):
            first = first.left
        leaf = first.part if isinstance(first, Not) else first
        assert isinstance(leaf, Atom | Related)
        return f"there {'are' if described_by(leaf)[0].count > 1 else 'is'} {phrase}"

    def _phrase(self, f: Formula) -> str:
        if isinstance(f, Atom):
            return described(f) + self._place(f)
        if isinstance(f, Related):
            return _in_relation(f)
        if corner := _corner(f):
            x, y = corner
            return f"{described(x)} in the {y.place} {x.place} corner"
        if isinstance(f, Not):
            assert isinstance(f.part, Atom)
            if f.part.count == 1:
                return f"no {noun_of(f.part)}{self._place(f.part)}"
            if self._n_denials:
                # "Fewer than" would mention no largest number here.
                return f"not {described(f.part)}{self._place(f.part)}"
            return f"fewer than {number_word(f.part.count)} {plural(noun_of(f.part))}{self._place(f.part)}"
        return _grouped(f, [self._phrase(part) for part in _chain(f)])

    def _place(self, atom: Atom) -> str:
        if atom.place is None:
            return ""
        if self._is_short and atom.place.endswith("-middle"):
            return " in the middle"
        return f" {_PLACE_WORDS[atom.place]}"


def _is_nominal(f: Formula) -> bool:
    """Whether a formula can be said as a noun phrase after "there is"."""
    if isinstance(f, Not):
        return isinstance(f.part, Atom)
    if isinstance(f, Atom | Related) or _corner(f) is not None:
        return True
    parts = _chain(f)
    if isinstance(f, And):
        pairs = combinations(map(_mentions, parts), 2)
        if any(may_be_same(a, b) for one, other in pairs for a in one for b in other):
            return False
    # A place or relation may be meant for what stands before or behind it: such a list is said in clauses.
    endings = [_ending(part) for part in parts]
    is_open = any((not one and other) or (one == "relation" and not other) for one, other in pairwise(endings))
    is_open = is_open or any(_may_share_noun(one, other) for one, other in pairwise(parts))
    return not is_open and all(map(_is_nominal, parts))


def _may_share_noun(one: Formula, other: Formula) -> bool:
    """Whether a fruit could be taken for a colour: "an orange and a red ball"."""
    last, first = ([atom for leaf in atoms(part) for atom in described_by(leaf)] for part in (one, other))
    return (last[-1].entity, last[-1].colour) == ("orange", None) and first[0].colour is not None


def _ending(f: Formula) -> str:
    """How every entity of a phrase ends: "place", "relation" (its last one) or nothing."""
    if _corner(f) is not None:
        return "place"
    if isinstance(f, And | Or):
        endings = [_ending(part) for part in _chain(f)]
        return endings[-1] if all(endings) else ""
    leaf = f.part if isinstance(f, Not) else f
    if isinstance(leaf, Related):
        return "relation"
    return "place" if isinstance(leaf, Atom) and leaf.place else ""


def _chain(f: And | Or) -> list[Formula]:
    """The parts of a group that nests to the left, which is how a list is read back."""
    parts: list[Formula] = [f.right]
    rest = f.left
    while isinstance(rest, And | Or) and type(rest) is type(f) and not _corner(rest):
        parts.append(rest.right)
        rest = rest.left
    return [rest, *reversed(parts)]


def _corner(f: Formula) -> tuple[Atom, Atom] | None:
    """The parts of a formula that is said of one corner: left or right, and top or bottom."""
    if not isinstance(f, And) or not isinstance(f.left, Atom) or not isinstance(f.right, Atom):
        return None
    x, y = f.left, f.right
    is_of_same = replace(x, place=None) == replace(y, place=None)
    return (x, y) if is_of_same and x.place in ("left", "right") and y.place in ("top", "bottom") else None


def _mentions(f: Formula) -> list[Mention]:
    """What a part of a list says to be there."""
    if isinstance(f, Atom | Related):
        return [Mention(atom) for atom in described_by(f)]
    if not isinstance(f, And):
        return []
    if corner := _corner(f):
        return [Mention(replace(corner[0], place=None), is_in_corner=True)]
    return [mention for part in (f.left, f.right) for mention in _mentions(part)]


def _in_relation(f: Related) -> str:
    """The relation in words; of several to several it must be said that they are the same for each."""
    first, second = f.sides()
    if f.relation in TOUCHING and first.count > 1 and second.count > 1:
        return f"{described(first)} {RELATION_WORDS[f.relation]} the same {described(second)}"
    return in_relation(f)


def _grouped(f: And | Or, parts: list[str]) -> str:
    if isinstance(f, Or):
        return f"either {_listed(parts, 'or')}"
    return f"{'both' if len(parts) == 2 else 'all of'} {_listed(parts, 'and')}"


def _listed(parts: list[str], word: str) -> str:
    return f"{', '.join(parts[:-1])}{'' if word.startswith(',') else ' '}{word} {parts[-1]}"
