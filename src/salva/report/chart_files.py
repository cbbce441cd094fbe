"""The charts of a run: those of each model, those of several models joined, and all of them as files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from salva.charts.drawing import draw_chart
from salva.charts.png import png_file
from salva.charts.svg import svg_file
from salva.core.chart import Chart, ChartKind, share_bars
from salva.core.table import Table
from salva.files.outfiles import write_bytes
from salva.report.lead import title_of
from salva.report.summary import Summary

_FILE_WIDTH = 760
_MANY = 12
_MOST_TOGETHER = 6
"""Of more models than this the bars of one name cannot be told apart by colour."""


def all_charts(summary: Summary) -> Iterator[tuple[str, Chart]]:
    """Every chart of a run with the name of its model; those of several models together come first, without one."""
    if len(summary.by_model) == 1:
        yield from ((summary.models[0], chart) for chart in summary.by_model[0].charts if not chart.is_for_several)
        return
    named: dict[str, list[tuple[str, Chart]]] = {}
    for model in summary.by_model:
        for chart in model.charts:
            named.setdefault(chart.name, []).append((model.model, chart))
    together = {name: made for name, same in named.items() if (made := _together(same)) is not None}
    if (leading := _leading(summary)) is not None:
        yield "", leading
    yield from (("", chart) for chart in together.values())
    for model in summary.by_model:
        yield from ((model.model, chart) for chart in model.charts if chart.name not in together)


def _leading(summary: Summary) -> Chart | None:
    """What leads, a bar a model; None where no model has a rate."""
    figures = [(model.model, model.leading.figure) for model in summary.by_model if model.has_rate]
    rows = tuple(
        (
            name,
            figure.rate,
            *((figure.interval.low, figure.interval.high) if figure.interval else (None, None)),
            figure.n,
        )
        for name, figure in figures
        if figure is not None and figure.rate is not None
    )
    if not rows:
        return None
    title = title_of(next(model.leading for model in summary.by_model if model.has_rate))
    return share_bars(
        name="models",
        title=f"The models: {title}",
        table=Table(name="models", columns=("model", "rate", "low", "high", "n"), rows=rows),
        x="model",
        y="rate",
        y_label=title,
        filters={"model": "model"},
        note="The lines are 95 % intervals under other seeds, of each model by itself. To see whether two models "
        "differ, use salva compare.",
    )


def _together(same: Sequence[tuple[str, Chart]]) -> Chart | None:
    """One chart of several models' charts of one name; None where each is drawn by itself."""
    first = same[0][1]
    if first.is_of_cases:
        return first
    if first.is_joined:
        return replace(
            first, table=replace(first.table, rows=tuple(row for _, chart in same for row in chart.table.rows))
        )
    can_join = first.kind is ChartKind.BARS and not first.series and "model" not in first.table.columns
    if not can_join or not 1 < len(same) <= _MOST_TOGETHER:
        return None
    # The same columns in every model's table, or it is another chart under the same name.
    if any(chart.table.columns != first.table.columns for _, chart in same):
        return None
    rows = tuple((model, *row) for model, chart in same for row in chart.table.rows)
    table = replace(first.table, columns=("model", *first.table.columns), rows=rows)
    return replace(first, table=table, series="model", filters={**first.filters, "model": "model"})


def is_wide(chart: Chart) -> bool:
    """Whether a chart wants the whole width of a page; the others do with half of one."""
    kind = chart.kind
    return kind in (ChartKind.HEAT_MAP, ChartKind.BOXES) or (kind is ChartKind.BARS and len(chart.table.rows) > _MANY)


def write_figures(summary: Summary, folder: Path) -> list[Path]:
    """Every chart as an SVG and a PNG file; returns what was written."""
    written: list[Path] = []
    for model, chart in all_charts(summary):
        owner = "".join(c if c.isalnum() or c in "+.-" else "-" for c in model)[:60]
        stem = f"{owner}-{chart.name}" if owner and len(summary.by_model) > 1 else chart.name
        # A file stands alone: of several models it says whose it is.
        named = replace(chart, title=f"{chart.title}: {model}") if owner and len(summary.by_model) > 1 else chart
        written += write_chart(named, folder, stem)
    return written


def write_chart(chart: Chart, folder: Path, stem: str = "") -> list[Path]:
    """A chart as an SVG and a PNG file, named as it is unless told otherwise; returns both."""
    scene = draw_chart(chart, _FILE_WIDTH, has_title=True)
    written = []
    for form, data in (("svg", svg_file(scene)), ("png", png_file(scene))):
        path = folder / f"{stem or chart.name}.{form}"
        write_bytes(path, data)
        written.append(path)
    return written
