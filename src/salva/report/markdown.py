"""The report as Markdown, for the summary of a job, an issue or a pull request: at most 40 lines for one model.

Takes a Summary. Text that came from prompts or plugins is escaped, so that it shows as it is and neither formats nor
runs anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from salva.charts.formats import cell_text, heading, metric_text
from salva.charts.reading import cells_of, names_of, number, shown_value, word
from salva.core.chart import Chart, ChartKind
from salva.core.printable import printable
from salva.core.quantity import quantity
from salva.core.table import Table
from salva.report.chart_files import where_chart
from salva.report.headline_text import (
    coverage_text,
    example_text,
    gate_text,
    headline_sentence,
    headline_title,
    notes_of,
    trust_text,
    unread_note,
)
from salva.report.summary import ModelSummary, Summary

_SPECIAL = re.compile(r"([\\`*_{}\[\]#|~$])")
_REACHING = re.compile(r"@(?=\w)|#(?=\w)|:(?=//)|\bwww(?=\.)", re.IGNORECASE)
"""Where a page makes a link of plain words, or calls somebody: mentions, numbers of issues, addresses."""
_APART = "&#8203;"
_MAX_ROWS = 60
_MOST_LINES, _MOST_EXAMPLES, _MOST_WIDTH = 40, 3, 200


def to_markdown(summary: Summary) -> str:
    """The whole report, ending in a newline."""
    blocks = [block for model in summary.by_model.values() for block in _model(summary, model)]
    if len(summary.by_model) > 1:
        blocks = [f"# {escape(summary.suite)} on {escape(', '.join(summary.models))}", *blocks]
    return "\n\n".join(blocks) + "\n"


def escape(text: str) -> str:
    """Text that Markdown and HTML leave alone, on one line; nothing in it becomes a link or calls anybody."""
    one_line = " ".join(printable(text).split()).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _REACHING.sub(rf"\g<0>{_APART}", _SPECIAL.sub(r"\\\1", one_line))


def _model(summary: Summary, model: ModelSummary) -> list[str]:
    """Title, sentence, notes and examples; then as many tables as there is room for."""
    mark = "#" if len(summary.by_model) == 1 else "##"
    head = [
        f"{mark} {escape(headline_title(summary, model))}",
        f"**{escape(headline_sentence(summary, model))}.** {escape(coverage_text(summary, model))}.",
        "\n".join(f"- {escape(line)}" for line in _lines(summary, model)),
    ]
    tables = [table for table in (_where(model), _failure_types(model), _metrics(model)) if table]
    room = _MOST_LINES - _n_lines(head)
    for at, rows in enumerate(tables):
        rest = sum(len(other) + 2 for other in tables[at + 1 :])
        shown = rows[: max(3, room - 2 - rest)]
        if room < len(shown) + 2:
            break
        head.append(_grid(shown))
        room -= len(shown) + 2
    return head


def _n_lines(blocks: Iterable[str]) -> int:
    return sum(block.count("\n") + 2 for block in blocks)


def _lines(summary: Summary, model: ModelSummary) -> Iterator[str]:
    yield f"trust: {trust_text(model)}"
    yield from notes_of(summary, model)
    if unread := unread_note(summary):
        yield f"text in images: {unread}"
    yield from (f"gate {gate_text(gate)}" for gate in model.gates)
    yield from (f"e.g. {example_text(example, _MOST_WIDTH)}" for example in model.examples[:_MOST_EXAMPLES])


def _where(model: ModelSummary) -> list[list[str]]:
    chart = where_chart(model.charts)
    if chart is None or not chart.table.rows:
        return []
    return _heat_map(chart) if chart.kind is ChartKind.HEAT_MAP else _bars(chart)


def _heat_map(chart: Chart) -> list[list[str]]:
    columns, cells = names_of(chart, chart.x), cells_of(chart)
    rows = [[chart.y, *(word(chart, column) for column in columns)]]
    for line in names_of(chart, chart.y):
        found = [cells.get((line, column)) for column in columns]
        rows.append([word(chart, line), *("–" if row is None else shown_value(chart, row, 0) for row in found)])
    return rows


def _bars(chart: Chart) -> list[list[str]]:
    """The highest bars first: of many categories the others are left out."""
    rows = [dict(zip(chart.table.columns, row, strict=True)) for row in chart.table.rows]
    if not chart.is_high_good:
        rows.sort(key=lambda row: -(number(row[chart.y]) or 0.0))
    names = [column for column in (chart.x, chart.series) if column]
    body = [[*(word(chart, str(row[name])) for name in names), shown_value(chart, row, 0)] for row in rows]
    return [[*map(heading, names), chart.y_label or heading(chart.y)], *body]


def _failure_types(model: ModelSummary) -> list[list[str]]:
    rows = [[name, f"{n:,}"] for name, n in model.failure_types.items()]
    return [["failure type", "failed results"], *rows] if rows else []


def _metrics(model: ModelSummary) -> list[list[str]]:
    rows = [[title, *metric_text(metric)] for title, metric in model.titled_metrics if metric.value is not None]
    return [["metric", "value", "95 % CI"], *rows] if rows else []


def table_text(table: Table) -> str:
    """A table, its note below it."""
    rows = [[heading(column) for column in table.columns]]
    rows += [
        [cell_text(column, value) for column, value in zip(table.columns, row, strict=True)]
        for row in table.rows[:_MAX_ROWS]
    ]
    text = _grid(rows)
    if len(table.rows) > _MAX_ROWS:
        text += f"\n\n{quantity(len(table.rows) - _MAX_ROWS, 'more rows')} in the json form of this report."
    return f"{text}\n\n{escape(table.note)}" if table.note else text


def _grid(rows: Sequence[Sequence[str]]) -> str:
    head, *body = ([escape(cell) for cell in row] for row in rows)
    lines = [head, ["---"] * len(head), *body]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
