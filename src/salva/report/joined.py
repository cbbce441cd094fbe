"""Tables of several models put together: rows one below the other, means over groups, and what two models fail."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from salva.core.result import Result
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


def failed_together(results: Mapping[str, Sequence[Result]]) -> Table | None:
    """How many cases both of two models fail, one of them or neither; None for any other number of models."""
    if len(results) != 2:
        return None
    fails = [{(one.case.case_id, one.repeat): one.is_fail for one in own if one.is_decided} for own in results.values()]
    counts = Counter((fails[0][unit], fails[1][unit]) for unit in fails[0].keys() & fails[1].keys())
    one, other = results
    kinds = {"both": (True, True), f"only {one}": (True, False), f"only {other}": (False, True), "none": (False, False)}
    n = sum(counts.values())
    return Table(
        name="failed by both models",
        columns=("failed_by", "n", "rate"),
        rows=tuple((name, counts[kind], counts[kind] / n if n else None) for name, kind in kinds.items()),
        note="Of the results that are decided for both.",
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
