"""English words for numbers and colours, and an entity with its article or its number.

Entities come in as singular nouns and leave as one noun phrase; nouns.py has their plurals.
Knows nothing of formulas or grammar beyond that phrase.
"""

from __future__ import annotations

import re

from salva.english.nouns import counts_in_pairs, plural
from salva.errors import UsageError
from salva.logic.formula import MAX_COUNT, NUMBER_WORDS, Atom, Related
from salva.messages import message

_TENS = {"twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90}

RELATION_WORDS = {
    "left_of": "to the left of",
    "right_of": "to the right of",
    "above": "above",
    "below": "below",
    "next_to": "next to",
    "near": "near",
    "on": "on",
    "larger_than": "larger than",
    "smaller_than": "smaller than",
}

# Sound decides, not spelling: a silent h takes "an", a vowel said as "you" or "won" takes "a".
_AN_SOUNDS = ("hour", "heir", "honest", "honour", "honor")
_A_SOUNDS = ("uni", "use", "usu", "util", "uku", "ura", "eu", "ewe", "one", "once", "ouija", "ubi")
_AN_DESPITE = ("unin", "unim", "unid")


def article(phrase: str) -> str:
    """ "a" or "an", by the sound the phrase starts with."""
    word = phrase.split(" ", 1)[0]
    if word.startswith(_AN_SOUNDS):
        return "an"
    if word.startswith(_A_SOUNDS) and not word.startswith(_AN_DESPITE):
        return "a"
    return "an" if word[:1] in "aeiou" else "a"


def with_article(phrase: str) -> str:
    """The phrase with "a" or "an"; what only comes in pairs is counted in pairs."""
    if counts_in_pairs(phrase):
        return f"a pair of {phrase}"
    return f"{article(phrase)} {phrase}"


def number_word(n: int) -> str:
    """ "one" to "twenty", then figures."""
    if n < 1:
        raise UsageError(message("count-range", limit=MAX_COUNT, got=n))
    return NUMBER_WORDS[n - 1] if n <= len(NUMBER_WORDS) else str(n)


def number_of(word: str) -> int | None:
    """The number a word or figure stands for, from 1 up; None when it is no number."""
    if word in NUMBER_WORDS:
        return NUMBER_WORDS.index(word) + 1
    tens, _, ones = word.partition("-")
    if tens in _TENS and (not ones or ones in NUMBER_WORDS[:9]):
        return _TENS[tens] + (NUMBER_WORDS.index(ones) + 1 if ones else 0)
    return int(word) if word.isascii() and word.isdigit() and len(word) <= 4 and int(word) > 0 else None


def counted(entity: str, n: int) -> str:
    """The entity in a number: "an apple", "three apples"."""
    if n == 1:
        return with_article(entity)
    if counts_in_pairs(entity):
        return f"{number_word(n)} pairs of {entity}"
    return f"{number_word(n)} {plural(entity)}"


def noun_of(atom: Atom) -> str:
    """What an atom describes, its number and place left out: "red apple"."""
    return f"{atom.colour} {atom.entity}" if atom.colour else atom.entity


def described(atom: Atom) -> str:
    """What an atom describes, its place left out: "two red apples"."""
    return counted(noun_of(atom), atom.count)


def in_relation(relation: Related) -> str:
    """ "two cats to the left of a dog"."""
    first, second = relation.sides()
    return f"{described(first)} {RELATION_WORDS[relation.relation]} {described(second)}"


def comparable(text: str) -> str:
    """A prompt, a question or an answer as it is compared: one case, single spaces, no full stop."""
    return re.sub(r"\s+", " ", text).strip().rstrip(".?").casefold()
