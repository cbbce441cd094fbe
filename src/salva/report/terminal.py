"""The summary in a terminal: at most twelve lines; everything with details.

Takes a Summary, prints it; colours go away by themselves where they cannot be shown.
"""

from __future__ import annotations

import shlex
import textwrap
from typing import TYPE_CHECKING, Literal

from salva.charts.formats import cell_text, heading, is_share, metric_text, published_text
from salva.charts.reading import cells_of, names_of, number, rows_of, shown_value, word
from salva.core.chart import Chart, ChartKind
from salva.core.printable import printable
from salva.core.table import Cell, Table
from salva.report.headline_text import (
    coverage_text,
    entities_sentence,
    example_text,
    gate_text,
    headline_row,
    headline_sentence,
    headline_title,
    notes_of,
    trust_text,
    worst_text,
)
from salva.report.summary import ModelSummary, Summary
from salva.results.gate import PASSED
from salva.results.trust import OK

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.segment import Segment
    from rich.table import Table as RichTable
    from rich.text import Text

_COOL, _HOT = (250, 244, 232), (200, 57, 31)
_MAX_LINES = 20
_LONG_WORD = 16
"""A word of a cell that is longer may be broken."""
_BETWEEN = 2
"""Columns of space between two columns of a table."""
_WIDTH = 80
_MOST_LINES = 12
_MOST_EXAMPLES = 3
_LABEL = 8


def print_summary(
    summary: Summary,
    console: Console | None = None,
    *,
    verbose: bool = False,
    quiet: bool = False,
    page: str = "",
    directory: str = "",
) -> None:
    """Print a summary to standard output, or to the console given; page: where the report page is."""
    from rich.console import Console as RichConsole

    out = console or RichConsole(highlight=False)
    more = f"salva report {shlex.quote(directory)} -v" if directory and not verbose else ""
    is_short = quiet or (len(summary.by_model) > 1 and not verbose)
    for model in summary.by_model.values():
        lines = [one_line(summary, model)] if is_short else list(summary_lines(summary, model, page, more))
        for line in lines:
            # Paths and commands are copied from here: a terminal that is too narrow breaks them by itself.
            out.print(_Legible(line), soft_wrap=True)
        if verbose:
            for part in _details(model, out.width):
                out.print(_Legible(part))
    if is_short and not quiet and page:
        out.print(_Legible(_line("report", page)), soft_wrap=True)


def print_everything(summary: Summary, console: Console | None = None) -> None:
    """Print all metrics and all tables of every model."""
    from rich.console import Console as RichConsole

    out = console or RichConsole(highlight=False)
    print_summary(summary, out, verbose=True)
    for model in summary.by_model.values():
        for table in model.tables:
            print_table(table, out)


class _Legible:
    """What is shown, with nothing in its words that moves a cursor or turns the writing round; colours stay."""

    def __init__(self, shown: RenderableType) -> None:
        self._shown = shown

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Segment]:
        for segment in console.render(self._shown, options):
            yield segment if segment.control else segment._replace(text=printable(segment.text))


def one_line(summary: Summary, model: ModelSummary) -> Text:
    """A model in one line."""
    from rich.text import Text

    found = headline_sentence(summary, model, is_short=True)
    text = f"{headline_title(summary, model)}: {found}; trust {model.trust.status}"
    gates = "".join(f"; gate {gate.decision}" for gate in model.gates)
    return Text(text + gates)


def summary_lines(summary: Summary, model: ModelSummary, page: str = "", more: str = "") -> Iterator[Text]:
    """A model in at most twelve lines of eighty columns."""
    from rich.text import Text

    title, decided = headline_title(summary, model), coverage_text(summary, model)
    gap = max(2, _WIDTH - len(title) - len(decided))
    yield (
        Text.assemble((title, "bold"), " " * gap, (decided, "dim")) if gap > 2 else Text(f"{title}  {decided}", "bold")
    )
    rows: list[tuple[str, str, str]] = []
    style = "bold red" if model.rate.failed else "bold green"
    rows.append((*headline_row(summary, model), style))
    if worst := worst_text(model):
        rows.append(("worst", worst, ""))
    rows += [
        ("e.g." if not i else "", example_text(one, _WIDTH - _LABEL), "")
        for i, one in enumerate(model.examples[:_MOST_EXAMPLES])
    ]
    rows.append(("trust", trust_text(model), "" if model.trust.status == OK else "bold red"))
    rows += [("note", note, "") for note in notes_of(summary, model)]
    rows += [("gate", gate_text(gate), "" if gate.decision == PASSED else "bold red") for gate in model.gates]
    # One line where both fit, as the path and the command belong together.
    both = f"{page}       more: {more}"
    if page and more and len(both) <= _WIDTH - _LABEL:
        rows.append(("report", both, ""))
    else:
        rows += [(label, text, "") for label, text in (("report", page), ("more", more)) if text]
    yield from _fitted(rows)


