"""The sense of a noun by the words around it: batter in a bowl is no player, worn glasses are no drinking glass."""

from __future__ import annotations

from collections.abc import Sequence

from salva.english.captions.classes import is_person
from salva.english.nouns import singular
from salva.english.wordlists import words as words_of

_SPORT = words_of("captions", "sport_words")
_KITCHEN = words_of("captions", "kitchen_words")
_DRINKING = words_of("captions", "drinking_words")
_BEFORE_WORN = words_of("captions", "worn_words")
_WEARING = frozenset(("wearing", "wears", "wear", "wore"))
_NEAR = 4
_IN_KITCHENS = {"batter": "dough", "pitcher": "jug"}


def sense(name: str, words: Sequence[str], at: int) -> str:
    """The name of an entity whose noun stands at a place of a caption, or a name of its own for another sense."""
    others = {*words[:at], *words[at + 1 :]}
    if name in _IN_KITCHENS and (words[at + 1 : at + 2] == ["of"] or (others & _KITCHEN and not others & _SPORT)):
        return _IN_KITCHENS[name]
    if words[at] == "glasses" and not _DRINKING & others:
        if _WEARING & {*words[max(0, at - _NEAR) : at]}:
            return "eyeglasses"
        is_somebody = any(is_person(singular(word)) or is_person(word) for word in words[:at])
        if is_somebody and _BEFORE_WORN & {*words[max(0, at - _NEAR) : at]}:
            return "eyeglasses"
    return name
