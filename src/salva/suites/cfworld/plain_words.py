"""The words that carry meaning.

Plain English only: "marbles", "marble" and "marble's" are one stem, "a" and "of" are none.
"""

from __future__ import annotations

import re
from collections.abc import Set

_WORD = re.compile(r"[A-Za-z]+(?:'[a-z]+)?|\d+(?:\.\d+)?")
_ENDINGS = ("ingly", "edly", "iest", "ing", "ies", "ied", "est", "ers", "ed", "es", "er", "ly", "s", "e", "y")
_SHORTEST = 3
_SMALL = """
a about above after again against all almost along also although always am among an and another any anything are
around as at away back be been before behind below beneath beside between both but by can cannot clear clearly could
did do does done down draw each either even ever every everything far fast few first for from full fully give gives go
goes gone had has have here him his how however i if image imagine in inside instead into is it its just keep keeps
last left less like long look looks made make makes many may more most much must near nearly neither never no nobody
none nor not nothing now of off on once one only onto or other others our out over own paint part past image place
plain put puts right same seen seem set show shown shows side sides so some something stand stands still such suppose
than that the their them then there these they thing things this those three through to together too towards turn
turned turns two under unlike until up upon very was way we well were what when where which while who whole whom whose
why will with within without world would yet you your
"""
FUNCTION_WORDS = frozenset(_SMALL.split())
"""Words too common to tell what a text is about."""


def words(text: str) -> list[str]:
    """Its words in small letters, in order."""
    return [match.lower() for match in _WORD.findall(text)]


def stem(word: str) -> str:
    """A word without its ending, as far as a short list of endings goes."""
    bare = word.split("'")[0]
    for ending in _ENDINGS:
        if bare.endswith(ending) and len(bare) - len(ending) >= _SHORTEST:
            bare = bare[: -len(ending)]
            break
    doubled = len(bare) > _SHORTEST and bare[-1] == bare[-2] and bare[-1] not in "aeiousl"
    return bare[:-1] if doubled else bare


def telling(text: str) -> dict[str, str]:
    """The stems that carry a text's meaning, each with the word it was first seen as."""
    seen: dict[str, str] = {}
    for word in words(text):
        if word not in FUNCTION_WORDS:
            seen.setdefault(stem(word), word)
    return seen


def likeness(first: Set[str], second: Set[str]) -> float:
    """How much two sets of stems share: 0 for nothing, 1 for all."""
    return len(first & second) / len(first | second) if first or second else 0.0
