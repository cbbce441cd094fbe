"""The notation people type: text to formula and back.

`2 red cat@left & !(dog | left_of(cat, dog))`: `!` binds tightest, then `&`, then `|`, all grouping
to the left. parse undoes to_notation. Any text may come in; what is no formula leaves as a
FormulaError that points at the place.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple, NoReturn

from salva.errors import FormulaError
from salva.logic.formula import (
    COLOURS,
    MAX_COUNT,
    MAX_DEPTH,
    PLACES,
    RELATIONS,
    And,
    Atom,
    Formula,
    Not,
    Or,
    Related,
    are_apart,
    atoms,
    axis_of,
    entity_problem,
    related,
    unknown,
)
from salva.messages import Message, message

MAX_LENGTH = 10_000
_SHOWN = 160
"""How much of a long text an error shows around the place it points at."""

_TOKEN = re.compile(r"\s*(?:(?P<word>[^\W\d_]+(?:[-_'’][^\W\d_]+)*)|(?P<number>\d+)|(?P<sign>[&|!()@,])|(?P<other>\S))")


def parse(text: str) -> Formula:
    """The formula a notation stands for; raises FormulaError where it stops making sense."""
    return _parse(checked_text(text, "a formula"))


def to_notation(f: Formula) -> str:
    """The shortest notation that parses back to exactly this formula."""
    places = {leaf.place for leaf in atoms(f) if isinstance(leaf, Atom) and leaf.place}
    is_short = len({axis_of(place) for place in places}) == 1 and not places <= {"x-middle", "y-middle"}
    return _print(f, is_short)


def checked_text(text: str, wanted: str) -> str:
    """The text itself when it can be parsed at all; else FormulaError."""
    if not isinstance(text, str):
        raise FormulaError(message("formula-expected", wanted=f"{wanted} as text", got=repr(text)))
    if len(text) > MAX_LENGTH:
        raise FormulaError(message("text-length", what=wanted.capitalize(), limit=MAX_LENGTH, n=len(text)))
    if not text.strip():
        raise FormulaError(message("formula-expected", wanted=wanted, got="nothing"))
    for position, character in enumerate(text):
        if not (character.isprintable() or character in "\n\t"):
            visible = "".join(c if c.isprintable() else " " for c in text)
            raise error_at(message("text-unprintable", character=character), visible, position)
    return text.replace("\t", " ")


def error_at(problem: Message, text: str, position: int) -> FormulaError:
    """The error that points at a place of the text; of a long text only the surroundings are shown."""
    if len(text) <= _SHOWN:
        return FormulaError(problem, text, position)
    start = max(0, min(position - _SHOWN // 2, len(text) - _SHOWN))
    where = Message(f"{problem} (at character {position + 1})", problem.code)
    return FormulaError(where, text[start : start + _SHOWN], position - start)


@lru_cache(maxsize=4096)
def _parse(text: str) -> Formula:
    return _Parser(text).formula()


class _NotationToken(NamedTuple):
    kind: str
    """word, number, sign or end."""
    text: str
    start: int


class _Built(NamedTuple):
    formula: Formula
    depth: int


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = self._scan()
        self.at = 0
        self.middle_axes = {
            axis_of(place.text)
            for sign, place in zip(self.tokens, self.tokens[1:], strict=False)
            if sign.text == "@" and place.text in PLACES
        }

    def formula(self) -> Formula:
        built = self._either(0)
        token = self.tokens[self.at]
        if token.kind != "end":
            if token.text == ")":
                self._fail(message("formula-bracket", missing="opened"), token)
            self._expected("&, | or the end", token)
        return built.formula

    def _scan(self) -> list[_NotationToken]:
        tokens: list[_NotationToken] = []
        position = 0
        end = len(self.text.rstrip())
        while position < end:
            match = _TOKEN.match(self.text, position)
            assert match is not None
            kind = match.lastgroup or ""
            token = _NotationToken(kind, match[kind], match.start(kind))
            if kind == "other":
                self._fail(message("formula-sign", sign=token.text), token)
            tokens.append(token)
            position = match.end()
        return [*tokens, _NotationToken("end", "the end", end)]

    def _either(self, nesting: int) -> _Built:
        built = self._both(nesting)
        while self._take("|"):
            built = self._join(Or, built, self._both(nesting))
        return built

    def _both(self, nesting: int) -> _Built:
        built = self._part(nesting)
        while self._take("&"):
            built = self._join(And, built, self._part(nesting))
        return built

    def _join(self, connective: type[And] | type[Or], left: _Built, right: _Built) -> _Built:
        depth = 1 + max(left.depth, right.depth)
        if depth > MAX_DEPTH:
            self._fail(message("formula-too-deep", limit=MAX_DEPTH), self.tokens[self.at - 1])
        return _Built(connective(left.formula, right.formula), depth)

    def _part(self, nesting: int) -> _Built:
        n_negations = 0
        while self._take("!"):
            n_negations += 1
        if nesting + n_negations > MAX_DEPTH:
            self._fail(message("formula-too-deep", limit=MAX_DEPTH), self.tokens[self.at - 1])
        if self._take("("):
            opened = self.tokens[self.at - 1]
            built = self._either(nesting + n_negations + 1)
            if not self._take(")"):
                token = self.tokens[self.at]
                if token.kind == "end":
                    self._fail(message("formula-bracket", missing="closed"), opened)
                self._expected("&, | or a closing bracket", token)
        else:
            built = _Built(self._leaf(), 0)
        for _ in range(n_negations):
            built = _Built(Not(built.formula), built.depth + 1)
        if built.depth > MAX_DEPTH:
            self._fail(message("formula-too-deep", limit=MAX_DEPTH), self.tokens[self.at - 1])
        return built

    def _leaf(self) -> Formula:
        first = self.tokens[self.at]
        if first.kind == "word" and (self.tokens[self.at + 1].text == "(" or "_" in first.text):
            return self._related()
        atom = self._described()
        return Atom(atom.entity, atom.count, atom.colour, self._place()) if self._take("@") else atom

    def _described(self) -> Atom:
        """A number, a colour and an entity."""
        count = self._count() if self.tokens[self.at].kind == "number" else 1
        words = self._words()
        colour = words.pop(0).text if len(words) > 1 and words[0].text in COLOURS else None
        return Atom(self._entity(words), count, colour)

    def _related(self) -> Formula:
        name = self.tokens[self.at]
        if name.text not in RELATIONS:
            self._fail(unknown("relation", name.text, RELATIONS), name)
        self.at += 1
        self._expect("(", name.text)
        first = self._described()
        self._expect(",", name.text)
        second_token = self.tokens[self.at]
        second = self._described()
        self._expect(")", name.text)
        if not are_apart(first, second):
            self._fail(message("relation-sides", example=f"{name.text}(cat, dog)"), second_token)
        return related(name.text, first, second)

    def _count(self) -> int:
        token = self.tokens[self.at]
        self.at += 1
        if len(token.text) > 4 or not token.text.isascii() or not 1 <= int(token.text) <= MAX_COUNT:
            self._fail(message("count-range", limit=MAX_COUNT, got=token.text), token)
        return int(token.text)

    def _words(self) -> list[_NotationToken]:
        start = self.at
        while self.tokens[self.at].kind == "word":
            self.at += 1
        if self.at == start:
            self._expected("an entity such as cat", self.tokens[self.at])
        return self.tokens[start : self.at]

    def _entity(self, words: list[_NotationToken]) -> str:
        entity = " ".join(token.text for token in words)
        problem = entity_problem(entity)
        if problem:
            self._fail(problem, words[0])
        return entity

    def _place(self) -> str:
        token = self.tokens[self.at]
        self.at += 1
        if token.text in PLACES:
            return token.text
        if token.text != "middle":
            self._fail(unknown("place", token.text, ("middle", *PLACES)), token)
        if len(self.middle_axes) != 1:
            self._fail(message("middle-open"), token)
        return f"{next(iter(self.middle_axes))}-middle"

    def _take(self, sign: str) -> bool:
        token = self.tokens[self.at]
        if token.kind != "sign" or token.text != sign:
            return False
        self.at += 1
        return True

    def _expect(self, sign: str, relation: str) -> None:
        if not self._take(sign):
            self._expected(f"{sign!r} as in {relation}(cat, dog)", self.tokens[self.at])

    def _expected(self, wanted: str, token: _NotationToken) -> NoReturn:
        got = token.text if token.kind == "end" else repr(token.text)
        self._fail(message("formula-expected", wanted=wanted, got=got), token)

    def _fail(self, problem: Message, token: _NotationToken) -> NoReturn:
        raise error_at(problem, self.text, token.start)


def _print(f: Formula, is_short: bool) -> str:
    if isinstance(f, Atom):
        count = f"{f.count} " if f.count > 1 else ""
        colour = f"{f.colour} " if f.colour else ""
        place = f.place and f"@{'middle' if is_short and f.place.endswith('-middle') else f.place}"
        return f"{count}{colour}{f.entity}{place or ''}"
    if isinstance(f, Related):
        return f"{f.relation}({', '.join(_print(side, is_short) for side in f.sides())})"
    if isinstance(f, Not):
        part = _print(f.part, is_short)
        return f"!({part})" if isinstance(f.part, And | Or) else f"!{part}"
    left, right = _print(f.left, is_short), _print(f.right, is_short)
    if isinstance(f, And):
        left = f"({left})" if isinstance(f.left, Or) else left
        right = f"({right})" if isinstance(f.right, And | Or) else right
        return f"{left} & {right}"
    right = f"({right})" if isinstance(f.right, Or) else right
    return f"{left} | {right}"
