"""The summary in a terminal: the rate, the heat map in colours, what broke.

Takes a Summary, prints it; colours go away by themselves where nobody can see them.
"""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Literal

from salva.charts.formats import cell_text, figure_text, heading, is_share, percent
from salva.charts.reading import cells_of, names_of, number, rows_of, value_text, word
from salva.core.chart import Chart, ChartKind
from salva.core.printable import printable
from salva.core.quantity import quantity
from salva.core.table import Cell, Table
from salva.report.lead import bounds_of, instructed, interval_of, sentence_of, title_of, unread, untried, warning_of
from salva.report.summary import ModelSummary, Summary

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rich.console import Console, ConsoleOptions, Group
    from rich.segment import Segment
    from rich.table import Table as RichTable
    from rich.text import Text

_COOL, _HOT = (250, 244, 232), (200, 57, 31)
_MAX_LINES = 20
_MAX_REASONS = 3
_REASON_WIDTH = 200
_LONG_WORD = 16
"""A word of a cell that is longer may be broken."""
_BETWEEN = 2
"""Columns of space between two columns of a table."""


def print_summary(summary: Summary, console: Console | None = None) -> None:
    """Print a summary to standard output, or to the console given."""
    from rich.console import Console as RichConsole

    (console or RichConsole(highlight=False)).print(_Legible(render(summary)))


class _Legible:
    """What is shown, with nothing in its words that moves a cursor or turns the writing round; colours stay."""

    def __init__(self, shown: Group) -> None:
        self._shown = shown

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Segment]:
        for segment in console.render(self._shown, options):
            yield segment if segment.control else segment._replace(text=printable(segment.text))


def render(summary: Summary) -> Group:
    """The summary as something rich can print."""
    from rich.console import Group as RichGroup

    parts: list[Text | RichTable] = []
    for model in summary.by_model:
        parts += _model(summary, model)
    return RichGroup(*parts)


def _model(summary: Summary, model: ModelSummary) -> list[Text | RichTable]:
    from rich.text import Text

    parts: list[Text | RichTable] = [Text(f"\n{summary.suite} on {model.model}", style="bold")]
    if note := untried(summary.preflight, summary.preflight_about):
        parts.append(Text(note, style="bold red"))
    if note := unread(summary.asked, summary.n_unread):
        parts.append(Text(f"text in images: {note}", style="dim"))
    if note := instructed(model.n_instructed, summary.unit):
        parts.append(Text(note, style="bold red"))
    printed = (*model.charts[:1], *(chart for chart in model.charts[1:] if chart.is_printed))
    parts += [table for chart in printed for table in _as_text(chart)]
    for figure in model.key_figures:
        value, note = figure_text(figure)
        parts.append(Text.assemble((f"{figure.title} ", ""), (value, "bold"), (f"  {note}" if note else "", "dim")))
    if not model.has_rate:
        return parts
    parts.append(
        Text.assemble(
            (f"{title_of(model.leading)} ", ""),
            (percent(model.failure_rate), "bold red" if model.failure_rate else "bold green"),
            f"  95 %: {interval_of(model.leading)} under other seeds",
            f"  ({sentence_of(model.leading, summary.unit)})",
        )
    )
    if warning := warning_of(model.leading):
        parts.append(Text(warning, style="bold red"))
    parts += [Text(line, style="dim") for line in _small_print(model, summary.unit)]
    return parts


def _small_print(model: ModelSummary, unit: str) -> list[str]:
    lines: list[str] = []
    for figure in model.asides:
        value, note = figure_text(figure)
        lines.append(f"{figure.title}  {value}" + (f" ({note})" if note else ""))
    if model.errors:
        lines.append("errors         " + ", ".join(f"{error} {n}" for error, n in model.errors.items()))
    undecided = model.outcomes["UNDECIDED"] + model.outcomes["ERROR"]
    if undecided:
        lines.append(f"undecided      {quantity(undecided, unit)}{bounds_of(model.leading)}")
        lines += [f"               {line}" for line in _reasons(model)]
    if model.n_unjudged:
        lines.append(f"not judged     {quantity(model.n_unjudged, unit)}; run the same command again to continue")
    return lines


def _reasons(model: ModelSummary) -> list[str]:
    """Why pairs are undecided: the most frequent reasons."""
    shown = [
        f"{n} {outcome}: {textwrap.shorten(reason, _REASON_WIDTH)}"
        for (outcome, reason), n in list(model.reasons.items())[:_MAX_REASONS]
    ]
    n_more = len(model.reasons) - _MAX_REASONS
    return shown + ([f"{quantity(n_more, 'more reasons are', 'more reason is')} in the report"] if n_more > 0 else [])


def _as_text(chart: Chart) -> list[RichTable]:
    """A chart as text; not where a page would show it better."""
    if chart.kind is ChartKind.HEAT_MAP and len(names_of(chart, chart.y)) <= _MAX_LINES:
        return [_heat_table(chart)]
    if chart.kind is ChartKind.BARS and len(names_of(chart, chart.x)) <= _MAX_LINES:
        return [_value_table(chart)]
    return []


