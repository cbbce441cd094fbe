"""Tables of several models put together: their rows one below the other, and means over groups of models."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

from salva.core.table import Cell, Table


def without_empty_groups(table: Table) -> Table:
    """The same without the column of groups, where nobody put a model into one."""
    if not table.averaged_by:
        return table
    index = table.columns.index(table.averaged_by)
    if any(row[index] for row in table.rows):
        return table
    return dataclasses.replace(
        table,
        columns=table.columns[:index] + table.columns[index + 1 :],
        rows=tuple(row[:index] + row[index + 1 :] for row in table.rows),
        averaged_by="",
    )


def joined(tables: Sequence[Table]) -> Table:
    """One table of all their rows; a column that some lack is empty there."""
    fullest = max(tables, key=lambda table: len(table.columns))
    columns = tuple(dict.fromkeys(column for table in (fullest, *tables) for column in table.columns))
    named = [dict(zip(table.columns, row, strict=True)) for table in tables for row in table.rows]
    rows = tuple(tuple(row.get(column) for column in columns) for row in named)
    by = next((table.averaged_by for table in tables if table.averaged_by), "")
    return dataclasses.replace(tables[0], columns=columns, rows=(*rows, *_averages(by, columns, rows)), averaged_by=by)


def _averages(by: str, columns: Sequence[str], rows: Sequence[tuple[Cell, ...]]) -> Iterator[tuple[Cell, ...]]:
    """A row for every group of models that has several."""
    if not by:
        return
    alike: dict[tuple[Cell, ...], list[tuple[Cell, ...]]] = {}
    for row in rows:
        named = zip(columns, row, strict=True)
        texts = tuple(cell if isinstance(cell, str) and name != "model" else "" for name, cell in named)
        if row[columns.index(by)]:
            alike.setdefault(texts, []).append(row)
    for shared, group in alike.items():
        if len(group) > 1:
            means = [_mean_cell(cells) for cells in zip(*group, strict=True)]
            cells = {name: text or number for name, text, number in zip(columns, shared, means, strict=True)}
            cells["model"] = f"mean of {len(group)} {cells[by]}"
            yield tuple(cells[name] for name in columns)


def _mean_cell(cells: Sequence[Cell]) -> Cell:
    numbers = [cell for cell in cells if isinstance(cell, int | float)]
    return sum(numbers) / len(numbers) if numbers else None
