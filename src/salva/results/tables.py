"""The table builder: groups come in, and a row for each goes out, its keys first.

A suite says as data how its results are grouped and which columns a group gives; this module knows no suite.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Generic, NamedTuple, TypeVar

from salva.core.grouping import group_by as group_by
from salva.core.grouping import group_by_each as group_by_each
from salva.core.result import Result
from salva.core.table import Cell, Table
from salva.results.tally import RATE_COLUMNS, rate_cells
from salva.stats.intervals import Interval

Item = TypeVar("Item")
Group = TypeVar("Group")
AnyGroup = TypeVar("AnyGroup", contravariant=True)

Keys = tuple[Cell, ...]
"""What stands before a group's numbers in its row."""


class TableColumns(NamedTuple, Generic[AnyGroup]):
    """Columns that are computed together from one group."""

    names: tuple[str, ...]
    cells: Callable[[AnyGroup], Iterable[Cell]]


RATES: TableColumns[Sequence[Result]] = TableColumns(RATE_COLUMNS, rate_cells)
"""n, failed, rate, its interval, undecided."""


def build_table(
    name: str,
    keys: Sequence[str],
    groups: Iterable[tuple[Keys, Group]],
    *columns: TableColumns[Group],
    note: str = "",
    title: str = "",
    is_joined: bool = False,
    averaged_by: str = "",
) -> Table | None:
    """A row for every group; None without a group."""
    rows = [(*values, *(cell for part in columns for cell in part.cells(group))) for values, group in groups]
    names = (*keys, *(column for part in columns for column in part.names))
    return rows_table(name, names, rows, note=note, title=title, is_joined=is_joined, averaged_by=averaged_by)


def rows_table(
    name: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[Cell]],
    *,
    note: str = "",
    title: str = "",
    is_joined: bool = False,
    averaged_by: str = "",
) -> Table | None:
    """A table of finished rows; None without a row."""
    made = tuple(map(tuple, rows))
    if not made:
        return None
    return Table(
        name=name,
        columns=tuple(columns),
        rows=made,
        note=note,
        title=title,
        is_joined=is_joined,
        averaged_by=averaged_by,
    )


def subgroups(groups: Mapping[str, Group], split: Callable[[Group], Mapping[str, Item]]) -> list[tuple[Keys, Item]]:
    """Each group's parts, under its name and theirs."""
    return [((name, key), part) for name, group in groups.items() for key, part in split(group).items()]


def named(groups: Mapping[str, Group]) -> list[tuple[Keys, Group]]:
    """Groups under their names."""
    return [((name,), group) for name, group in groups.items()]


def present(*tables: Table | None) -> tuple[Table, ...]:
    """The tables that there is something for."""
    return tuple(table for table in tables if table is not None)


def ends(interval: Interval | None) -> tuple[float | None, float | None]:
    """Both ends of an interval, as cells."""
    return (interval.low, interval.high) if interval else (None, None)
