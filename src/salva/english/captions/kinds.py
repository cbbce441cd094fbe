"""The kind of a class: something alive, a place, or anything else; and which classes detectors can name.

Exchanging an entity for one of its own kind keeps a sentence English: a dog may eat a cake, a hill may not.
"""

from __future__ import annotations

from salva.english.captions.classes import VG_THINGS, is_person
from salva.english.wordlists import words

ALIVE, PLACE, THING = "alive", "place", "thing"

_COCO = words(
    """
    person bicycle car motorcycle airplane bus train truck boat hydrant bench bird cat dog horse sheep cow elephant
    bear zebra giraffe backpack umbrella handbag tie suitcase frisbee snowboard kite skateboard surfboard bottle cup
    fork knife spoon bowl banana apple sandwich orange carrot pizza donut cake chair couch bed toilet tv laptop mouse
    remote keyboard phone microwave oven toaster sink refrigerator book clock vase toothbrush
    """
)
_POCKET = words("ball butterfly flower guitar hat house tree turtle")
_ALIVE = words(
    """
    animal bear bird butterfly cat cow dog elephant giraffe horse sheep turtle zebra lion tiger monkey goat duck goose
    chicken pig deer panda kangaroo parrot seagull pigeon owl fish bull ox donkey mule camel fox wolf rabbit bunny lamb
    calf puppy kitten swan eagle ram cattle
    """
)
_PLACES = words(
    """
    beach building hill house mountain room sidewalk street kitchen bathroom bedroom field park city river lake ocean
    forest yard store restaurant office airport station zoo garden court road restroom hallway living-room market
    town village bridge runway harbor pool pond shore valley desert pasture meadow lawn parking-lot lot driveway
    intersection crosswalk museum library church school hospital hotel barn stadium arena porch patio deck dock pier
    ground floor wall sky water snow grass sand woods wood area slope track
    """
)
_NAMED_PLACES = words("beach building hill house mountain street kitchen bathroom bedroom field park")


def kind_of(name: str) -> str:
    """alive, place or thing."""
    if name in _ALIVE or is_person(name):
        return ALIVE
    return PLACE if name in _PLACES else THING


def can_be_asked_for(name: str) -> bool:
    """Whether detectors know a class by name: Visual Genome's, COCO's, and those of pocket's world."""
    return name in VG_THINGS or name in _COCO or name in _POCKET or name in _NAMED_PLACES
