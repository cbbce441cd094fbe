"""Nouns in one and in several.

Singular to plural and back, for one word or several (the last one bends). A table has what the endings alone would
get wrong. Knows nothing of numbers, articles or formulas.
"""

from __future__ import annotations

from salva.english.wordlists import table, words

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
