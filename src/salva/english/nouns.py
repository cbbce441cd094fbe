"""Nouns in one and in several, and words that name no entity.

Singular to plural and back, for one word or several (the last one bends). A table has what the endings alone would
get wrong. Knows nothing of numbers, articles or formulas.
"""

from __future__ import annotations

from collections.abc import Sequence

from salva.english.wordlists import table, words
from salva.messages import Message, message

_UNCHANGED = words("words", "unchanged")
_PAIRS = words("words", "pairs")
_IRREGULAR = {
    **table("words", "irregular"),
    # Most that end in o take a plain s (pianos, photos); the second row's plurals would be undone wrongly otherwise.
    **{noun: f"{noun}es" for noun in words("words", "plural_in_es")},
    **{noun: f"{noun}s" for noun in words("words", "plural_in_s")},
}
_ENDINGS = table("words", "endings")
"""Nouns that bend the same as the last part of a longer word: bookshelf, snowman."""
_NO_MAN = words("words", "no_man")
_ONE_MEN = words("words", "one_men")
_SINGULAR = {several: one for one, several in _IRREGULAR.items()}

_ING_NOUNS = words("words", "ing_nouns")
_ED_NOUNS = words("words", "ed_nouns")
_LY_NOUNS = words("words", "ly_nouns")
QUANTITIES = words("words", "quantities")
"""Words that say how many, and not which number."""
_NO_NAMES = frozenset(
    (
        # What an entity is like, beyond its colour.
        *("small", "large", "big", "little", "tiny", "huge", "giant", "tall", "short", "long", "wide", "round"),
        *("old", "young", "new", "happy", "sad", "angry", "cute", "beautiful", "fluffy", "furry", "shiny", "bright"),
        *("dark", "striped", "spotted", "wooden", "metal", "golden", "silver", "violet", "beige", "colorful"),
        *("colourful", "empty", "full", "open", "closed", "broken", "wet", "dry", "fresh", "ripe", "sleepy", "asleep"),
        # What belongs to verbs and clauses.
        *("has", "have", "his", "her", "its", "their", "who", "which", "while", "where", "this", "these", "those"),
        *("very", "also", "just", "not", "never", "without", "except", "only", "then", "so", "if", "because", "when"),
        *("was", "were", "be", "been", "could", "must", "should", "sat", "ran", "stood", "slept", "ate", "swam"),
        *("held", "wore", "hung", "drove", "rode", "observations", "sits", "stands", "lies", "runs", "walks"),
        *("sleeps", "eats", "jumps", "holds", "wears", "plays", "i", "you", "we", "he", "she", "they", "them", "me"),
        *("us", "him", "same", "different", "visible"),
        # Where something is, in words that no formula has.
        *("behind", "near", "inside", "outside", "over", "around", "between", "among", "against", "across", "through"),
        *("from", "by", "for", "into", "onto", "during", "off", "about", "after", "before", "toward", "towards"),
        *("here", "nearby", "away", "somewhere", "everywhere", "indoors", "outdoors", "alone", "far", "close", "up"),
        *("down", "via", "per", "amid", "beyond", "within", "upon", "out"),
    )
)


def plural(entity: str) -> str:
    """The plural of a singular noun; of several words, that of the last."""
    head, space, noun = entity.rpartition(" ")
    return head + space + _plural_noun(noun)


def singular(words: str) -> str:
    """The singular of a plural noun; undoes `plural` for every noun this file knows and regular ones."""
    head, space, noun = words.rpartition(" ")
    return head + space + _singular_noun(noun)


def is_plural_noun(noun: str) -> bool:
    """Whether a noun can only name several entities: sheep are one or several, and so are scissors."""
    if noun in _UNCHANGED or noun in _PAIRS:
        return False
    if noun in _SINGULAR or _bent_back(noun):
        return True
    if noun in _IRREGULAR or not noun.endswith("s") or noun.endswith(("ss", "us", "is")):
        return False
    return noun.endswith("oes") or _plural_noun(_singular_noun(noun)) == noun


def can_be_several(noun: str) -> bool:
    """Whether a noun can stand after a number."""
    return is_plural_noun(noun) or noun in _UNCHANGED or noun in _PAIRS


def counts_in_pairs(entity: str) -> bool:
    """Whether a pair of them is one: scissors, not shoes."""
    return entity.rpartition(" ")[2] in _PAIRS


def name_problem(words: Sequence[str]) -> Message | None:
    """Why these words are no name of an entity; None where they may be one."""
    for i, word in enumerate(words):
        # A light is an entity, a light dog is not.
        if word in _NO_NAMES or word in QUANTITIES or (word == "light" and i < len(words) - 1):
            return message("word-not-in-formulas", word=word)
    for word in words[1:]:
        # A walking stick is an entity, a man walking dogs is not.
        is_verb = (word.endswith("ing") and word not in _ING_NOUNS) or (word.endswith("ed") and word not in _ED_NOUNS)
        if is_verb or (word.endswith("ly") and word not in _LY_NOUNS):
            return message("word-not-in-formulas", word=word)
    return None


def _plural_noun(noun: str) -> str:
    if noun in _UNCHANGED or noun in _PAIRS:
        return noun
    if noun in _IRREGULAR:
        return _IRREGULAR[noun]
    for one, several in _ENDINGS.items():
        if noun.endswith(one) and noun not in _NO_MAN:
            return noun.removesuffix(one) + several
    if noun.endswith(("s", "x", "z", "ch", "sh")):
        return noun + "es"
    if noun.endswith("y") and noun[-2:-1] not in tuple("aeiou"):
        return noun[:-1] + "ies"
    return noun + "s"


def _singular_noun(noun: str) -> str:
    if noun in _UNCHANGED or noun in _PAIRS:
        return noun
    if noun in _SINGULAR:
        return _SINGULAR[noun]
    if one := _bent_back(noun):
        return one
    if noun.endswith("ies") and len(noun) > 4:
        return noun[:-3] + "y"
    if noun.endswith(("sses", "xes", "zzes", "tzes", "ches", "shes", "oes")):
        return noun[:-2]
    if noun.endswith("uses") and not noun.endswith("ouses"):
        return noun[:-2]
    return noun[:-1] if noun.endswith("s") and not noun.endswith("ss") else noun


def _bent_back(noun: str) -> str:
    """The singular of a plural that ends as _ENDINGS says, or nothing."""
    if noun in _ONE_MEN:
        return ""
    return next((noun.removesuffix(many) + one for one, many in _ENDINGS.items() if noun.endswith(many)), "")
