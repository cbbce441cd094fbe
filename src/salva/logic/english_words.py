"""The words of the grammar that english_reader.py reads: what joins, what denies, what ends a noun phrase."""

from __future__ import annotations

import re
from typing import NamedTuple

from salva.logic.words import RELATION_WORDS

NOT_THE_CASE = "it is not the case that"

DENIALS = (NOT_THE_CASE, "it is not true that")
GROUPS = (("either", "or"), ("both", "and"), ("all of", "and"), ("neither", "nor"))
JOINTS = {
    "and": "and",
    "but": "and",
    "along with": "and",
    "together with": "and",
    "as well as": "and",
    "with": "and",
    "or": "or",
}
PICTURES = ("photo", "photograph", "picture", "image", "painting", "drawing", "illustration")
SHORT_FORMS = {"there's": "there is", "isn't": "is not", "aren't": "are not", "it's": "it is", "grey": "gray"}
PLACES = {
    "in the middle": "middle",
    "in the horizontal middle": "x-middle",
    "in the vertical middle": "y-middle",
} | {
    f"{words} {place}": place
    for place in ("left", "right", "top", "bottom")
    for words in ("on the", "at the", "to the", "on", "at")
}
RELATIONS = {words: relation for relation, words in RELATION_WORDS.items()} | {
    "left of": "left_of",
    "right of": "right_of",
    "on the left of": "left_of",
    "on the right of": "right_of",
    "under": "below",
    "underneath": "below",
    "beneath": "below",
    "beside": "next_to",
    "on top of": "on",
    "bigger than": "larger_than",
}
# The longest first: "on top of a dog" is neither "on top" nor "on".
ENDINGS = sorted((*PLACES, *RELATIONS), key=lambda words: -len(words.split()))
WHICH = ("that is", "that are", "which is", "which are")


class Token(NamedTuple):
    """A word or sign, and where it stands in the text."""

    text: str
    start: int


def tokens_of(text: str) -> list[Token]:
    """The words and signs of a text in lower case, short forms spelled out; the last one is empty and marks the end."""
    tokens: list[Token] = []
    for match in re.finditer(r"[^\W\d_]+(?:['’-][^\W\d_]+)*|\d+|\S", text):
        heard = match[0].lower().replace("’", "'")
        tokens += [Token(word, match.start()) for word in SHORT_FORMS.get(heard, heard).split()]
    return [*tokens, Token("", len(text.rstrip()))]
