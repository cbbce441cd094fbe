"""Other words for the same: what the synonym baseline exchanges.

Groups of words that fit in each other's places in a caption. Whether the classes really stay is checked by reading
the changed caption, never assumed.
"""

from __future__ import annotations

import re

_GROUPS = (
    "small little tiny",
    "big large huge",
    "picture photo image",
    "next to|beside",
    "under|underneath|beneath",
    "on top of|atop",
    "close to|near",
    "near|close to",
    "in front of|before",
    "several|multiple|many",
    "couple of|pair of",
    "group of|bunch of",
    "lots of|plenty of",
    "a lot of|many",
    "colorful|multicolored",
    "beautiful|lovely",
    "pretty|lovely",
    "old|aged",
    "young|youthful",
    "empty|vacant",
    "delicious|tasty",
    "tall|high",
    "wooden|timber",
    "shiny|gleaming",
    "bright|brilliant",
    "dirty|filthy",
    "crowded|packed",
    "busy|bustling",
    "modern|contemporary",
    "grassy|grass-covered",
    "snowy|snow-covered",
    "various|assorted",
    "different|various",
    "gray|grey",
    "grey|gray",
    "airplane plane",
    "bicycle bike",
    "motorcycle motorbike",
    "couch sofa",
    "television tv",
    "tv television",
    "refrigerator fridge",
    "road street",
    "street road",
    "cat kitty",
    "dog puppy",
    "donut doughnut",
    "car automobile",
    "boat sailboat",
    "horse pony",
    "house home",
    "cup mug",
    "train locomotive",
    "turtle tortoise",
    "flower tulip",
    "ball football",
    "phone telephone",
    "stone rock",
    "rock stone",
    "luggage baggage",
    "racket racquet",
    "ocean sea",
    "sea ocean",
    "shop store",
    "man guy",
    "men guys",
    "woman lady",
    "women ladies",
    "people persons",
    "child kid",
    "children kids",
    "boy lad",
    "girl lass",
    "baby infant",
    "sitting seated",
    "holding grasping",
    "looking gazing",
    "walking strolling",
    "jumping leaping",
    "sleeping dozing",
    "eating munching",
    "watching observing",
    "riding driving",
    "displayed shown",
    "covered blanketed",
    "filled packed",
    "surrounded encircled",
    "stands is standing",
    "sits is sitting",
    "over above",
    "through across",
    "across through",
)
_OTHERS: dict[str, tuple[str, ...]] = {}
for _group in _GROUPS:
    _first, *_rest = _group.split("|") if "|" in _group else _group.split()
    _OTHERS[_first] = (*_OTHERS.get(_first, ()), *_rest)
_FINDER = re.compile(r"\b(" + "|".join(sorted(map(re.escape, _OTHERS), key=len, reverse=True)) + r")(s?)\b", re.I)


def reworded(text: str) -> list[str]:
    """The caption with one word or phrase said otherwise, each way there is."""
    ways = []
    for match in _FINDER.finditer(text):
        for other in _OTHERS[match[1].lower()]:
            said = other + match[2] if match[2] and " " not in other else other
            if match[2] and (" " in other or not match[1].isalpha()):
                continue
            said = said[:1].upper() + said[1:] if match[0][0].isupper() else said
            ways.append(_article(text[: match.start()], said) + said + text[match.end() :])
    return ways


def _article(before: str, said: str) -> str:
    """The text before a word with the article that fits it."""
    match = re.search(r"\b(an?)\s+$", before, re.I)
    if match is None:
        return before
    article = "an" if said[:1].lower() in "aeiou" else "a"
    article = article.capitalize() if match[1][0].isupper() else article
    return f"{before[: match.start()]}{article} "
