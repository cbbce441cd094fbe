"""The kind of a class: something alive, a place, or anything else; and which classes detectors can name.

Exchanging an entity for one of its own kind keeps a sentence English: a dog may eat a cake, a hill may not.
"""

from __future__ import annotations

from salva.english.captions.classes import VG_THINGS, is_person
from salva.english.wordlists import words

ALIVE, PLACE, THING = "alive", "place", "thing"

_COCO = words("captions", "coco")
_POCKET = words("captions", "pocket")
_ALIVE = words("captions", "alive")
_PLACES = words("captions", "places")
_NAMED_PLACES = words("captions", "named_places")


def kind_of(name: str) -> str:
    """alive, place or thing."""
    if name in _ALIVE or is_person(name):
        return ALIVE
    return PLACE if name in _PLACES else THING


def can_be_asked_for(name: str) -> bool:
    """Whether detectors know a class by name: Visual Genome's, COCO's, and those of pocket's world."""
    return name in VG_THINGS or name in _COCO or name in _POCKET or name in _NAMED_PLACES
