"""The names, groups, numbers and titles of a chart's rows.

Used by every form of a chart, drawn or as text, so that all of them agree.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from salva.charts.formats import NOTHING, interval_text, percent
from salva.core.chart import Chart, ChartKind
from salva.core.table import Cell

Row = Mapping[str, Cell]
MAX_MARKS = 60
"""The most bars, boxes or cells on one side; the others are only in the table."""
FEW = 5
"""A share of fewer results is shown by its counts, not in percent."""
_MANY = 1000
"""From here on values have no decimals."""


def names_of(chart: Chart, column: str) -> Sequence[str]:
    """The distinct texts of a column in order, as far as they are drawn."""
    return _all_names(chart, column)[:MAX_MARKS]


def n_left_out(chart: Chart) -> int:
    """The number of names that are not drawn."""
    columns = {ChartKind.BARS: (chart.x,), ChartKind.BOXES: (chart.x,), ChartKind.HEAT_MAP: (chart.x, chart.y)}
    return sum(max(0, len(_all_names(chart, column)) - MAX_MARKS) for column in columns.get(chart.kind, ()))


def _all_names(chart: Chart, column: str) -> Sequence[str]:
    index = chart.table.columns.index(column)
    return tuple(dict.fromkeys(str(row[index]) for row in chart.table.rows))


def groups_of(chart: Chart) -> Sequence[str]:
    """The series; one without a name if the chart has none."""
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
    """These columns of the group's rows, sorted by the first; rows with gaps are skipped."""
    rows = [tuple(number(row[column]) for column in columns) for row in rows_of(chart, group)]
    return sorted(tuple(value for value in row if value is not None) for row in rows if None not in row)


def word(chart: Chart, name: str) -> str:
    """A name as it is shown, on one line."""
    return " ".join(chart.words.get(name, name).split())


def value_text(chart: Chart, value: float | None, digits: int = 1) -> str:
    """A value as it is shown."""
    if value is None:
        return NOTHING
    if chart.is_share:
        return percent(value, digits)
    return f"{value:,.0f}" if abs(value) >= _MANY or has_counts(chart) else f"{value:.2f}"


def has_counts(chart: Chart) -> bool:
    """Whether all values are whole numbers."""
    column = chart.table.columns.index(chart.value or chart.y)
    return all(isinstance(row[column], int) for row in chart.table.rows)


def counts_text(chart: Chart, row: Row) -> str:
    """How many failed of so few results that a percentage would say too much: 2 of 3; empty elsewhere."""
    n, failed = row[chart.n] if chart.n else None, row.get("failed")
    is_rate = chart.is_share and (chart.value or chart.y) == "rate"
    is_few = is_rate and isinstance(n, int) and isinstance(failed, int) and 0 < n < FEW
    return f"{failed} of {n}" if is_few else ""


def shown_value(chart: Chart, row: Row, digits: int = 1) -> str:
    """The value of a row, or its counts where they are few."""
    return counts_text(chart, row) or value_text(chart, number(row[chart.value or chart.y]), digits)


def n_text(chart: Chart, row: Row) -> str:
    """The number of cases of a row; empty if the chart has none, or its counts are shown."""
    n = row[chart.n] if chart.n else None
    return "" if n is None or counts_text(chart, row) else n if isinstance(n, str) else f"n {n:,}"


def small_print(chart: Chart, row: Row) -> str:
    """The number of cases and the interval of a row; empty where its counts are shown."""
    if counts_text(chart, row):
        return ""
    low, high = (number(row[column]) if column else None for column in (chart.low, chart.high))
    ends = ""
    if low is not None and high is not None:
        ends = interval_text(low, high) if chart.is_share else f"{low:.3g} to {high:.3g}"
    return ", ".join(part for part in (n_text(chart, row), ends) if part)


def mark_title(chart: Chart, row: Row) -> str:
    """The title of a mark, for tooltips and screen readers."""
    columns = dict.fromkeys(column for column in (chart.y if chart.value else "", chart.x, chart.series) if column)
    subject = ", ".join(word(chart, str(row[column])) for column in columns)
    value, more = shown_value(chart, row), small_print(chart, row)
    return f"{subject}: {value}" + (f" ({more})" if more else "")


def choices(chart: Chart, row: Row) -> tuple[tuple[str, str], ...]:
    """Filters and values of the counterexamples that a mark selects; a total over all names has no filter for them."""
    chosen = ((name, str(row[column])) for column, name in chart.filters.items())
    return tuple((name, value) for name, value in chosen if value and value != chart.edge)
