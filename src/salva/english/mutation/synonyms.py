"""Other words for the same: what the synonym baseline exchanges.

Words that fit in each other's places in a caption. Whether the classes really stay is checked by reading the changed
caption, never assumed.
"""

from __future__ import annotations

import re

from salva.english.captions.classes import LAST_WORDS
from salva.english.captions.reading import CaptionReading
from salva.english.captions.wordnet import WordNet
from salva.english.nouns import plural
from salva.english.wordlists import lists, table
from salva.english.words import article

_PHRASES = lists("mutation", "phrases")
_NOUNS = table("mutation", "nouns")
_FINDER = re.compile(r"\b(?:" + "|".join(sorted(map(re.escape, _PHRASES), key=len, reverse=True)) + r")\b", re.I)


def reworded(reading: CaptionReading, wordnet: WordNet | None = None) -> list[str]:
    """The caption with one word or phrase said otherwise, each way there is; by WordNet too where it is asked."""
    text = reading.text
    ways = [
        _put(text, match.start(), match.end(), other)
        for match in _FINDER.finditer(text)
        if _stands_alone(text, match)
        for other in _PHRASES[match[0].lower()]
    ]
    for mention in reading.mentions:
        # Only a noun that stands alone: a train car is no train automobile.
        said = text[mention.start : mention.end].lower()
        further = wordnet.synonyms(mention.name) if wordnet is not None else ()
        for one, other in (*_NOUNS.items(), *((mention.name, word) for word in further)):
            if said == one or (said == plural(one) and one != "people"):
                ways.append(_put(text, mention.start, mention.end, other if said == one else plural(other)))
    return list(dict.fromkeys(ways))


def _stands_alone(text: str, match: re.Match[str]) -> bool:
    """Whether words are no part of a name or of a longer preposition: Big Ben, near by, from above."""
    before, after = text[: match.start()].split(), text[match.end() :].split()
    if before and match[0][0].isupper():
        return False
    if match[0].lower().rpartition(" ")[2] not in LAST_WORDS:
        return True
    is_longer = bool(before) and before[-1].lower() in LAST_WORDS
    return bool(after) and after[0][0].isalpha() and after[0].lower() not in LAST_WORDS and not is_longer


def _put(text: str, start: int, end: int, said: str) -> str:
    """The text with other words at a place, and the article before them that fits."""
    before = text[:start]
    if match := re.search(r"\b(an?)\s+$", before, re.I):
        fitting = article(said)
        before = before[: match.start()] + (fitting.capitalize() if match[1][0].isupper() else fitting) + " "
    is_first = not before.strip()
    return before + (said[:1].upper() + said[1:] if is_first and text[start].isupper() else said) + text[end:]
