"""Words of a prompt that say where a thing is: on the left, at the top of a room, above a dog, larger than it.

Tables and how they are found among words. Of whom they are said is not known here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from salva.english.captions.wordlists import words
from salva.english.tokens import PICTURES

OPPOSITES = {
    "left_of": "right_of",
    "right_of": "left_of",
    "above": "below",
    "below": "above",
    "larger_than": "smaller_than",
    "smaller_than": "larger_than",
    "next_to": "next_to",
    "near": "near",
}
"""What is said of the two things the other way round."""
SIDES = {
    **{place: (place,) for place in ("left", "right", "top", "bottom")},
    "left-hand": ("left",),
    "right-hand": ("right",),
    **dict.fromkeys(words("middle center centre"), ("x-middle", "y-middle")),
}
"""Word to the places that it may be."""
COMPARING = words("larger bigger smaller taller")
SPACES = words(
    """
    room kitchen bedroom bathroom hall hallway office street road field meadow park beach garden yard lawn stage scene
    view lake ocean sea forest desert city sky picture photo photograph image painting
    """
)
"""Things that hold all the others."""
SURROUNDINGS = SPACES | words("table desk shelf wall plate tray")
"""On the left of a room is a place in it; on the left of a dog is one beside it."""
_RELATIONS = {
    "on top of": ("on", "above"),
    "atop": ("on", "above"),
    **dict.fromkeys(("on", "onto", "upon"), ("on",)),
    **dict.fromkeys(("above", "over"), ("above",)),
    **dict.fromkeys(("below", "under", "underneath", "beneath"), ("below",)),
    **dict.fromkeys(("larger than", "bigger than"), ("larger_than",)),
    "smaller than": ("smaller_than",),
    **dict.fromkeys(("next to", "beside", "alongside", "adjacent to"), ("next_to",)),
    **dict.fromkeys(("near", "close to"), ("near",)),
    "by": ("next_to", "near"),
    "around": ("near",),
}
"""Words to the relations that they may be, the likeliest first."""
_LOOSE = words("by around")
"""They also say other things: painted by, running around."""
_PHRASES = sorted(((text.split(), text) for text in _RELATIONS), key=lambda pair: -len(pair[0]))
_PARTS = words("side hand half part")
_WHOLES = frozenset((*PICTURES, "scene", "frame"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Phrase:
    """Where such words stand, and what they may mean."""

    start: int
    end: int
    relations: tuple[str, ...] = ()
    """To the thing behind the phrase."""
    places: tuple[str, ...] = ()
    is_of: bool = False
    """Whether the place is that of another thing: on the left of."""
    is_loose: bool = False
    """Whether it may say nothing of the kind."""
    is_towards: bool = False
    """Whether behind a verb it may be no place but a direction: looking to the left."""


def phrase_at(heard: Sequence[str], at: int) -> Phrase | None:
    """The phrase that begins at a word."""
    if found := _side_at(heard, at):
        return found
    for parts, text in _PHRASES:
        if list(heard[at : at + len(parts)]) == parts:
            return Phrase(start=at, end=at + len(parts), relations=_RELATIONS[text], is_loose=text in _LOOSE)
    return None


def _side_at(heard: Sequence[str], at: int) -> Phrase | None:
    """On the left, to the left of, left of, in the middle of the picture."""
    here = [*heard[at : at + 3], "", "", ""]
    if here[0] in ("left", "right") and here[1] == "of":
        return Phrase(start=at, end=at + 2, relations=(f"{here[0]}_of",))
    if here[0] not in ("on", "at", "to", "in") or here[1] != "the" or here[2] not in SIDES:
        return None
    end = at + 3
    while end < len(heard) and heard[end] in _PARTS:
        end += 1
    places = SIDES[here[2]]
    behind = [*heard[end : end + 3], "", "", ""]
    if behind[0] != "of":
        return Phrase(start=at, end=end, places=places, is_towards=here[0] == "to")
    if behind[1] in ("the", "this") and behind[2] in _WHOLES:
        return Phrase(start=at, end=end + 3, places=places)
    is_beside = places[0] in ("left", "right")
    relations = (f"{places[0]}_of",) if is_beside else ()
    # What is to the left of a room stands beside it; what is on the left of it stands in it.
    inside = () if here[0] == "to" else places
    return Phrase(start=at, end=end + 1, relations=relations, places=inside, is_of=True)
