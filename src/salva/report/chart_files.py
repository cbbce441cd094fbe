"""The charts of a run: the one that shows where it fails, those of several models joined, and all of them as files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from salva.charts.drawing import draw_chart
from salva.charts.interval import RateWithInterval
from salva.charts.png import png_file
from salva.charts.reading import names_of
from salva.charts.svg import svg_file
from salva.core.chart import BY_CATEGORY, Chart, ChartKind
from salva.files.outfiles import write_bytes
from salva.report.summary import ModelSummary, Summary
from salva.results.chance import CHANCE

_FILE_WIDTH = 760
_MANY, _MANY_COLUMNS = 12, 6
_MOST_TOGETHER = 6
"""Of more models than this the bars of one name cannot be told apart by colour."""


def where_chart(charts: Sequence[Chart]) -> Chart | None:
    """The chart that shows where a model fails: by category, or what a suite puts in the place of that."""
    wanted = [chart for chart in charts if BY_CATEGORY in (chart.name, chart.replaces)]
    wanted.sort(key=lambda chart: chart.name != BY_CATEGORY)
    return next(iter((*wanted, *charts)), None)


def rate_with_interval(model: ModelSummary) -> RateWithInterval | None:
    """The failure rate as it is drawn; None where nothing is decided."""
    if model.failure_rate is None or model.interval is None:
        return None
    low, high = model.interval
    chance = model.metrics.get(CHANCE)
    is_open = model.bounds is not None and (model.bounds[0] < low or model.bounds[1] > high)
    return RateWithInterval(
        rate=model.failure_rate,
        low=low,
        high=high,
        bounds=model.bounds if is_open else None,
        chance=chance.value if chance else None,
    )


def all_charts(summary: Summary) -> Iterator[tuple[str, Chart]]:
    """Every chart of a run with the name of its model; those of several models together come first, without one."""
    if len(summary.by_model) == 1:
        model = summary.only_model
        yield from ((model.model, chart) for chart in model.charts if not chart.is_for_several) if model else ()
        return
    named: dict[str, list[tuple[str, Chart]]] = {}
    for model in summary.by_model.values():
        for chart in model.charts:
            named.setdefault(chart.name, []).append((model.model, chart))
    together = {name: made for name, same in named.items() if (made := _together(same)) is not None}
    yield from (("", chart) for chart in together.values())
    for model in summary.by_model.values():
        yield from ((model.model, chart) for chart in model.charts if chart.name not in together)


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
    if kind is ChartKind.HEAT_MAP:
        return len(names_of(chart, chart.x)) > _MANY_COLUMNS
    return kind is ChartKind.BOXES or (kind is ChartKind.BARS and len(names_of(chart, chart.x)) > _MANY)


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
