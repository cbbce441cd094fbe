"""Captions in pocket's world: entities it can draw, in relations that boxes can decide.

A number comes in, as many captions go out, always the same ones first: one to three relations each, told of one
entity ("above a dog and next to a ball") or nested ("a dog that is next to a ball").
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from salva.assets.pocket_priors import ENTITIES
from salva.english.words import RELATION_WORDS, with_article

N_CAPTIONS = 600
_RELATIONS = ("left_of", "right_of", "above", "below", "next_to")
_FORMS = ("one", "two", "nested", "one", "two", "three", "nested")
_OPENINGS = ("{}", "{}", "There is {}", "A picture of {}")


def embedded_captions() -> Iterator[tuple[str, str]]:
    """Image id and caption, one of each."""
    rng = random.Random("captions of pocket's world")
    seen: set[str] = set()
    while len(seen) < N_CAPTIONS:
        n = len(seen)
        caption = _caption(_FORMS[n % len(_FORMS)], rng)
        caption = _OPENINGS[n % len(_OPENINGS)].format(caption)
        caption = caption[:1].upper() + caption[1:]
        if caption not in seen:
            seen.add(caption)
            yield f"e{n + 1:03d}", caption


def _caption(form: str, rng: random.Random) -> str:
    things = [with_article(thing) for thing in rng.sample(ENTITIES, 4)]
    # Two relations on one axis could ask for a row too long for an image; on two they never crowd.
    across, along = rng.choice(("left_of", "right_of")), rng.choice(("above", "below"))
    first, second = rng.sample((across, along), 2)
    a, b, c, _ = things
    said = {name: RELATION_WORDS[name] for name in _RELATIONS}
    if form == "one":
        return f"{a} {said[rng.choice(_RELATIONS)]} {b}"
    if form == "two":
        return f"{a} {said[first]} {b} and {said[second]} {c}"
    if form == "nested":
        return f"{a} {said[first]} {b} that is {said[second]} {c}"
    return f"{a} {said[first]} {b} and {said[second]} {c} that is {said['next_to']} {things[3]}"
