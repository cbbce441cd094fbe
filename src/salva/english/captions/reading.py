"""A caption as it was read: the entities it names, where, and what it says of two of them.

Readers (spacy_reader.py, grammar.py) make readings; operators change captions by them. Places are characters of the
text, so that a caption can be changed where the change is and nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from salva.core.grouping import grouped
from salva.core.mutation import Pool, Triple
from salva.english.captions.classes import Classes

AND = "and"
"""The predicate of two entities that stand in one list."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """An entity where the caption names it."""

    name: str
    """Its noun in the singular, in small letters."""
    phrase: int
    """Where its noun phrase begins: "the" of "the two old tennis rackets"."""
    start: int
    """Where its name begins, with the nouns before it that belong to it: "tennis"."""
    end: int
    is_plural: bool = False
    role: str = "object"
    """subject: something is said of it; object: it is said of something else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """How one mention stands to another."""

    subject: int
    """Which of the mentions."""
    predicate: str
    """In the caption's own words, verbs as participles: sitting on."""
    object: int
    cut: tuple[int, int] | None = None
    """The part of the caption that says this and nothing else; None where there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptionReading:
    """All that was read in a caption."""

    text: str
    mentions: tuple[Mention, ...]
    links: tuple[Link, ...]


class CaptionReader(Protocol):
    """Captions to readings."""

    def read(self, texts: Iterable[str]) -> Iterator[CaptionReading]:
        """One reading a text, in their order."""


def pool_of(reading: CaptionReading, classes: Classes) -> Pool:
    """The classes a reading names and the triples over them; what relates a class to itself is left out."""
    names = [classes.entity(mention.name) for mention in reading.mentions]
    triples = [
        Triple(subject=names[link.subject], predicate=classes.predicate(link.predicate), object=names[link.object])
        for link in reading.links
    ]
    apart = [triple for triple in triples if triple.subject != triple.object]
    return Pool(entities=tuple(dict.fromkeys(names)), triples=tuple(dict.fromkeys(apart)))


def nesting(pool: Pool) -> int:
    """The longest chain of triples in which each begins where the one before ended: 2 for a cat on a bed in a room."""
    below = grouped((triple.subject, triple.object) for triple in pool.triples)

    def depth(name: str, above: frozenset[str]) -> int:
        return max((1 + depth(lower, above | {name}) for lower in below.get(name, ()) if lower not in above), default=0)

    return max((depth(name, frozenset({name})) for name in below), default=0)
