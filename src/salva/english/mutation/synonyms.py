"""Other words for the same: what the synonym baseline exchanges.

Words that fit in each other's places in a caption. Whether the classes really stay is checked by reading the changed
caption, never assumed.
"""

from __future__ import annotations

import re

from salva.english.captions.reading import CaptionReading
from salva.english.captions.wordnet import WordNet
from salva.english.nouns import plural
from salva.english.wordlists import table
from salva.english.words import article

_PHRASES = table(
    """
    small: little, tiny; little: small; tiny: small; big: large; large: big, huge; huge: large; picture: photo,
    image; photo: picture; photograph: photo; image: picture; next to: beside; beside: next to; under: underneath,
    beneath; underneath: under; beneath: under; below: beneath, underneath; above: over; to the left of: on the left
    of; to the right of: on the right of; on top of: atop; close to: near; near: close to; several: multiple, many;
    multiple: several; many: numerous; a couple of: two; a pair of: two; a group of: a bunch of; a bunch of: a group
    of; lots of: plenty of; a lot of: plenty of; colorful: multicolored; beautiful: lovely; delicious: tasty; shiny:
    gleaming; crowded: packed; busy: bustling; modern: contemporary; snowy: snow-covered; various: assorted;
    assorted: various; gray: grey; grey: gray; looking at: gazing at; watching: observing; walking: strolling;
    jumping: leaping; in the middle of: in the center of; in the background: in the distance; inside: within; laying
    on: lying on; topped with: covered with; covered in: covered with; holding: gripping; flying: soaring; very:
    really; young: youthful; wearing: dressed in; as well as: along with; decorated with: adorned with; surrounded
    by: encircled by; different: various; outside of: outside; on a sunny day: on a bright day
    """
)
_NOUNS = table(
    """
    airplane: plane; plane: airplane; bicycle: bike; bike: bicycle; motorcycle: motorbike; couch: sofa; sofa: couch;
    television: tv; tv: television; refrigerator: fridge; road: street; street: road; cat: kitty; dog: puppy; donut:
    doughnut; car: automobile; horse: pony; cup: mug; train: locomotive; turtle: tortoise; house: home; phone:
    telephone; rock: stone; stone: rock; luggage: baggage; racket: racquet; racquet: racket; ocean: sea; sea: ocean;
    shop: store; store: shop; man: guy; guy: man; woman: lady; lady: woman; child: kid; kid: child; toddler: young
    child; sidewalk: pavement; bathroom: restroom; restroom: bathroom; people: individuals; person: individual;
    baby: infant; hill: hillside; mountain: mountainside
    """
)
_OTHERS = {said: tuple(others.split(", ")) for said, others in _PHRASES.items()}
_FINDER = re.compile(r"\b(?:" + "|".join(sorted(map(re.escape, _OTHERS), key=len, reverse=True)) + r")\b", re.I)


def reworded(reading: CaptionReading, wordnet: WordNet | None = None) -> list[str]:
    """The caption with one word or phrase said otherwise, each way there is; by WordNet too where it is asked."""
    text = reading.text
    ways = [
        _put(text, match.start(), match.end(), other)
        for match in _FINDER.finditer(text)
        for other in _OTHERS[match[0].lower()]
    ]
    for mention in reading.mentions:
        # Only a noun that stands alone: a train car is no train automobile.
        said = text[mention.start : mention.end].lower()
        for one, other in (*_NOUNS.items(), *((mention.name, word) for word in _of_wordnet(mention.name, wordnet))):
            if said == one or (said == plural(one) and one != "people"):
                ways.append(_put(text, mention.start, mention.end, other if said == one else plural(other)))
    return list(dict.fromkeys(ways))


def _of_wordnet(noun: str, wordnet: WordNet | None) -> tuple[str, ...]:
    return wordnet.synonyms(noun) if wordnet is not None else ()


def _put(text: str, start: int, end: int, said: str) -> str:
    """The text with other words at a place, and the article before them that fits."""
    before = text[:start]
    if match := re.search(r"\b(an?)\s+$", before, re.I):
        fitting = article(said)
        before = before[: match.start()] + (fitting.capitalize() if match[1][0].isupper() else fitting) + " "
    is_first = not before.strip()
    return before + (said[:1].upper() + said[1:] if is_first and text[start].isupper() else said) + text[end:]
