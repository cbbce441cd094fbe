"""A chart read row by row: which names, groups and numbers it has, and what each of its marks says.

Used by whatever shows a chart, as a drawing or as text, so that all of them say the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from salva.charts.formats import NOTHING, interval_text, percent
from salva.core.chart import Chart, ChartKind
from salva.core.table import Cell

Row = Mapping[str, Cell]
MAX_MARKS = 60
"""More bars, boxes or cells than this on one side are unreadable; the rest stays in the table."""
_MANY = 1000
"""From here on decimals say nothing."""


def names_of(chart: Chart, column: str) -> Sequence[str]:
    """The different texts of a column, in order of first appearance; not more than can be drawn."""
    return _all_names(chart, column)[:MAX_MARKS]


def n_left_out(chart: Chart) -> int:
    """How many names are not drawn."""
    columns = {ChartKind.BARS: (chart.x,), ChartKind.BOXES: (chart.x,), ChartKind.HEAT_MAP: (chart.x, chart.y)}
    return sum(max(0, len(_all_names(chart, column)) - MAX_MARKS) for column in columns.get(chart.kind, ()))


def _all_names(chart: Chart, column: str) -> Sequence[str]:
    index = chart.table.columns.index(column)
    return tuple(dict.fromkeys(str(row[index]) for row in chart.table.rows))


def groups_of(chart: Chart) -> Sequence[str]:
    """The series; one without a name where rows are not told apart."""
    return names_of(chart, chart.series) if chart.series else ("",)


def rows_of(chart: Chart, group: str = "") -> Iterator[Row]:
    """The rows of a series, or all."""
    for row in chart.table.rows:
        named = dict(zip(chart.table.columns, row, strict=True))
        if not chart.series or not group or str(named[chart.series]) == group:
            yield named


def cells_of(chart: Chart) -> dict[tuple[str, str], Row]:
    """The rows of a heat map by line and column."""
    return {(str(row[chart.y]), str(row[chart.x])): row for row in rows_of(chart)}


def number(cell: Cell) -> float | None:
    """A cell as a number, if it is one."""
    return float(cell) if isinstance(cell, int | float) and cell == cell else None


def numbers_of(chart: Chart, group: str, *columns: str) -> list[tuple[float, ...]]:
    """These columns of the group's rows, sorted by the first; rows with a gap are left out."""
    rows = [tuple(number(row[column]) for column in columns) for row in rows_of(chart, group)]
    return sorted(tuple(value for value in row if value is not None) for row in rows if None not in row)


def word(chart: Chart, name: str) -> str:
    """How a name is written, on one line."""
    return " ".join(chart.words.get(name, name).split())


def value_text(chart: Chart, value: float | None, digits: int = 1) -> str:
    """A value as it stands on the chart."""
    if value is None:
        return NOTHING
    if chart.is_share:
        return percent(value, digits)
    return f"{value:,.0f}" if abs(value) >= _MANY or _counts(chart) else f"{value:.2f}"


def _counts(chart: Chart) -> bool:
    """Whether what is drawn are whole numbers throughout."""
    column = chart.table.columns.index(chart.value or chart.y)
    return all(isinstance(row[column], int) for row in chart.table.rows)


def n_text(chart: Chart, row: Row) -> str:
    """Over how many; empty where the chart does not say."""
    n = row[chart.n] if chart.n else None
    return "" if n is None else n if isinstance(n, str) else f"n {n:,}"


def small_print(chart: Chart, row: Row) -> str:
    """Over how many, and the interval."""
    low, high = (number(row[column]) if column else None for column in (chart.low, chart.high))
    ends = (
        ""
        if low is None or high is None
        else interval_text(low, high)
        if chart.is_share
        else f"{low:.3g} to {high:.3g}"
    )
    return ", ".join(part for part in (n_text(chart, row), ends) if part)


def mark_title(chart: Chart, row: Row) -> str:
    """All that a mark says, for a pointer that rests on it and for readers that read aloud."""
    columns = dict.fromkeys(column for column in (chart.y if chart.value else "", chart.x, chart.series) if column)
    subject = ", ".join(word(chart, str(row[column])) for column in columns)
    value, more = value_text(chart, number(row[chart.value or chart.y])), small_print(chart, row)
    return f"{subject}: {value}" + (f" ({more})" if more else "")


def choices(chart: Chart, row: Row) -> tuple[tuple[str, str], ...]:
    """Which counterexamples a mark stands for: filter and value; a sum over all names chooses nothing on its side."""
    chosen = ((name, str(row[column])) for column, name in chart.filters.items())
    return tuple((name, value) for name, value in chosen if value and value != chart.edge)
