"""A table of a report."""

from __future__ import annotations

from dataclasses import dataclass

Cell = str | int | float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Named columns and rows of equal length."""

    name: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    """One sentence on how to read it."""
    title: str = ""
    """What stands over it among the figures of a page; without one it is found among all tables only."""
    is_joined: bool = False
    """With several models: their rows are also shown together, one below the other. It then has a column `model`."""
    averaged_by: str = ""
    """A column whose values are groups of models: joined, the numbers of each group are also averaged, in the place of
    `model` what they are the mean of. Rows are averaged with those that are alike in all other texts."""

    def __post_init__(self) -> None:
        if self.is_joined and "model" not in self.columns:
            raise ValueError(f"table {self.name!r}: it is to be joined over models and has no column 'model'")
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"table {self.name!r}: a row of {len(row)} cells under {len(self.columns)} columns")
