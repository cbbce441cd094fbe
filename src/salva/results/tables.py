"""The table builder: groups come in, and a row for each goes out, its keys first.

A suite says as data how its results are grouped and which columns a group gives; this module knows no suite.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Generic, NamedTuple, TypeVar

from salva.core.result import Result
from salva.core.table import Cell, Table
from salva.results.tally import RATE_COLUMNS, rate_cells
from salva.stats.intervals import Interval

Key = TypeVar("Key", bound=Hashable)
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


def group_by(items: Iterable[Item], key: Callable[[Item], Key | None]) -> dict[Key, list[Item]]:
    """Items by their key, in order of first appearance; those without a key are skipped."""
    return group_by_each(items, lambda item: () if (found := key(item)) is None else (found,))


def group_by_each(items: Iterable[Item], keys: Callable[[Item], Iterable[Key]]) -> dict[Key, list[Item]]:
    """Items by each of their keys; one with several is in several groups."""
    groups: dict[Key, list[Item]] = {}
    for item in items:
        for key in keys(item):
            groups.setdefault(key, []).append(item)
    return groups


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
