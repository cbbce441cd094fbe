"""Frequencies in a corpus of captions: which classes stand where, and which of them stand together.

Pools and readings come in one by one, counts stay; operators draw from these.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from salva.core.mutation import Pool
from salva.english.captions.classes import Classes
from salva.english.captions.kinds import can_be_asked_for, kind_of
from salva.english.captions.reading import AND, CaptionReading
from salva.english.nouns import counts_in_pairs
from salva.english.wordlists import words

_UNCOUNTED = words("mutation", "uncounted")
_PARTS = words("mutation", "parts")


@dataclass(slots=True)
class Corpus:
    """Counts over captions."""

    standing: dict[str, Counter[str]] = field(default_factory=lambda: {"subject": Counter(), "object": Counter()})
    """Role to the classes that stand in it."""
    together: Counter[tuple[str, str]] = field(default_factory=Counter)
    """A class and a predicate it stands with, at either end."""
    seen: dict[tuple[str, str], Counter[str]] = field(default_factory=dict)
    """Kind of subject and predicate to the objects they are said with."""
    n_captions: int = 0

    def add(self, reading: CaptionReading, pool: Pool, classes: Classes) -> None:
        """Count a caption."""
        self.n_captions += 1
        for mention in reading.mentions:
            self.standing[mention.role][classes.entity(mention.name)] += 1
        for triple in pool.triples:
            self.together[triple.subject, triple.predicate] += 1
            self.together[triple.object, triple.predicate] += 1
            self.seen.setdefault((kind_of(triple.subject), triple.predicate), Counter())[triple.object] += 1


_VAGUE = words("mutation", "vague")


def is_sayable(name: str) -> bool:
    """Whether "a" and a class make English and name a whole entity: not a snow, a scissors or an ear."""
    return name not in _UNCOUNTED and name not in _PARTS and not counts_in_pairs(name)


def can_come_in(name: str) -> bool:
    """Whether an operator may put a class into a caption: it is sayable, and detectors know it by name."""
    return is_sayable(name) and can_be_asked_for(name) and name not in _VAGUE


def predicates_of(pool: Pool, name: str) -> tuple[str, ...]:
    """The predicates a class stands with in a pool, lists aside where there are others."""
    own = dict.fromkeys(t.predicate for t in pool.triples if name in (t.subject, t.object))
    return tuple(p for p in own if p != AND) or tuple(own)
