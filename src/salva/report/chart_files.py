"""The charts of a run: those of each model, those of several models joined, and all of them as files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from salva.core.chart import Chart, ChartKind
from salva.figures.drawing import draw_chart
from salva.figures.png import png_file
from salva.figures.svg import svg_file
from salva.files.outfiles import write_bytes
from salva.report.summary import Summary

_FILE_WIDTH = 760
_MANY = 12


def all_charts(summary: Summary) -> Iterator[tuple[str, Chart]]:
    """Every chart of a run with the name of its model; those of several models joined come first, without one."""
    joined: dict[str, list[Chart]] = {}
    is_alone = len(summary.by_model) == 1
    for model in () if is_alone else summary.by_model:
        for chart in model.charts:
            if chart.is_joined:
                joined.setdefault(chart.name, []).append(chart)
    for same in joined.values():
        rows = tuple(row for chart in same for row in chart.table.rows)
        yield "", replace(same[0], table=replace(same[0].table, rows=rows))
    for model in summary.by_model:
        for chart in model.charts:
            if (is_alone and not chart.is_for_several) or not chart.is_joined:
                yield model.model, chart


def is_wide(chart: Chart) -> bool:
    """Whether a chart wants the whole width of a page; the others do with half of one."""
    kind = chart.kind
    return kind in (ChartKind.HEAT_MAP, ChartKind.BOXES) or (kind is ChartKind.BARS and len(chart.table.rows) > _MANY)


def write_figures(summary: Summary, folder: Path) -> list[Path]:
    """Every chart as an SVG and a PNG file; returns what was written."""
    written = []
    for model, chart in all_charts(summary):
        owner = "".join(c if c.isalnum() or c in "+.-" else "-" for c in model)[:60]
        stem = f"{owner}-{chart.name}" if owner and len(summary.by_model) > 1 else chart.name
        # A file stands alone: of several models it says whose it is.
        named = replace(chart, title=f"{chart.title}: {model}") if owner and len(summary.by_model) > 1 else chart
        scene = draw_chart(named, _FILE_WIDTH, has_title=True)
        for form, data in (("svg", svg_file(scene)), ("png", png_file(scene))):
            path = folder / f"{stem}.{form}"
            write_bytes(path, data)
            written.append(path)
    return written
