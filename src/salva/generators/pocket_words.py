"""The words pocket knows: sentences become rows of word numbers, and what it cannot read is said plainly.

Takes the vocabulary from the card beside the weights. Knows nothing of networks or pictures.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

_MARKS = ",.:()"
"""Those that training captions had."""
_SAME = {"[": "(", "]": ")", "\u2019": "'", "&": " and "}
_PAST_TEN = re.compile(
    "zero|eleven|twelve|(thir|four|fif|six|seven|eigh|nine)teen|(twen|thir|for|fif|six|seven|eigh|nine)ty|"
    "(hundred|thousand|million|dozen)s?"
)
_MOST_NAMED = 5
"""Unknown words named in one message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Vocabulary:
    """Every word with its number, and what kinds of words they are."""

    numbers: Mapping[str, int]
    things: tuple[str, ...]
    colours: tuple[str, ...]
    max_tokens: int
    """Of a row, its start and end included."""
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

    def strangers(self, words: Sequence[str]) -> tuple[str, ...]:
        """The words it does not know, each once, in order."""
        return tuple(dict.fromkeys(word for word in words if word not in self.numbers))

    def explain(self, strangers: Sequence[str]) -> str:
        """Why these words cannot be painted, and what could be written in their place."""
        named = ", ".join(repr(word) for word in strangers[:_MOST_NAMED])
        more = f" and {len(strangers) - _MOST_NAMED} more" if len(strangers) > _MOST_NAMED else ""
        close = [get_close_matches(word, self.numbers, n=1, cutoff=0.8) for word in strangers[:_MOST_NAMED]]
        near = ", ".join(repr(words[0]) for words in close if words)
        hint = f" (did you mean {near}?)" if near else ""
        counts = "it counts from one to ten, and " if any(_is_number(word) for word in strangers) else ""
        return (
            f"pocket does not know {named}{more}{hint}; {counts}it knows {len(self.things)} things "
            f"({', '.join(self.things)}), {len(self.colours)} colours ({', '.join(self.colours)}), numbers from one "
            "to ten, small and large, left, right, top, bottom, middle, and the plain words between them. Use those, "
            "or paint past unknown words with --set model.unknown=ignore"
        )


def read_words(text: str) -> list[str]:
    """Words of any script, figures and the few marks that count, in small letters.

    Other punctuation is passed over, since it says nothing; other signs, such as an emoji, are words.
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
    """letter, figure, ', the sign itself where it stands alone, or nothing where it says nothing."""
    category = unicodedata.category(sign)
    if sign == "'":
        return sign
    if category[0] in "LM":
        return "letter"
    if category == "Nd":
        return "figure"
    return sign if sign in _MARKS or category[0] in "SN" else ""


def _is_number(word: str) -> bool:
    return word.isdigit() or _PAST_TEN.fullmatch(word) is not None
