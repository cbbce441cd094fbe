"""Words to classes: which names and predicates of captions count as the same.

`vg` keeps the 150 entities and 50 predicates of Visual Genome apart that scene-graph models know; `paper` merges as
ACTesting does: man to person, and to with, sleep on to on. What is in neither keeps its own name.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from salva.english.captions.wordnet import WordNet
from salva.english.wordlists import lists, table, words

KINDS = ("paper", "vg")

VG_THINGS = words("captions", "vg_things")
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
_SAME_THINGS = lists("captions", "same_things")
_ENTITY = {word: name for name, words in _SAME_THINGS.items() for word in words}
_IS_A = lists("is_a", "is_a")
_PERSONS = words("captions", "persons")
_PREDICATE = table("captions", "predicate")
_FOR_PAPER = table("captions", "for_paper")
LAST_WORDS = words("captions", "last_words")
"""Prepositions: the last of a predicate says how two entities stand, the verb before it what the first one does."""
_WHOLE = (
    "outside of",
    "next to",
    "in front of",
    "left of",
    "right of",
    "on back of",
    "on top of",
    "close to",
    "out of",
    "inside of",
)


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

    def is_a(self, one: str, other: str) -> bool:
        """Whether one class is a kind of the other, by the table and by WordNet where it is asked."""
        return is_a(one, other) or (self.hypernyms is not None and self.hypernyms.is_a(one, other))

    def is_listed(self, name: str) -> bool:
        """Whether a class is one of the 150, and not a name of its own."""
        return name in VG_THINGS


def is_a(one: str, other: str) -> bool:
    """Whether one class is a kind of the other, or they are one, so that an image of either may show both."""
    return one == other or other in _IS_A.get(one, ()) or one in _IS_A.get(other, ())


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
