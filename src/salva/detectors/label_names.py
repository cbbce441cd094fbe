"""A detector's labels to everyday names: kitten to cat, "a brown dog" to dog.

A name changes only by the table, or by dropping a plural or one of the table's adjectives; similarity plays no part.
The table is a text file that can be corrected: assets/labels/everyday.txt. docs/explanation/label-names.md says why
this exists and how to use your own table.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from salva.assets.files import read_asset
from salva.english.nouns import singular
from salva.errors import UsageError
from salva.files.infiles import file_bytes, file_text
from salva.messages import message

EVERYDAY = "labels/everyday.txt"
KEYWORDS = ("table", "none")
"""Sources of names besides files; table: the one that comes with salva, none: the detector's own names."""
_DROPPED = "words that do not change what a thing is"
_SINGULAR = "words that end in s and are no plural, or have no singular"


# Compared by identity, so that looked up names can be kept: a table is parsed once.
@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NameTable:
    """Everyday names, their other names, and the adjectives that are dropped."""

    names: Mapping[str, str]
    """Every known name to its everyday name; that one to itself."""
    dropped: frozenset[str]
    singular: frozenset[str]
    """Words that keep their s, such as cactus."""


class Names:
    """Labels to names by one source: a keyword, or a file."""

    def __init__(self, source: str = "table") -> None:
        self._table = None if source == "none" else read_table("" if source in KEYWORDS else source)

    def name(self, label: str) -> str:
        """The everyday name of a label; an unknown label is only normalised."""
        return label if self._table is None else look_up(label, self._table)


def names_pin(source: str) -> str:
    """Identifies the table, for the key of observations: a corrected table means new observations."""
    if source == "none":
        return ""
    content = read_asset(EVERYDAY) if source in KEYWORDS else file_bytes(Path(source))
    return f"names {hashlib.sha256(content).hexdigest()[:12]}"


def read_table(file: str = "") -> NameTable:
    """The table in a file, or the one that comes with salva."""
    text = file_text(Path(file)) if file else read_asset(EVERYDAY).decode()
    return parse_table(text, file or "the table of everyday names")


@cache
def parse_table(text: str, where: str) -> NameTable:
    """A table from its text; a name in two lines is an error."""
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
            words[section].update(_normalised(word) for word in line.split(",") if word.strip())
        else:
            name, colon, others = line.partition(":")
            if not colon:
                raise _invalid(where, number, f"it needs a name, a colon and other names, got {line!r}")
            main = _normalised(name)
            for other in (main, *(_normalised(part) for part in others.split(",") if part.strip())):
                if names.setdefault(other, main) != main:
                    raise _invalid(where, number, f"{other!r} is both {names[other]!r} and {main!r}")
    return NameTable(names=names, dropped=frozenset(words[_DROPPED]), singular=frozenset(words[_SINGULAR]))


def _invalid(path: str, line: int, why: str) -> UsageError:
    return UsageError(message("file-invalid", path=path, where=f"line {line}", why=why))


@cache
def look_up(label: str, table: NameTable) -> str:
    """The name of a label.

    Tries the label and its singular, then drops the first word as long as the table allows that. The last word
    always stays: an orange is an entity, although orange is a colour.
    """
    words = _normalised(label).split()
    while words:
        phrase = " ".join(words)
        for form in (phrase, singular(phrase)):
            if form in table.names:
                return table.names[form]
        if len(words) == 1 or words[0] not in table.dropped:
            return phrase if words[-1] in table.singular else singular(phrase)
        words = words[1:]
    return label


def _normalised(text: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"[^\w\s'-]", " ", text.casefold())).strip(" '-")
