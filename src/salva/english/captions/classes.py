"""Words to classes: which names and predicates of captions count as the same.

`vg` keeps the 150 entities and 50 predicates of Visual Genome apart that scene-graph models know; `paper` merges as
ACTesting does: man to person, and to with, sleep on to on. What is in neither keeps its own name.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from salva.english.captions.wordnet import WordNet
from salva.english.wordlists import table, words

KINDS = ("paper", "vg")

VG_THINGS = words(
    """
    airplane animal arm bag banana basket beach bear bed bench bicycle bird board boat book boot bottle bowl box
    boy branch building bus cabinet cap car cat chair child clock coat counter cow cup curtain desk dog door
    drawer ear elephant engine eye face fence finger flag flower food fork fruit giraffe girl glass glove guy
    hair hand handle hat head helmet hill horse house jacket jeans kid kite lady lamp laptop leaf leg letter
    light logo man motorcycle mountain mouth neck nose number orange pants paper paw people person phone pillow
    pizza plane plant plate player pole post pot racket railing rock roof room screen seat sheep shelf shirt
    shoe shorts sidewalk sign sink skateboard skis skier sneaker snow sock stand street surfboard table tail tie
    tile tire toilet towel tower track train tree truck trunk umbrella vase vegetable vehicle wave wheel window
    windshield wing wire woman zebra men
    """
)
"""Visual Genome's, but for the names that nobody would ask a detector for: bicycle for bike, jeans for jean."""
VG_PREDICATES = frozenset(
    (
        *("above", "across", "against", "along", "and", "at", "attached to", "behind", "belonging to", "between"),
        *("carrying", "covered in", "covering", "eating", "flying in", "for", "from", "growing on", "hanging from"),
        *("has", "holding", "in", "in front of", "laying on", "looking at", "lying on", "made of", "mounted on"),
        *("near", "of", "on", "on back of", "over", "painted on", "parked on", "part of", "playing", "riding", "says"),
        *("sitting on", "standing on", "to", "under", "using", "walking in", "walking on", "watching", "wearing"),
        *("wears", "with"),
    )
)
_SAME_THINGS = table(
    """
    bicycle: bike cycle; airplane: aeroplane plane jet airliner jetliner aircraft; motorcycle: motorbike
    motor-cycle; racket: racquet; phone: cellphone telephone smartphone; tv: television t.v; couch: sofa; cat:
    kitten kitty; dog: puppy pup doggy; horse: pony; donut: doughnut; boat: sailboat; car: automobile auto; train:
    locomotive; turtle: tortoise; flower: tulip; house: home; ball: football; cup: mug; child: toddler youngster;
    man: gentleman male; woman: female; guy: dude; baby: infant; person: human people individual; girl: gal; jeans:
    jean; pants: pant trousers; shorts: short; skis: ski; street: road roadway; refrigerator: fridge; stove: oven;
    rock: stone boulder; hot dog: hotdog; teddy bear: teddy; ocean: sea; hill: hillside; mountain: mountainside;
    sidewalk: pavement; store: shop; luggage: baggage; bunny: rabbit; bathroom: restroom washroom
    """
)
_ENTITY = {word: name for name, words in _SAME_THINGS.items() for word in words.split()}
_PERSONS = words(
    """
    person people man men woman boy girl child kid guy lady player skier surfer snowboarder skateboarder baby
    adult gentleman rider biker cyclist motorcyclist bicyclist pedestrian officer policeman cop soldier worker
    chef cook waiter waitress bride groom couple batter pitcher catcher umpire tourist passenger driver student
    teen teenager friend family crowd spectator actress actor mother father boarder skater swimmer runner golfer
    farmer businessman
    """
)
_PREDICATE = table(
    """
    beside: next to; alongside: next to; by: near; close to: near; nearby: near; around: near; atop: on; upon: on;
    onto: on; on top of: on; underneath: under; beneath: under; below: under; into: in; inside: in; inside of: in;
    within: in; in back of: behind; wears: wearing; dressed in: wearing; having: has; gripping: holding; grasping:
    holding; full of: filled with
    """
)
_FOR_PAPER = table(
    """
    and: with; on back of: on; over: above; carrying: holding; filled with: with; topped with: with
    """
)
LAST_WORDS = words(
    """
    on in at of with near under above below behind across against along between for from over to by through into
    onto down around off past toward towards among beneath underneath beside inside outside like as about before
    after
    """
)
"""Prepositions: the last of a predicate says how two entities stand, the verb before it what the first one does."""
_WHOLE = ("next to", "in front of", "left of", "right of", "on back of", "on top of", "close to", "out of", "inside of")


@dataclass(frozen=True, slots=True, kw_only=True)
class Classes:
    """One way to merge words."""

    kind: str = "paper"
    """paper or vg."""
    hypernyms: WordNet | None = None
    """Who is asked about a noun that is no class: its nearest more general word that is one."""

    def entity(self, name: str) -> str:
        """The class of an entity, told by its noun in the singular."""
        return _entity(name, self.kind, self.hypernyms)

    def predicate(self, words: str) -> str:
        """The class of a predicate."""
        return _predicate(words, self.kind)

    def is_listed(self, name: str) -> bool:
        """Whether a class is one of the 150, and not a name of its own."""
        return name in VG_THINGS


def is_person(name: str) -> bool:
    """Whether a noun names somebody."""
    return name in _PERSONS


@lru_cache(maxsize=65_536)
def _entity(name: str, kind: str, hypernyms: WordNet | None) -> str:
    name = _ENTITY.get(name, name)
    if hypernyms is not None and name not in VG_THINGS and not is_person(name):
        name = hypernyms.nearest(name, VG_THINGS) or name
    if kind == "paper" and is_person(name):
        return "person"
    return {"men": "man", "people": "person", "plane": "airplane"}.get(name, name)


@lru_cache(maxsize=65_536)
def _predicate(words: str, kind: str) -> str:
    words = _PREDICATE.get(words, words)
    if kind == "paper":
        words = _FOR_PAPER.get(words, words)
    if kind == "vg" and words in VG_PREDICATES:
        return words
    last = next((whole for whole in _WHOLE if words.endswith(f" {whole}")), words.rpartition(" ")[2])
    if last != words and (last in LAST_WORDS or last in _WHOLE) and words not in _WHOLE:
        return _predicate(last, kind)
    return words
