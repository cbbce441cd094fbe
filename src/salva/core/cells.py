"""Cells of a spreadsheet, made safe."""

from __future__ import annotations

from salva.core.printable import printable
from salva.core.table import Cell

_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def safe_cell(value: Cell) -> Cell:
    """A cell that no spreadsheet runs and that hides nothing: text that looks like a formula gets an apostrophe."""
    if not isinstance(value, str):
        return value
    return printable(f"'{value}" if value.startswith(_FORMULA_STARTS) else value)


def plain_cell(text: str) -> str:
    """What a cell said before it was made safe."""
    return text[1:] if text.startswith("'") and text[1:].startswith(_FORMULA_STARTS) else text
