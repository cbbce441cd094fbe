"""What a suite's own author writes from principles: rows in, entries out, and what people say of them.

A suite that has an author is handed one row of a file after the other, and a text model or none. It gives back lines
for a file that the suite reads, each with why it must not stay. Knows no suite.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from salva.core.fingerprint import Json
from salva.errors import UsageError
from salva.files.tables import csv_text
from salva.writing.samples import VALID, verdict_of

Row = Mapping[str, Json]
_TO_FILL = ("reviewer", "valid", "note")


class Writer(Protocol):
    """A text model, as an author asks it."""

    name: str

    def ask(self, instruction: str, question: str) -> Json | None:
        """The JSON of a reply; None where none can be read."""

    def keep(self, instruction: str, question: str, reply: Json) -> None:
        """Keep a reply that is of use, so that it is not paid for again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Authored:
    """One entry that was written."""

    entry_id: str
    line: Row
    """What stands in the file."""
    shown: Mapping[str, str]
    """What a reviewer is shown, by column."""
    why: str = ""
    """Why it must not stay; empty where nothing was found wrong."""
    is_unread: bool = False
    """Whether a writer was asked and nothing could be made of its reply."""
    needs_writer: bool = False
    """Whether no template can make it, and no writer was named."""


class Author(Protocol):
    """Principles to entries of one suite."""

    def rows(self, path: Path) -> list[Row]:
        """What a file asks for: principles, or entries that lack something. A line that is neither is named."""

    def name_of(self, row: Row) -> str:
        """What tells one principle from another; the entry written about it has the same."""

    def write(self, row: Row, writer: Writer | None) -> Authored:
        """The entry about one row; without a writer only what templates can add to it."""


def lines_of_entries(entries: Iterable[Authored], *, with_reasons: bool = False) -> str:
    """The entries as JSON lines; with reasons, each says why it must not stay."""
    said = ({**entry.line, "why": entry.why} if with_reasons else entry.line for entry in entries)
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in said)


def review_sheet_of(entries: Sequence[Authored]) -> str:
    """A CSV that each reviewer fills in a copy of: reviewer, valid (yes or no) and a note."""
    columns = list(dict.fromkeys(name for entry in entries for name in entry.shown))
    rows = [[entry.entry_id, *(entry.shown.get(name, "") for name in columns), "", "", ""] for entry in entries]
    return csv_text([["id", *columns, *_TO_FILL], *rows])


def with_reviews(entries: Sequence[Authored], reviews: Mapping[str, Mapping[str, bool]]) -> list[Authored]:
    """The entries with the label review: two who agree decide, a third where they differ."""
    unknown = sorted(set(reviews) - {entry.entry_id for entry in entries})
    if unknown:
        raise UsageError(f"reviews of {len(unknown)} entries that are not in the file, such as {unknown[0]!r}")
    return [_labelled(entry, verdict_of(list(reviews.get(entry.entry_id, {}).values()))) for entry in entries]


def review_of(entry: Authored) -> str:
    """What people made of it; empty where nobody was asked."""
    labels = entry.line.get("labels")
    return str(labels.get("review", "")) if isinstance(labels, Mapping) else ""


def is_valid(entry: Authored) -> bool:
    """Whether two people call it valid."""
    return review_of(entry) == VALID


def _labelled(entry: Authored, review: str) -> Authored:
    labels = entry.line.get("labels")
    return replace(
        entry, line={**entry.line, "labels": {**(labels if isinstance(labels, Mapping) else {}), "review": review}}
    )
