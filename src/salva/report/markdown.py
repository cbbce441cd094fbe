"""The report as Markdown, for an issue, a pull request or a notebook.

Takes a Summary. Text that came from prompts or plugins is escaped, so that it shows as it is
and neither formats nor runs anything.
"""

from __future__ import annotations

import re

from salva.core.table import Table
from salva.figures.formats import cell_text, figure_text, heading, interval_text, percent
from salva.report.charts import HeatCell, heat_map
from salva.report.summary import ModelSummary, Summary

_SPECIAL = re.compile(r"([\\`*_{}\[\]#|~])")
_MAX_ROWS = 60


def to_markdown(summary: Summary) -> str:
    """The whole report, ending in a newline."""
    blocks = [f"# {escape(summary.suite)} on {escape(', '.join(summary.models))}", f"{summary.cases} cases."]
    if len(summary.by_model) > 1:
        blocks += [_table(summary.models_table())] if summary.has_rates else []
        for table in summary.joined_tables():
            blocks += [f"### {escape(table.name)}", _table(table)]
    for model in summary.by_model:
        if len(summary.by_model) > 1:
            blocks.append(f"## {escape(model.model)}")
        blocks += _model(model, summary.unit)
    return "\n\n".join(blocks) + "\n"


def escape(text: str) -> str:
    """Text that Markdown and HTML leave alone, on one line."""
    plain = " ".join(text.split()).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _SPECIAL.sub(r"\\\1", plain)


def _model(model: ModelSummary, unit: str) -> list[str]:
    numbers = model.numbers
    decided = model.outcomes["HOLDS"] + model.outcomes["VIOLATED"]
    lines = []
    for figure in model.key_figures:
        value, note = figure_text(figure)
        lines.append(f"- **{escape(figure.title)}: {value}**" + (f" ({escape(note)})" if note else ""))
    rates = [
        f"- **Violation rate: {percent(model.violation_rate)}** of {decided} decided {unit} "
        f"(95 %: {interval_text(*model.interval)})",
        f"- Macro average over {numbers.get('n_categories') or 0:g} categories: {percent(numbers.get('macro_rate'))} "
        f"({interval_text(numbers.get('macro_low'), numbers.get('macro_high'))})",
    ]
    if numbers.get("numbering_macro_rate") is not None:
        rates.append(f"- Numbering, macro average: {percent(numbers['numbering_macro_rate'])}")
    if numbers.get("excess") is not None:
        ends = interval_text(numbers.get("excess_low"), numbers.get("excess_high"))
        rates.append(f"- Excess over seed noise: {percent(numbers['excess'])} ({ends})")
    undecided = model.outcomes["INCONCLUSIVE"] + model.outcomes["FAILED"]
    bounds = interval_text(numbers.get("bound_low"), numbers.get("bound_high"))
    rates.append(
        f"- Undecided: {undecided}" + (f"; the rate lies within {bounds} whatever they were" if undecided else "")
    )
    lines += rates if model.has_rate else []
    if model.n_unjudged:
        lines.append(f"- Not judged yet: {model.n_unjudged}; these figures are over part of the run")
    blocks = ["\n".join(lines)]
    heat = heat_map(model)
    if heat is not None:
        rows = [("law", *heat.columns)]
        rows += [
            (name, *(f"{cell.text} {f'({cell.note})' if cell.note else ''}".strip() for cell in cells))
            for name, cells in heat.rows
        ]
        blocks += ["### Violation rate, law by modifier", _grid([[escape(text) for text in row] for row in rows])]
    for table in model.tables:
        blocks += [f"### {escape(table.name)}", _table(table)]
    return blocks


def _heat_text(cell: HeatCell) -> str:
    return f"{cell.text} ({cell.note})" if cell.note else cell.text


def _table(table: Table) -> str:
    rows = [[escape(heading(column)) for column in table.columns]]
    rows += [
        [escape(cell_text(column, value)) for column, value in zip(table.columns, row, strict=True)]
        for row in table.rows[:_MAX_ROWS]
    ]
    text = _grid(rows)
    if len(table.rows) > _MAX_ROWS:
        text += f"\n\n{len(table.rows) - _MAX_ROWS} more rows in the json form of this report."
    return f"{text}\n\n{escape(table.note)}" if table.note else text


def _grid(rows: list[list[str]]) -> str:
    head, *body = rows
    lines = [head, ["---"] * len(head), *body]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
