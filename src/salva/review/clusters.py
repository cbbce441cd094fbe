"""Clusters of rated items that share a prompt, drawn anew together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from salva.core.quantity import quantity
from salva.errors import UsageError
from salva.messages import message
from salva.review.rating_table import RatingTable


@dataclass(frozen=True, slots=True, kw_only=True)
class Clusters:
    """Items by the value of a column."""

    column: str
    """Empty where every item stands for itself."""
    names: tuple[str, ...]
    """The cluster of each item."""

    @property
    def text(self) -> str:
        """Which column, and how many."""
        n = len(set(self.names))
        return f"{self.column}, {n} of {quantity(len(self.names), 'items')}" if self.column else "none"


def clusters_of(table: RatingTable, wanted: str = "") -> Clusters:
    """By the column asked for; otherwise by `prompt`, or by the first item column where its values repeat."""
    rows = [line.cells for line in table.items.values()]
    columns = list(dict.fromkeys(name for row in rows for name in row))
    if wanted:
        found = _by(rows, wanted)
        if wanted not in columns or len(set(found.names)) < 2:
            raise UsageError(message("cluster-unusable", column=wanted, header=", ".join(columns)))
        return found
    for column in ("prompt", *table.item_columns[:1]):
        found = _by(rows, column)
        if column in columns and 1 < len(set(found.names)) < len(found.names):
            return found
    return Clusters(column="", names=tuple(map(str, range(len(rows)))))


def _by(rows: Sequence[Mapping[str, str]], column: str) -> Clusters:
    """An item without a value there stands for itself."""
    values = [row.get(column, "").strip() for row in rows]
    return Clusters(column=column, names=tuple(value or f"row {index}" for index, value in enumerate(values)))