def _heat_table(chart: Chart) -> RichTable:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=(0, 0), pad_edge=False)
    table.add_column("")
    columns, cells = names_of(chart, chart.x), cells_of(chart)
    for column in columns:
        table.add_column(Text(word(chart, column)), justify="center", min_width=8)
    # Over how many a line is, where the chart sums it up; the page has the n of every cell.
    has_n = bool(chart.n and chart.edge in columns)
    if has_n:
        table.add_column("n", justify="right", min_width=6)
    lines = names_of(chart, chart.y)
    n_of = {line: n for line in lines if isinstance(n := cells.get((line, chart.edge), {}).get(chart.n), int)}
    # What is averaged in the corner rests on all of them.
    n_of.setdefault(chart.edge, sum(n_of.values()))
    for line in lines:
        values = [number(cells.get((line, column), {}).get(chart.value)) for column in columns]
        texts = (Text(f"{value_text(chart, value, 0):^8}", style=_shade(chart, value)) for value in values)
        n = f"{n_of[line]:,}" if line in n_of else ""
        table.add_row(Text(f"{word(chart, line)}  "), *texts, *([n] * has_n))
    return table


def _value_table(chart: Chart) -> RichTable:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None)
    columns = [column for column in (chart.x, chart.series, chart.y, chart.n) if column]
    for column in columns:
        table.add_column(heading(column), justify="right" if column in (chart.y, chart.n) else "left", overflow="fold")
    for row in rows_of(chart):
        cells = [cell_text(column, row[column]) for column in columns]
        table.add_row(*map(Text, cells))
    return table


def print_table(table: Table, console: Console | None = None) -> None:
    """Print any table with its name and its note."""
    from rich.cells import cell_len
    from rich.console import Console as RichConsole
    from rich.table import Table as RichTableClass
    from rich.text import Text

    out = console or RichConsole(highlight=False)
    out.print(Text(f"\n{table.name}", style="bold"))
    texts = [[_cell(column, row[index]) for row in table.rows] for index, column in enumerate(table.columns)]
    are_numbers = [any(isinstance(row[index], int | float) for row in table.rows) for index in range(len(texts))]
    least = [_least_width(*column) for column in zip(table.columns, texts, are_numbers, strict=True)]
    most = [max(map(cell_len, (heading(name), *cells))) for name, cells in zip(table.columns, texts, strict=True)]
    for piece in _pieces(texts, least, out.width):
        shown = RichTableClass(box=None)
        widths = _widths({index: (least[index], most[index]) for index in piece}, out.width)
        for index in piece:
            justify: Literal["right", "left"] = "right" if are_numbers[index] else "left"
            # A number that is cut short reads like another number: on a very narrow terminal it stands on two lines.
            name = heading(table.columns[index])
            shown.add_column(name, justify=justify, overflow="fold", width=widths.get(index))
        for row in zip(*(texts[index] for index in piece), strict=True):
            shown.add_row(*map(Text, row))
        out.print(shown)
    if table.note:
        out.print(Text(table.note, style="dim"))


def _least_width(column: str, texts: Sequence[str], is_number: bool) -> int:
    """How wide a column must be for its heading to keep its words, and its cells too as far as they are short."""
    from rich.cells import cell_len

    words = texts if is_number else [word[:_LONG_WORD] for text in texts for word in text.split()]
    return max(map(cell_len, (*heading(column).split(), *words)), default=1)


def _widths(columns: Mapping[int, tuple[int, int]], width: int) -> dict[int, int]:
    """How wide each column is, from its least to its most; nothing where not even the least has room."""
    spare = width - sum(least + _BETWEEN for least, _ in columns.values())
    widths: dict[int, int] = {}
    for index, (least, most) in sorted(columns.items(), key=lambda column: column[1][1] - column[1][0]):
        widths[index] = min(most, least + max(spare, 0))
        spare -= widths[index] - least
    return widths if spare >= 0 else {}


def _pieces(texts: Sequence[Sequence[str]], least: Sequence[int], width: int) -> Iterator[list[int]]:
    """The columns, all together where they fit; else some at a time, each with those that tell rows apart."""
    every = range(len(texts))
    n_rows = len(texts[0]) if texts else 0
    keys = next((n for n in every if n and len(set(zip(*texts[:n], strict=True))) == n_rows), 1)
    if 2 * sum(least[i] + _BETWEEN for i in every[:keys]) > width:
        keys = 1
    piece = list(every[:keys])
    for index in every[keys:]:
        if len(piece) > keys and sum(least[i] + _BETWEEN for i in (*piece, index)) > width:
            yield piece
            piece = list(every[:keys])
        piece.append(index)
    yield piece


def _cell(column: str, value: Cell) -> str:
    if isinstance(value, float) and not is_share(column):
        return f"{round(value, 3) + 0.0:.3f}"  # what is rounded to nothing has no sign
    return cell_text(column, value)


def _shade(chart: Chart, value: float | None) -> str:
    low, high = chart.ends or (0.0, 1.0)
    if value is None:
        return "dim"
    share = min(max((value - low) / (high - low), 0.0), 1.0)
    red, green, blue = (round(cool + (hot - cool) * share) for cool, hot in zip(_COOL, _HOT, strict=True))
    ink = "white" if share > 0.6 else "black"
    return f"{ink} on rgb({red},{green},{blue})"
