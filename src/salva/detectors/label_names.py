"""What detectors call entities, turned into the names people use: kitten to cat, "a brown dog" to dog.

A name changes only where the reviewed table says so, where a plural or an adjective of the table is taken
off, or, when asked, where WordNet leaves no doubt; never by likeness. The table is a text file made to be
read and corrected: assets/labels/everyday.txt. Why, and how to bring your own: docs/explanation/label-names.md.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Protocol

from salva.assets.files import read_asset
from salva.english.nouns import singular
from salva.errors import UsageError
from salva.messages import message

EVERYDAY = "labels/everyday.txt"
WAYS = ("table", "wordnet", "none")
"""table: the reviewed table. wordnet: the table, then WordNet's hypernyms. none: the detector's own names."""
_DROPPED = "words that do not change what a thing is"
_SINGULAR = "words that end in s and are no plural, or have no singular"


@dataclass(frozen=True, slots=True, kw_only=True)
class NameTable:
    """Names, what else they are called, and the adjectives that may be taken off."""

    names: Mapping[str, str]
    """Any known name to the one it is counted under; that one to itself."""
    dropped: frozenset[str]
    singular: frozenset[str] = frozenset()
    """Words that keep their s: a cactus is not a plural of cactu."""

    def everyday(self) -> tuple[str, ...]:
        """The names entities are counted under."""
        return tuple(sorted(set(self.names.values())))


class Names:
    """Labels to names, the way a detector's options ask for it."""

    def __init__(self, way: str = "table") -> None:
        self._way = way
        file = "" if way in WAYS else way
        self._table = read_table(file) if way != "none" else NameTable(names={}, dropped=frozenset())
        self._wordnet: Synsets | None = None
        if way == "wordnet":
            from salva.english.captions.wordnet import open_wordnet

            self._wordnet = open_wordnet()
        self._cache: dict[str, str] = {}

    def name(self, label: str) -> str:
        """The everyday name of what a detector calls `label`; a label nobody knows is only tidied."""
        if self._way == "none":
            return label
        if label not in self._cache:
            self._cache[label] = self._name(label)
        return self._cache[label]

    def _name(self, label: str) -> str:
        tidy, is_known = look_up(label, self._table)
        if is_known or self._wordnet is None:
            return tidy
        return wider_name(tidy, self._table.everyday(), self._wordnet) or tidy


def names_pin(way: str) -> str:
    """What a stored look owes to the table, for its key: a corrected table means looking again."""
    if way == "none":
        return ""
    return f"names {hashlib.sha256(_content('' if way in WAYS else way)).hexdigest()[:12]}"


def read_table(file: str = "") -> NameTable:
    """The table in a file, or the one that comes with salva."""
    where = file or "the table of everyday names"
    try:
        text = _content(file).decode("utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(message("file-unreadable", path=where, why="it is not UTF-8 text")) from error
    return parse_table(text, where)


@cache
def parse_table(text: str, where: str) -> NameTable:
    """A table from its text; a name in two lines is an error, since one of them would win in silence."""
    names: dict[str, str] = {}
    words: dict[str, set[str]] = {_DROPPED: set(), _SINGULAR: set()}
    section = ""
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        if line.startswith("[") and line.endswith("]"):
            section = line[1:-1].strip()
        elif section in words:
            words[section].update(_tidy(word) for word in line.split(",") if word.strip())
        else:
            name, colon, others = line.partition(":")
            if not colon:
                raise _invalid(where, number, f"expected a name, a colon and other names, got {line!r}")
            main = _tidy(name)
            for other in (main, *(_tidy(part) for part in others.split(",") if part.strip())):
                if names.setdefault(other, main) != main:
                    raise _invalid(where, number, f"{other!r} is a name of both {names[other]!r} and {main!r}")
    return NameTable(names=names, dropped=frozenset(words[_DROPPED]), singular=frozenset(words[_SINGULAR]))


def _invalid(path: str, line: int, why: str) -> UsageError:
    return UsageError(message("file-invalid", path=path, where=f"line {line}", why=why))


def look_up(label: str, table: NameTable) -> tuple[str, bool]:
    """The name of a label, and whether the table knows it.

    As it stands, then its singular, then without its first word while that is one the table drops. The
    last word always stays: an orange is an entity, although orange is a colour.
    """
    words = _tidy(label).split()
    while words:
        phrase = " ".join(words)
        for form in (phrase, singular(phrase)):
            if form in table.names:
                return table.names[form], True
        if len(words) == 1 or words[0] not in table.dropped:
            return phrase if words[-1] in table.singular else singular(phrase), False
        words = words[1:]
    return label, False


class Synset(Protocol):
    """A sense of a word."""

    def name(self) -> str:
        """Such as cat.n.01."""

    def lemma_names(self) -> Sequence[str]:
        """The words for it, with underscores for spaces."""

    def hypernyms(self) -> Sequence[Synset]:
        """The next wider senses."""


class Synsets(Protocol):
    """As much of WordNet as is used."""

    def synsets(self, lemma: str, pos: str) -> Sequence[Synset]:
        """The senses of a word, the most frequent first."""


def wider_name(label: str, names: Iterable[str], wordnet: Synsets) -> str | None:
    """The one known name that every sense of the label is a kind of, or None.

    Every sense: a bat is an animal in one and a club in another, so WordNet alone decides nothing about it.
    A known name is met where its own sense is met on the way up, the nearest first. Its own sense is the first
    that is called so before anything else: the first sense of turtle is a pullover with a high collar.
    """
    wanted: dict[str, str] = {}
    for name in names:
        lemma = name.replace(" ", "_")
        own = [sense for sense in wordnet.synsets(lemma, pos="n") if sense.lemma_names()[0] == lemma]
        if own:
            wanted[own[0].name()] = name
    nearest = {_nearest(sense, wanted) for sense in wordnet.synsets(label.replace(" ", "_"), pos="n")}
    return nearest.pop() if len(nearest) == 1 else None


def _nearest(sense: Synset, wanted: Mapping[str, str]) -> str | None:
    level: list[Synset] = [sense]
    seen: set[str] = set()
    while level:
        met = {wanted[sense.name()] for sense in level if sense.name() in wanted}
        if met:
            return met.pop() if len(met) == 1 else None
        seen.update(sense.name() for sense in level)
        level = [wider for sense in level for wider in sense.hypernyms() if wider.name() not in seen]
    return None


def _content(file: str) -> bytes:
    if not file:
        return read_asset(EVERYDAY)
    try:
        return Path(file).read_bytes()
    except OSError as error:
        raise UsageError(message("file-unreadable", path=file, why=error.strerror)) from error


def _tidy(text: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"[^\w\s'-]", " ", text.casefold())).strip(" '-")
