"""Captions read by a small grammar, without a parser: noun phrases, prepositions, lists and "that is".

Made for plain captions such as those of pocket's world. A preposition says where the noun before it is; behind "and"
it speaks of the first noun of its sentence again. What the grammar does not know ends what is said, so it never
guesses; nouns that stand behind no article, number or colour are not seen.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from salva.english.captions.nouns import COMPOUNDS, NO_THINGS, TRANSPARENT
from salva.english.captions.reading import AND, CaptionReading, Link, Mention
from salva.english.names import name_problem
from salva.english.nouns import is_plural_noun, singular
from salva.english.wordlists import words
from salva.english.words import number_of
from salva.logic.formula import COLOURS

_DETERMINERS = words("captions", "determiners")
_SIZES = words("captions", "sizes")
_PREPOSITIONS = {
    "to the left of": "left of",
    "to the right of": "right of",
    "on the left of": "left of",
    "on the right of": "right of",
    "left of": "left of",
    "right of": "right of",
    "in front of": "in front of",
    "on top of": "on top of",
    "next to": "next to",
    "close to": "close to",
    **{word: word for word in words("captions", "short_prepositions")},
}
_BY_LENGTH = sorted(_PREPOSITIONS, key=lambda words: -len(words.split()))
_SILENT = words("captions", "silent")
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*|\d+|[.,;]")


class GrammarReader:
    """Plain captions to readings."""

    name = "grammar"

    def read(self, texts: Iterable[str]) -> Iterator[CaptionReading]:
        """One reading a text, in their order."""
        return (_Sentence(text).reading() for text in texts)


@dataclass(slots=True)
class _Pending:
    """A preposition whose object is still to come."""

    words: str
    start: int
    subjects: list[int]


@dataclass(slots=True)
class _Sentence:
    """A caption on its way to a reading."""

    text: str
    mentions: list[Mention] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    first: list[int] = field(default_factory=list)
    """The entities that the sentence began with."""
    last: list[int] = field(default_factory=list)
    """The entities named last: one, or a list of them."""

    def reading(self) -> CaptionReading:
        """Everything the caption names and says."""
        words = [(match[0].lower(), match.start()) for match in _WORD.finditer(self.text)]
        i, pending, is_listed, started = 0, None, False, -1
        while i < len(words):
            word, at = words[i]
            if word in ".,;":
                pending, is_listed, started = None, False, -1
                if word != ",":
                    self.first, self.last = [], []
                i += 1
                continue
            if said := self._preposition(words, i):
                subjects = self.first if is_listed else self.last
                pending = _Pending(_PREPOSITIONS[said], at if started < 0 else started, list(subjects))
                is_listed, started, i = False, -1, i + len(said.split())
                continue
            if word == AND:
                is_listed, started, i = True, at, i + 1
                continue
            if word in _SILENT:
                started, i = (at if started < 0 else started), i + 1
                continue
            if word in ("no", "without"):
                if n := self._noun_phrase(words, i + 1):
                    self.mentions.pop()
                pending, is_listed, started, i = None, False, -1, i + 1 + n
                continue
            n = self._noun_phrase(words, i)
            if n:
                self._name(pending, is_listed=is_listed)
                pending, is_listed, started, i = None, False, -1, i + n
                continue
            if word not in TRANSPARENT and word != "of" and word not in _DETERMINERS:
                pending, is_listed, started = None, False, -1
            i += 1
        return CaptionReading(text=self.text, mentions=tuple(self.mentions), links=tuple(_with_cuts(self.links)))

    def _preposition(self, words: list[tuple[str, int]], i: int) -> str:
        here = [word for word, _ in words[i : i + 4]]
        return next((said for said in _BY_LENGTH if here[: len(said.split())] == said.split()), "")

    def _noun_phrase(self, words: list[tuple[str, int]], i: int) -> int:
        """Read a noun phrase; how many words it has, 0 where none stands here."""
        j = i
        while j < len(words) and (
            words[j][0] in _DETERMINERS or words[j][0] in _SIZES or words[j][0] in COLOURS or number_of(words[j][0])
        ):
            j += 1
        if j < len(words) and words[j][0] == "orange" and j > i:
            j += 1
        if j >= len(words):
            return 0
        noun, at = words[j]
        if not noun[0].isalpha() or noun in NO_THINGS or noun in TRANSPARENT or name_problem([noun]) or noun in _SILENT:
            return 0
        several = is_plural_noun(noun)
        if (j == i and not several) or noun == AND or noun in _PREPOSITIONS:
            return 0
        name = singular(noun) if several else noun
        start = at
        if j + 1 < len(words) and (pair := COMPOUNDS.get(f"{noun} {words[j + 1][0]}")):
            name, (noun, at), j = pair, words[j + 1], j + 1
        elif not several and j + 1 < len(words) and self._may_go_on(words, j + 1):
            return 0
        self.mentions.append(Mention(name=name, phrase=words[i][1], start=start, end=at + len(noun), is_plural=several))
        return j - i + 1

    def _may_go_on(self, words: list[tuple[str, int]], i: int) -> bool:
        """Whether a word may be the noun that the words before it speak of: a shiny car names no shiny."""
        word = words[i][0]
        is_known = word == AND or word in _SILENT or word in _DETERMINERS or bool(self._preposition(words, i))
        return word[0].isalpha() and not is_known and not word.endswith(("ing", "ed", "s"))

    def _name(self, pending: _Pending | None, *, is_listed: bool) -> None:
        """Say what the words before the newest entity say of it."""
        new = len(self.mentions) - 1
        if pending is not None:
            for subject in pending.subjects:
                cut = (pending.start, self.mentions[new].end)
                self.links.append(Link(subject=subject, predicate=pending.words, object=new, cut=cut))
        elif is_listed and self.last:
            self.links.append(Link(subject=self.last[-1], predicate=AND, object=new))
            self.last = [*self.last, new]
            self.first = self.first or self.last
            return
        self.last = [new]
        if pending is None or not self.first:
            self.first = self.first or [new]


def _with_cuts(links: list[Link]) -> Iterator[Link]:
    """The links, without the cuts that would take more than what they say."""
    for link in links:
        touching = [other for other in links if link.object in (other.subject, other.object)]
        is_alone = touching == [link]
        yield link if is_alone else Link(subject=link.subject, predicate=link.predicate, object=link.object)
