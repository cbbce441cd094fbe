"""Cells of a rating file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from salva.core.exchange import Flaw

_SILENT = ("", "na", "n/a", "nan", "null", "none", "-", "–", "—", ".", "?", "#n/a")
_WORDS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}


class FileRow(NamedTuple):
    """One row of a file."""

    file: str
    where: str
    cells: Mapping[str, str]

    def cell(self, name: str) -> str:
        """A cell without spaces around it; empty where the row has none."""
        return self.cells.get(name, "").strip()

    def flaw(self, what: str) -> Flaw:
        """A problem of this row."""
        return Flaw(file=self.file, where=self.where, what=what)


def as_number(cell: str, words: Mapping[str, float] = _WORDS) -> float | None:
    """A cell as a finite number; yes and no are 1 and 0."""
    text = cell.strip().lower()
    try:
        value = float(text)
    except ValueError:
        return words.get(text)
    return value if value == value and abs(value) != float("inf") else None


def is_silent(cell: str) -> bool:
    """Whether a cell says that nobody rated."""
    return cell.strip().lower() in _SILENT
