"""Whether a triple is plausible: how often captions say its predicate of such a subject and object, as counts.

The counts are of kinds (alive, place, thing), from captions that no figure is counted on (bench/captions.py --kinds).
A parser that takes "a man on a court holding a racket" apart wrongly lets the court hold it.
"""

from __future__ import annotations

from salva.core.mutation import Triple
from salva.english.captions.classes import LAST_WORDS
from salva.english.captions.kinds import ALIVE, PLACE, kind_of
from salva.english.predicates import is_geometric
from salva.english.wordlists import tables

KINDS = ("aa", "ap", "at", "pa", "pp", "pt", "ta", "tp", "tt")
"""Subject and object, each alive, a place or a thing, in the order of the counts."""
_COUNTS: dict[str, list[int]] = tables("predicate_kinds")["predicates"]
_LEAST = 2
_SHARE = {PLACE: 0.025}
"""Places are seldom said to be doing or to be anywhere, so a few wrong readings weigh more."""
_ANY_SHARE = 0.01


def kinds_of(triple: Triple) -> str:
    """The kinds of subject and object: "at" for alive and thing."""
    return kind_of(triple.subject)[0] + kind_of(triple.object)[0]


def is_plausible(triple: Triple) -> bool:
    """Whether captions say such a thing; boxes decide where anything may stand, so that is left to them."""
    subject = kind_of(triple.subject)
    if triple.predicate == "of" and subject == ALIVE:
        return False
    if is_geometric(triple.predicate) and not (triple.predicate == "in" and subject == PLACE):
        return True
    words = triple.predicate.split()
    is_doing = words[0].endswith("ing") and not (len(words) > 1 and words[-1] in LAST_WORDS)
    counts = _COUNTS.get(triple.predicate)
    if counts is None:
        return not is_doing or subject == ALIVE
    n = counts[KINDS.index(kinds_of(triple))]
    if subject == ALIVE:
        return is_doing or n > 0
    return n >= _LEAST and n >= _SHARE.get(subject, _ANY_SHARE) * sum(counts)
