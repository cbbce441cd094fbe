"""English sentences to formulas: the grammar english.py writes, and simple variants of it.

A clause is "there is" and noun phrases, or "it is not the case that" and a clause; groups open with
either, both or all of. Without such a word only one connective may join a list, since "a and b or c"
can be read in two ways. Sentences that leave the grammar raise FormulaError at the word.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple, NoReturn

from salva.logic.formula import (
    MAX_COUNT,
    MAX_DEPTH,
    Atom,
    Formula,
    Not,
    Related,
    axis_of,
    conjunction,
    depth,
    disjunction,
    entity_problem,
)
from salva.logic.notation import error_at
from salva.logic.words import COLOURS, GRAMMAR_WORDS, RELATION_WORDS, number_of, singular

NOT_THE_CASE = "it is not the case that"

_GROUPS = (("either", "or"), ("both", "and"), ("all of", "and"))
_SHORT_FORMS = {"there's": "there is", "isn't": "is not", "aren't": "are not", "it's": "it is"}
_PLACES = {
    "in the middle": "middle",
    "in the horizontal middle": "x-middle",
    "in the vertical middle": "y-middle",
} | {
    f"{words} {place}": place
    for place in ("left", "right", "top", "bottom")
    for words in ("on the", "at the", "to the", "on", "at")
}
_RELATIONS = {words: relation for relation, words in RELATION_WORDS.items()} | {
    "left of": "left_of",
    "right of": "right_of",
    "on top of": "on",
    "bigger than": "larger_than",
}
# The longest first: "on top of a dog" is neither "on top" nor "on".
_ENDINGS = sorted((*_PLACES, *_RELATIONS), key=lambda words: -len(words.split()))


class _Token(NamedTuple):
    text: str
    start: int


@lru_cache(maxsize=4096)
def read(text: str) -> Formula:
    """The formula of a sentence."""
    return _Reader(text).formula()


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens: list[_Token] = []
        for match in re.finditer(r"[^\W\d_]+(?:['’-][^\W\d_]+)*|\d+|\S", text):
            heard = match[0].lower().replace("’", "'")
            self.tokens += [_Token(word, match.start()) for word in _SHORT_FORMS.get(heard, heard).split()]
        if self.tokens and self.tokens[-1].text == ".":
            self.tokens.pop()
        self.tokens.append(_Token("", len(text.rstrip())))
        self.at = 0
        endings = (self._ending_at(i) for i in range(len(self.tokens)))
        places = (_PLACES.get(words) for words in endings)
        self.middle_axes = {axis_of(place) for place in places if place and place != "middle"}

    def formula(self) -> Formula:
        built = self._sentence()
        if self._word():
            self._fail(f"expected the end of the sentence, got {self._word()!r}")
        if depth(built) > MAX_DEPTH:
            self._fail(f"the sentence nests deeper than {MAX_DEPTH} levels; simplify it")
        return built

    def _sentence(self) -> Formula:
        """Clauses in a list; the first may do without "there is"."""
        parts = [self._clause(0) if self._is_clause(self.at) else self._phrases()]
        joined = ""
        while self._goes_on_with_clause():
            joined = self._joined_by(joined)
            parts.append(self._clause(0))
        return self._whole(parts, joined)

    def _phrases(self, is_plural: bool = False) -> Formula:
        """Noun phrases in a list without an opening word."""
        parts = [self._phrase(0, is_plural)]
        joined = ""
        while self._word() in (",", "and", "or") and not self._goes_on_with_clause():
            joined = self._joined_by(joined)
            parts.append(self._phrase(0))
        return self._whole(parts, joined)

    def _goes_on_with_clause(self) -> bool:
        i = self.at
        while self.tokens[i].text in (",", "and", "or", "but"):
            i += 1
        return i > self.at and self._is_clause(i)

    def _joined_by(self, before: str) -> str:
        """Pass a comma, a connective or both; the connective of the list so far."""
        is_comma = self._take(",")
        word = "and" if self._word() == "but" else self._word()
        if word in ("and", "or"):
            if before not in ("", ",", word):
                self._fail("and with or can be read in two ways; say either ... or ..., both ... and ...")
            self.at += 1
            return word
        if not is_comma or before in ("and", "or"):
            self._fail(f"expected and or or, got {word or 'the end'!r}")
        return ","

    def _whole(self, parts: list[Formula], joined: str) -> Formula:
        if joined == ",":
            self._fail("the list has no and or or before its last part")
        return disjunction(parts) if joined == "or" else conjunction(parts)

    def _is_clause(self, i: int) -> bool:
        for words, _ in _GROUPS:
            if self._is_at(words, i):
                return self._is_clause(i + len(words.split()))
        return self._is_at("there", i) or self._is_at(NOT_THE_CASE, i)

    def _clause(self, nesting: int) -> Formula:
        self._check(nesting)
        if self._take(NOT_THE_CASE):
            return Not(self._clause(nesting + 1))
        for words, connective in _GROUPS:
            if self._take(words):
                return self._group(connective, nesting, is_clause=True)
        if not self._take("there"):
            self._fail(f"expected there is, got {self._word() or 'the end'!r}")
        is_plural = self._word() == "are"
        if not (self._take("is") or self._take("are")):
            self._fail(f"expected is or are, got {self._word() or 'the end'!r}")
        if self._take("not"):
            return self._denied(nesting, is_plural)
        return self._phrase(nesting, is_plural) if nesting else self._phrases(is_plural)

    def _denied(self, nesting: int, is_plural: bool) -> Formula:
        part = self._phrase(nesting + 1, is_plural)
        if self._word() in (",", "and", "or") and not self._goes_on_with_clause():
            self._fail(f"it is open how far the not reaches; say: {NOT_THE_CASE} there is both ... and ...")
        return Not(part)

    def _group(self, connective: str, nesting: int, is_clause: bool) -> Formula:
        member = self._clause if is_clause else self._phrase
        parts = [member(nesting + 1)]
        while self._take(","):
            if self._word() == connective:
                break
            parts.append(member(nesting + 1))
        if not self._take(connective):
            self._fail(f"expected {connective!r} in this group, got {self._word() or 'the end'!r}")
        parts.append(member(nesting + 1))
        return disjunction(parts) if connective == "or" else conjunction(parts)

    def _phrase(self, nesting: int, is_plural: bool = False) -> Formula:
        self._check(nesting)
        for words, connective in _GROUPS:
            if self._take(words):
                return self._group(connective, nesting, is_clause=False)
        if self._take("no"):
            return Not(self._thing(1, is_plural))
        if self._take("fewer than"):
            return Not(self._thing(self._number(), is_plural=True))
        if self._take("a") or self._take("an"):
            return self._thing(1, is_plural=False)
        n = self._number()
        return self._thing(n, is_plural=n > 1)

    def _thing(self, n: int, is_plural: bool) -> Formula:
        start = self.at
        if self._take("pair of") or self._take("pairs of"):
            is_plural = False
        colour, entity = self._noun(is_plural)
        place, relation = self._ending()
        if not relation:
            return Atom(entity, n, colour, place)
        if n > 1 or colour:
            self.at = start
            self._fail(f"relations hold between single entities without a colour, such as a {entity}")
        if not (self._take("a") or self._take("an") or self._take("the") or self._take("one")):
            self._fail(f"expected a or an, got {self._word() or 'the end'!r}")
        second_at = self.at
        self._take("pair of")
        colour, second = self._noun(is_plural=False)
        if colour or second == entity:
            self.at = second_at
            self._fail("relations need a second, different entity without a colour")
        return Related(relation, entity, second)

    def _number(self) -> int:
        n = number_of(self._word())
        if n is None:
            self._fail(f"expected a, an, no or a number, got {self._word() or 'the end'!r}")
        if n > MAX_COUNT:
            self._fail(f"a count must be from 1 to {MAX_COUNT}, got {n}")
        self.at += 1
        return n

    def _noun(self, is_plural: bool) -> tuple[str | None, str]:
        start = self.at
        while self._word()[:1].isalpha() and self._word() not in GRAMMAR_WORDS:
            self.at += 1
        words = [token.text for token in self.tokens[start : self.at]]
        if not words:
            self._fail(f"expected an entity such as cat, got {self._word() or 'the end'!r}")
        colour = words.pop(0) if len(words) > 1 and words[0] in COLOURS else None
        entity = singular(" ".join(words)) if is_plural else " ".join(words)
        problem = entity_problem(entity)
        if problem:
            self.at = start
            self._fail(problem)
        return colour, entity

    def _ending(self) -> tuple[str | None, str | None]:
        """The place or the relation that follows a noun."""
        words = self._ending_at(self.at)
        place = _PLACES.get(words)
        if place == "middle":
            if len(self.middle_axes) != 1:
                self._fail("the axis of the middle is open; say in the horizontal middle or in the vertical middle")
            place = f"{next(iter(self.middle_axes))}-middle"
        if words:
            self._take(words)
        return place, _RELATIONS.get(words)

    def _ending_at(self, i: int) -> str:
        return next((words for words in _ENDINGS if self._is_at(words, i)), "")

    def _check(self, nesting: int) -> None:
        if nesting > MAX_DEPTH:
            self._fail(f"the sentence nests deeper than {MAX_DEPTH} levels; simplify it")

    def _word(self) -> str:
        return self.tokens[self.at].text

    def _is_at(self, words: str, i: int) -> bool:
        wanted = words.split(" ")
        return [token.text for token in self.tokens[i : i + len(wanted)]] == wanted

    def _take(self, words: str) -> bool:
        if not self._is_at(words, self.at):
            return False
        self.at += len(words.split(" "))
        return True

    def _fail(self, problem: str) -> NoReturn:
        raise error_at(problem, self.text, self.tokens[self.at].start)