def _fitted(rows: Sequence[tuple[str, str, str]]) -> list[Text]:
    """Rows in eighty columns; examples are shortened, and left out where the lines would be too many."""
    wrapped = [_wrapped(*row) for row in rows]
    while sum(map(len, wrapped)) >= _MOST_LINES:
        last = max((i for i, row in enumerate(rows) if row[0] in ("", "e.g.")), default=None)
        if last is None:
            break
        rows = [row for i, row in enumerate(rows) if i != last]
        wrapped = [_wrapped(*row) for row in rows]
    return [line for lines in wrapped for line in lines]


def _wrapped(label: str, text: str, style: str) -> list[Text]:
    from rich.text import Text

    width = _WIDTH - _LABEL
    if label in ("e.g.", "", "report", "more"):
        lines = [text]
    else:
        lines = textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False) or [""]
    return [
        Text.assemble((f"{label if not i else '':<{_LABEL}}", "dim"), (line, style)) for i, line in enumerate(lines)
    ]


def _line(label: str, text: str) -> Text:
    return _wrapped(label, text, "")[0]


def _details(model: ModelSummary, width: int) -> Iterator[RenderableType]:
    """All metrics, and every chart that can be text."""
    from rich.table import Table as RichTable
    from rich.text import Text

    measured = [(title, metric) for title, metric in model.titled_metrics if metric.value is not None]
    table = RichTable(box=None, pad_edge=False)
    has_published = any(metric.published is not None for _, metric in measured)
    for column in ("metric", "value", "95 % CI", "n", *(["published"] if has_published else [])):
        justify: Literal["right", "left"] = "left" if column == "metric" else "right"
        # Where there is room for words and numbers, only words are wrapped.
        is_whole = width >= _WIDTH and column in ("value", "95 % CI", "n")
        table.add_column(column, justify=justify, overflow="fold", no_wrap=is_whole)
    for title, metric in measured:
        n = "" if metric.n is None else f"{metric.n:,}"
        published = [published_text(metric)] if has_published else []
        table.add_row(*map(Text, (title, *metric_text(metric), n, *published)))
    yield Text("")
    if entities := entities_sentence(model):
        yield Text(f"{entities}\n")
    yield table
    for title, metric in model.titled_metrics:
        if metric.reason:
            state = "not measured, " if metric.value is None else ""
            yield Text(f"{title}: {state}{metric.reason}", style="dim")
    for chart in model.charts:
        if (shown := _as_text(chart)) is not None:
            yield Text(f"\n{chart.title}", style="bold")
            yield shown


def _as_text(chart: Chart) -> RichTable | None:
    """A chart as text; None where a page would show it better."""
    if chart.kind is ChartKind.HEAT_MAP and len(names_of(chart, chart.y)) <= _MAX_LINES:
        return _heat_table(chart)
    if chart.kind is ChartKind.BARS and len(names_of(chart, chart.x)) <= _MAX_LINES:
        return _value_table(chart)
    return None


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
    for line in lines:
        found = [cells.get((line, column)) for column in columns]
        values = [None if row is None else number(row[chart.value]) for row in found]
        shown = ("–" if row is None else shown_value(chart, row, 0) for row in found)
        texts = (Text(f"{text:^8}", style=_shade(chart, value)) for text, value in zip(shown, values, strict=True))
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
        cells = [shown_value(chart, row) if column == chart.y else cell_text(column, row[column]) for column in columns]
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
    for piece in _pieces(table.columns, texts, least, out.width):
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


def _pieces(
    columns: Sequence[str], texts: Sequence[Sequence[str]], least: Sequence[int], width: int
) -> Iterator[list[int]]:
    """The columns, all together where they fit; else some at a time, each with those that tell rows apart."""
    every = range(len(texts))
    n_rows = len(texts[0]) if texts else 0
    keys = next((n for n in every if n and len(set(zip(*texts[:n], strict=True))) == n_rows), 1)
    if 2 * sum(least[i] + _BETWEEN for i in every[:keys]) > width:
        keys = 1
    piece = list(every[:keys])
    for group in _groups(columns, every[keys:]):
        if len(piece) > keys and sum(least[i] + _BETWEEN for i in (*piece, *group)) > width:
            yield piece
            piece = list(every[:keys])
        piece += group
    yield piece


def _groups(columns: Sequence[str], indices: Iterable[int]) -> list[list[int]]:
    """The columns that stand in one piece: the high end of an interval is beside its low end."""
    groups: list[list[int]] = []
    for index in indices:
        before = heading(columns[groups[-1][-1]]) if groups else ""
        if before.endswith("low") and heading(columns[index]) == f"{before.removesuffix('low')}high":
            groups[-1].append(index)
        else:
            groups.append([index])
    return groups


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
