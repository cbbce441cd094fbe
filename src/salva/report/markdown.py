"""The report as Markdown, for an issue, a pull request or a notebook.

Takes a Summary. Text that came from prompts or plugins is escaped, so that it shows as it is
and neither formats nor runs anything.
"""

from __future__ import annotations

import re

from salva.charts.formats import cell_text, figure_text, heading, percent
from salva.charts.reading import cells_of, n_text, names_of, number, value_text, word
from salva.core.chart import Chart, ChartKind
from salva.core.printable import printable
from salva.core.quantity import quantity
from salva.core.table import KeyFigure, Table
from salva.report.lead import bounds_of, instructed, interval_of, sentence_of, title_of, unread, untried, warning_of
from salva.report.summary import ModelSummary, Summary

_SPECIAL = re.compile(r"([\\`*_{}\[\]#|~$])")
_REACHING = re.compile(r"@(?=\w)|#(?=\w)|:(?=//)|\bwww(?=\.)", re.IGNORECASE)
"""Where a page makes a link of plain words, or calls somebody: mentions, numbers of issues, addresses."""
_APART = "&#8203;"
_MAX_ROWS = 60


def to_markdown(summary: Summary) -> str:
    """The whole report, ending in a newline."""
    blocks = [
        f"# {escape(summary.suite)} on {escape(', '.join(summary.models))}",
        f"{quantity(summary.cases, 'cases')}.",
    ]
    if len(summary.by_model) > 1:
        blocks += [table_text(summary.models_table())] if summary.has_rates else []
        for table in summary.joined_tables():
            blocks += [f"### {escape(table.name)}", table_text(table)]
    if note := untried(summary.preflight, summary.preflight_about):
        blocks.append(f"**{escape(note)}**")
    if note := unread(summary.asked, summary.n_unread):
        blocks.append(f"Text in images: {note}.")
    for model in summary.by_model:
        if len(summary.by_model) > 1:
            blocks.append(f"## {escape(model.model)}")
        blocks += _model(model, summary.unit)
    return "\n\n".join(blocks) + "\n"


def escape(text: str) -> str:
    """Text that Markdown and HTML leave alone, on one line; nothing in it becomes a link or calls anybody."""
    one_line = " ".join(printable(text).split()).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _REACHING.sub(rf"\g<0>{_APART}", _SPECIAL.sub(r"\\\1", one_line))


def _model(model: ModelSummary, unit: str) -> list[str]:
    lines: list[str] = []
    lines += [_figure(figure, "**") for figure in model.key_figures]
    rates = [
        f"- **{title_of(model.leading).capitalize()}: {percent(model.failure_rate)}** "
        f"{sentence_of(model.leading, unit)} (95 %: {interval_of(model.leading)} under other seeds)",
    ]
    if warning := warning_of(model.leading):
        rates.append(f"- **{escape(warning)}**")
    rates += [_figure(figure) for figure in model.asides]
    undecided = model.outcomes["UNDECIDED"] + model.outcomes["ERROR"]
    rates.append(f"- Undecided: {undecided}" + (bounds_of(model.leading) if undecided else ""))
    lines += rates if model.has_rate else []
    if note := instructed(model.n_instructed, unit):
        lines.append(f"- **{note[:1].upper()}{note[1:]}**")
    if model.n_unjudged:
        lines.append(f"- Not judged yet: {model.n_unjudged}; these figures cover only part of the run")
    blocks = ["\n".join(lines)]
    if model.charts and model.charts[0].kind is ChartKind.HEAT_MAP:
        blocks += [f"### {escape(model.charts[0].title)}", _heat_map(model.charts[0])]
    for table in model.tables:
        blocks += [f"### {escape(table.name)}", table_text(table)]
    return blocks


def _figure(figure: KeyFigure, strong: str = "") -> str:
    value, note = figure_text(figure)
    return f"- {strong}{escape(figure.title)}: {value}{strong}" + (f" ({escape(note)})" if note else "")


def _heat_map(chart: Chart) -> str:
    columns, cells = names_of(chart, chart.x), cells_of(chart)
    rows = [[chart.y, *(word(chart, column) for column in columns)]]
    for line in names_of(chart, chart.y):
        texts = []
        for column in columns:
            row = cells.get((line, column), {})
            value = number(row.get(chart.value))
            n = "" if value is None else n_text(chart, row)
            texts.append(value_text(chart, value, 0) + (f" ({n})" if n else ""))
        rows.append([word(chart, line), *texts])
    return _grid([[escape(text) for text in row] for row in rows])


def table_text(table: Table) -> str:
    """A table, its note below it."""
    rows = [[escape(heading(column)) for column in table.columns]]
    rows += [
        [escape(cell_text(column, value)) for column, value in zip(table.columns, row, strict=True)]
        for row in table.rows[:_MAX_ROWS]
    ]
    text = _grid(rows)
    if len(table.rows) > _MAX_ROWS:
        text += f"\n\n{quantity(len(table.rows) - _MAX_ROWS, 'more rows')} in the json form of this report."
    return f"{text}\n\n{escape(table.note)}" if table.note else text


def _grid(rows: list[list[str]]) -> str:
    head, *body = rows
    lines = [head, ["---"] * len(head), *body]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
