"""What stands before a noun and belongs to it: its number and its colour.

A mention comes in; number, colour and doubts about them go out.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from salva.authoring.hearing.mentions import BE, DETERMINERS, INDEFINITE, Heard, Mention
from salva.english.captions.wordlists import words
from salva.english.nouns import can_be_several, counts_in_pairs
from salva.english.words import number_of
from salva.logic.formula import COLOURS

_GROUPS = {"dozen": 12, "dozen-of": 12, "pair-of": 2, "couple-of": 2, "pairs-of": 2}
_ROUGHLY = words("least most than almost nearly about roughly approximately")


@dataclass(frozen=True, slots=True, kw_only=True)
class Modifiers:
    """Number and colour of a noun."""

    count: int = 1
    colour: str | None = None
    read: tuple[int, ...] = ()
    """The words that say them."""
    doubts: tuple[str, ...] = ()


def number_at(word: str) -> int:
    """The number that a word is; 0 where it is none."""
    return _GROUPS.get(word) or number_of(word) or 0


def modifiers_of(heard: Heard, mention: Mention) -> Modifiers:
    """What is said of a thing before its noun."""
    before = range(mention.opens, mention.start)
    numbers = [at for at in before if number_at(heard.words[at])]
    colours = [at for at in before if heard.words[at] in COLOURS]
    is_understood = heard.words[mention.start] in COLOURS and heard.words[mention.start] not in mention.name.split()
    if is_understood:
        colours.append(mention.start)
    count = _count(heard, mention, numbers)
    doubts = []
    if count > 1 and _is_open_number(heard, mention, numbers):
        doubts.append(f"it is open what number the prompt says of {mention.name!r}")
    if colours and _is_open_colour(heard, mention, colours):
        doubts.append(f"it is open of what the prompt says {heard.words[colours[0]]!r}, and whether alone")
    return Modifiers(
        count=count,
        colour=heard.words[colours[0]] if colours else None,
        read=(*numbers, *colours),
        doubts=tuple(doubts),
    )


def _count(heard: Heard, mention: Mention, spots: list[int]) -> int:
    numbers = [number_at(heard.words[at]) for at in spots]
    if spots and counts_in_pairs(mention.name) and heard.words[spots[-1]] in ("pair-of", "pairs-of"):
        numbers[-1] = 1
    return prod(numbers)


def _is_open_number(heard: Heard, mention: Mention, spots: list[int]) -> bool:
    last = heard.words[spots[-1]]
    before = heard.words[max(spots[0] - 2, 0) : spots[0]]
    return (
        len(spots) > 1 + (last in _GROUPS)
        or (last == "pairs-of" and not counts_in_pairs(mention.name))
        or before == ("up", "to")
        or any(word in _ROUGHLY for word in before[-1:])
        or any(_is_verb(word) for word in heard.words[spots[-1] : mention.start])
        # "A three wheeled cart", "a number 3 bus".
        or (mention.determiner in INDEFINITE and last not in _GROUPS)
        or not can_be_several(heard.words[mention.end - 1])
    )


def _is_open_colour(heard: Heard, mention: Mention, spots: list[int]) -> bool:
    first = spots[0]
    two_before, before = ("", "", *heard.words[:first])[-2:]
    is_attribute = before in DETERMINERS or number_at(before) > 0
    behind = heard.words[first + 1 : mention.start]
    return (
        len(spots) > 1
        # "The balls are red cubes".
        or (before in BE and two_before != "there")
        # "A house painted red facing mountains".
        or any(_is_verb(word) or (word.endswith("ing") and not is_attribute) for word in behind)
    )


def _is_verb(word: str) -> bool:
    """Whether a word before a noun is rather a verb: what a thing is like does not end in s."""
    return word.endswith("s") and not word.endswith(("ss", "us", "is"))
