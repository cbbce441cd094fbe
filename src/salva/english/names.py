"""Which words name an entity.

A name outside the lexicon may still be an entity, and is warned about; one of several words only where each part is a
noun and nothing else, so that no denial, number, description, verb or slip becomes part of a name.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from functools import cache

from salva.english.nouns import singular
from salva.english.wordlists import tables, words
from salva.messages import Message, message, warn_once

_QUANTITIES = words("words", "quantities")
_DENIERS = words("words", "deniers")
_NO_NAMES = words("words", "describing") | words("words", "clausal")
_COLOURED_NAMES = words("words", "coloured_names")
_ING_NOUNS = words("words", "ing_nouns")
_ED_NOUNS = words("words", "ed_nouns")
_LY_NOUNS = words("words", "ly_nouns")
_LIVING = ("animals", "people")
_ALSO_OTHER = "also_other"
_MOST_WARNINGS = 8


def is_known(entity: str) -> bool:
    """Whether a singular name is in the lexicon."""
    return entity in _known()


def may_be_name(entity: str) -> bool:
    """Whether a singular name can be one: a single word, one of the lexicon, or nouns alone."""
    first, *rest = entity.split(" ")
    if not rest or is_known(entity):
        return True
    for i in range(1, len(rest) + 1):
        parts = " ".join((first, *rest[: i - 1])), " ".join(rest[i - 1 :])
        may_be_head = may_be_name(parts[1]) if " " in parts[1] else _is_noun_alone(parts[1])
        # A cat dog is a slip, not a kind of dog.
        if _is_noun_alone(parts[0]) and may_be_head and not _living().issuperset(parts):
            return True
    return False


def word_problem(word: str) -> Message | None:
    """Why a sentence has no use for a word that denies or says how many; None for any other."""
    prefix, hyphen, _ = word.partition("-")
    if word in _DENIERS or (hyphen and prefix == "non") or word.endswith(("-free", "-less")):
        return message("word-denies", word=word)
    return message("word-counts", word=word) if word in _QUANTITIES else None


def name_problem(named: Sequence[str]) -> Message | None:
    """Why these words are no name of an entity; None where they may be one."""
    if is_known(singular(" ".join(named))):
        return None
    for i, word in enumerate(named):
        if problem := word_problem(word):
            return problem
        if word.endswith("less") and not is_known(word):
            return message("word-denies", word=word)
        # A light is an entity, a light dog is not; of words with a hyphen none is known to be a noun.
        if word in _NO_NAMES or (word == "light" and i < len(named) - 1) or ("-" in word and not is_known(word)):
            return message("word-not-in-formulas", word=word)
    for word in named[1:]:
        # A walking stick is an entity, a man walking dogs is not.
        is_verb = (word.endswith("ing") and word not in _ING_NOUNS) or (word.endswith("ed") and word not in _ED_NOUNS)
        if is_verb or (word.endswith("ly") and word not in _LY_NOUNS):
            return message("word-not-in-formulas", word=word)
    return None


def whole_name_problem(entity: str, colour: str | None) -> Message | None:
    """Why a singular name of one or more words cannot be read as one; None where it can."""
    if colour and f"{colour} {entity}" in _COLOURED_NAMES:
        return message("colour-in-name", name=f"{colour} {entity}")
    if may_be_name(entity):
        return None
    # Of words that make no name together, one is a description or belongs to a verb.
    strange = next((word for word in entity.split(" ") if not is_known(word)), entity)
    return message("word-not-in-formulas", word=strange)


def nearest(entity: str) -> str:
    """The known name that is spelled most like this one."""
    return get_close_matches(entity, sorted(_known()), n=1, cutoff=0)[0]


def warn_of_unknown(entity: str) -> None:
    """Warn about a name that is not in the lexicon; of many, the first ones."""
    if is_known(entity) or len(_warned) > _MOST_WARNINGS:
        return
    _warned.add(entity)
    if len(_warned) > _MOST_WARNINGS:
        warn_once(message("entities-unknown", entity=entity))
    else:
        warn_once(message("entity-unknown", entity=entity, nearest=nearest(entity)))


_warned: set[str] = set()


def _is_noun_alone(name: str) -> bool:
    return is_known(name) and name not in _names()[_ALSO_OTHER]


@cache
def _living() -> frozenset[str]:
    return frozenset().union(*(_names()[subject] for subject in _LIVING))


@cache
def _known() -> frozenset[str]:
    return words("captions", "vg_things").union(*(_names().values()))


@cache
def _names() -> dict[str, frozenset[str]]:
    return {
        subject: frozenset(" ".join(name.split()) for name in names.split(","))
        for subject, names in tables("lexicon").items()
    }
