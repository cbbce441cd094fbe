"""Entries that a suite's author writes. Knows no suite."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from salva.core.fingerprint import Json

Row = Mapping[str, Json]


class JsonWriter(Protocol):
    """A text model that is asked for JSON."""

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

    def write(self, row: Row, writer: JsonWriter | None) -> Authored:
        """The entry about one row; without a writer only what templates can add to it."""
