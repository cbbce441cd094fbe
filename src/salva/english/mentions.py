"""Which entities a text mentions, where no formula says it: the longest names of the lexicon, word by word."""

from __future__ import annotations

import re
from collections.abc import Collection

from salva.english.names import is_known
from salva.english.nouns import singular
from salva.english.tokens import PICTURES

_WORD = re.compile(r"[^\W_]+")
_MOST_WORDS = 3
"""Of one name."""


def mentioned_entities(text: str, names: Collection[str] = ()) -> set[str]:
    """Singular names in a text that are in the lexicon or among these names."""
    words = _WORD.findall(text.lower())
    found: set[str] = set()
    i = 0
    while i < len(words):
        for n in range(_MOST_WORDS, 0, -1):
            said = " ".join(words[i : i + n])
            # A bus is no plural.
            name = next((name for name in (singular(said), said) if name in names or is_known(name)), "")
            if name:
                found |= {name}.difference(PICTURES)
                i += n - 1
                break
        i += 1
    return found
