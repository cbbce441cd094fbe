"""The vocabulary of pocket: from sentences to rows of word numbers. Knows no networks or images."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from salva.messages import Message, message

_MARKS = ",.:()"
"""Punctuation in training captions."""
_SAME = {"[": "(", "]": ")", "\u2019": "'", "&": " and "}
_MOST_NAMED = 5
"""Unknown words named in one message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Vocabulary:
    """Every word with its number."""

    numbers: Mapping[str, int]
    entities: tuple[str, ...]
    colours: tuple[str, ...]
    max_tokens: int
    """In a row, including start and end."""
    start: int
    end: int
    unknown: int

    @property
    def most_words(self) -> int:
        """Words and marks that fit between start and end."""
        return self.max_tokens - 2

    def encode(self, words: Sequence[str]) -> list[int]:
        """Word numbers between start and end, unknown words as such."""
        return [self.start, *(self.numbers.get(word, self.unknown) for word in words), self.end]

    def unknown_words(self, words: Sequence[str]) -> tuple[str, ...]:
        """The words it does not know, each once, in order."""
        return tuple(dict.fromkeys(word for word in words if word not in self.numbers))

    def unknown_message(self, unknown: Sequence[str]) -> Message:
        """The message about words it does not know."""
        named = ", ".join(repr(word) for word in unknown[:_MOST_NAMED])
        more = f" and {len(unknown) - _MOST_NAMED} more" if len(unknown) > _MOST_NAMED else ""
        close = [get_close_matches(word, self.numbers, n=1, cutoff=0.8) for word in unknown[:_MOST_NAMED]]
        near = ", ".join(repr(words[0]) for words in close if words)
        hint = f" (did you mean {near}?)" if near else ""
        known = f"{', '.join((*self.entities, *self.colours))}, one to ten and places"
        return message("words-unknown", component="pocket", words=named + more, meant=hint, known=known)


def read_words(text: str) -> list[str]:
    """Words of any script, numbers, known punctuation and symbols such as emoji, in lower case.

    Other punctuation is skipped.
    """
    for sign, same in _SAME.items():
        text = text.replace(sign, same)
    words: list[str] = []
    last = ""
    for sign in unicodedata.normalize("NFKC", text).lower():
        kind = _kind(sign)
        is_inside = kind == last == "letter" or kind == last == "figure" or (kind == "'" and last == "letter")
        if is_inside:
            words[-1] += sign
            continue
        last = kind
        if kind not in ("", "'"):
            words.append(sign)
    return [word.rstrip("'") for word in words]


def _kind(sign: str) -> str:
    """letter, figure, ', the sign itself if it is a word, or nothing if it is skipped."""
    category = unicodedata.category(sign)
    if sign == "'":
        return sign
    if category[0] in "LM":
        return "letter"
    if category == "Nd":
        return "figure"
    return sign if sign in _MARKS or category[0] in "SN" else ""
