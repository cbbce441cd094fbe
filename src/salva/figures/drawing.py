"""Charts drawn: for the page and as files, in one quiet style.

Takes charts (columns of tables), gives SVG or PNG. Text from prompts and plugins is drawn as it is: no dollar sign
starts a formula. Nothing here decides what is worth a chart.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from salva.core.chart import Chart, ChartKind
from salva.core.table import Cell, Table
from salva.figures.formats import percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_INK, _SOFT, _GRID = "#2b2622", "#8a8178", "#e7e1d8"
_COLOURS = ("#b8412a", "#2f6f8f", "#c98f1f", "#5a7d3c", "#7a5195", "#8c6d5a", "#3a8f85", "#b05c88")
_HEAT = ("#faf4e8", "#e9b384", "#c8391f", "#7a1710")
_FINE = ("#faf4e8", "#a9c9c4", "#2f6f8f", "#173c54")
_STYLE: dict[Any, Any] = {
    "font.family": ["DejaVu Sans"],
    "font.size": 9.0,
    "axes.edgecolor": _SOFT,
    "axes.labelcolor": _INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": _INK,
    "ytick.color": _INK,
    "text.color": _INK,
    "text.parse_math": False,
    "axes.formatter.use_mathtext": False,
    "svg.fonttype": "path",
    "svg.hashsalt": "salva",
}
_MAX_MARKS = 60
"""More bars, boxes or cells than this on one side are unreadable; the rest stays in the table."""


def render_chart(chart: Chart, form: str = "svg", *, has_title: bool = True) -> bytes:
    """The chart as the bytes of an svg, png or pdf file; the same chart always gives the same bytes."""
    import matplotlib

    with matplotlib.rc_context(_STYLE), warnings.catch_warnings():
        # A letter the font lacks is drawn as an empty box; that is all anybody can do about it here.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        figure = _drawn(chart)
        if has_title:
            figure.axes[0].set_title(chart.title, loc="left", fontsize=10.5, fontweight="bold", pad=10)
        buffer = io.BytesIO()
        undated = {"svg": {"Date": None, "Creator": None}, "pdf": {"CreationDate": None}, "png": {"Software": None}}
        figure.savefig(buffer, format=form, dpi=160, bbox_inches="tight", metadata=undated[form])
    return buffer.getvalue()


def _drawn(chart: Chart) -> Figure:
    from matplotlib.figure import Figure as MatplotlibFigure

    draw = {
        ChartKind.BARS: _bars,
        ChartKind.HEAT_MAP: _heat_map,
        ChartKind.BOXES: _boxes,
        ChartKind.SCATTER: _scatter,
        ChartKind.LINES: _lines,
    }[chart.kind]
    figure = MatplotlibFigure(figsize=_size(chart))
    axes = figure.subplots()
    if chart.table.rows:
        draw(chart, axes)
    else:
        axes.text(0.5, 0.5, "nothing to draw", ha="center", va="center", color=_SOFT, transform=axes.transAxes)
    return figure


def _size(chart: Chart) -> tuple[float, float]:
    across = min(_MAX_MARKS, len(_values(chart.table, chart.x)))
    if chart.kind is ChartKind.HEAT_MAP:
        return max(4.0, 1.6 + 0.75 * across), max(1.8, 0.9 + 0.42 * len(_values(chart.table, chart.y)))
    if chart.kind is ChartKind.BARS:
        return 6.4, max(1.6, 0.9 + 0.27 * across * max(1.0, 0.6 * len(_groups(chart))))
    if chart.kind is ChartKind.BOXES:
        return 6.4, max(2.0, 0.9 + 0.32 * across * max(1.0, 0.6 * len(_groups(chart))))
    return 5.6, 4.0


def _bars(chart: Chart, axes: Axes) -> None:
    """Lying bars, the first row on top, since names are long."""
    names = _values(chart.table, chart.x)[:_MAX_MARKS]
    groups = _groups(chart)
    thickness = 0.78 / len(groups)
    for number, group in enumerate(groups):
        shown = [row for row in _rows(chart, group) if str(row[chart.x]) in names]
        places = [names.index(str(row[chart.x])) + thickness * (number - (len(groups) - 1) / 2) for row in shown]
        values = [_number(row[chart.y]) for row in shown]
        colour = _COLOURS[(number + chart.is_high_good) % len(_COLOURS)]
        known = [(p, v, row) for p, v, row in zip(places, values, shown, strict=True) if v is not None]
        axes.barh([p for p, _, _ in known], [v for _, v, _ in known], thickness * 0.92, color=colour, label=group)
        for place, value, row in known:
            low, high = (_number(row[column]) if column else None for column in (chart.low, chart.high))
            if low is not None and high is not None:
                axes.plot([low, high], [place, place], color=_INK, linewidth=1.1, solid_capstyle="butt")
            if len(groups) == 1:
                text = percent(value) if chart.is_share else f"{value:.3g}"
                axes.annotate(
                    text,
                    (max(value, high or value), place),
                    xytext=(4, 0),
                    textcoords="offset points",
                    va="center",
                    fontsize=7.5,
                    color=_SOFT,
                )
    axes.set_yticks(range(len(names)), [_short(name) for name in names])
    axes.invert_yaxis()
    axes.tick_params(axis="y", length=0)
    _value_axis(chart, axes, "x")
    axes.set_xlabel(chart.y_label)
    if len(groups) > 1:
        axes.legend(frameon=False, fontsize=8, loc="best")


def _heat_map(chart: Chart, axes: Axes) -> None:
    import numpy as np
    from matplotlib.colors import LinearSegmentedColormap

    columns, lines = (_values(chart.table, name)[:_MAX_MARKS] for name in (chart.x, chart.y))
    grid = np.full((len(lines), len(columns)), np.nan)
    for row in _rows(chart):
        value = _number(row[chart.value])
        if value is not None and str(row[chart.x]) in columns and str(row[chart.y]) in lines:
            grid[lines.index(str(row[chart.y])), columns.index(str(row[chart.x]))] = value
    low, high = chart.ends or (_least(grid), _most(grid))
    colours = LinearSegmentedColormap.from_list("heat", _FINE if chart.is_high_good else _HEAT).with_extremes(
        bad="#f3f0ea"
    )
    axes.imshow(grid, cmap=colours, vmin=low, vmax=high if high > low else low + 1, aspect="auto")
    for i in range(len(lines)):
        for j in range(len(columns)):
            value = grid[i, j]
            is_dark = not np.isnan(value) and value > low + 0.55 * (high - low)
            text = "–" if np.isnan(value) else (percent(value, 0) if chart.is_share else f"{value:.2f}")
            axes.text(j, i, text, ha="center", va="center", fontsize=8, color="white" if is_dark else _INK)
    slanted = max(map(len, columns), default=0) > 9
    axes.set_xticks(
        range(len(columns)),
        [_short(name) for name in columns],
        rotation=30 if slanted else 0,
        ha="right" if slanted else "center",
    )
    axes.set_yticks(range(len(lines)), [_short(name) for name in lines])
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)


def _boxes(chart: Chart, axes: Axes) -> None:
    """Lying boxes; those of several series stand together under one name, each in its colour."""
    names = _values(chart.table, chart.x)[:_MAX_MARKS]
    groups = _groups(chart)
    thickness = (0.6 if len(groups) == 1 else 0.8) / len(groups)
    counts = dict.fromkeys(names, 0)
    for number, group in enumerate(groups):
        spread: dict[str, list[float]] = {name: [] for name in names}
        for row in _rows(chart, group):
            value = _number(row[chart.y])
            if value is not None and str(row[chart.x]) in spread:
                spread[str(row[chart.x])].append(value)
                counts[str(row[chart.x])] += 1
        colour = _COLOURS[number % len(_COLOURS)]
        face = {"facecolor": "#ecd9c6"} if len(groups) == 1 else {"facecolor": colour, "alpha": 0.35}
        axes.boxplot(
            list(spread.values()),
            positions=[place + thickness * (number - (len(groups) - 1) / 2) for place in range(len(names))],
            orientation="horizontal",
            widths=thickness * (1.0 if len(groups) == 1 else 0.8),
            patch_artist=True,
            manage_ticks=False,
            label=group or None,
            boxprops={"edgecolor": _SOFT, **face},
            medianprops={"color": colour, "linewidth": 1.6},
            whiskerprops={"color": _SOFT},
            capprops={"color": _SOFT},
            flierprops={"marker": ".", "markersize": 3, "markerfacecolor": _SOFT, "markeredgecolor": "none"},
        )
    told = [f"{_short(name)}  (n {counts[name]})" if len(groups) == 1 else _short(name) for name in names]
    axes.set_yticks(range(len(names)), told)
    axes.set_ylim(len(names) - 0.4, -0.6)
    if len(groups) > 1:
        axes.legend(frameon=False, fontsize=8, loc="best")
    axes.tick_params(axis="y", length=0)
    _value_axis(chart, axes, "x")
    axes.set_xlabel(chart.y_label)


def _scatter(chart: Chart, axes: Axes) -> None:
    for number, group in enumerate(_groups(chart)):
        xs, ys = _columns(chart, group, chart.x, chart.y)
        crowd = 0.75 if len(xs) < 200 else 0.35
        colour = _COLOURS[number % len(_COLOURS)]
        axes.scatter(xs, ys, s=14, alpha=crowd, color=colour, edgecolors="none", label=group)
    _two_axes(chart, axes)


def _lines(chart: Chart, axes: Axes) -> None:
    for number, group in enumerate(_groups(chart)):
        colour = _COLOURS[number % len(_COLOURS)]
        axes.plot(*_columns(chart, group, chart.x, chart.y), marker="o", markersize=3.5, color=colour, label=group)
        if chart.low and chart.high:
            xs, lows, highs = _columns(chart, group, chart.x, chart.low, chart.high)
            axes.fill_between(xs, lows, highs, color=colour, alpha=0.15, linewidth=0)
    _two_axes(chart, axes)


def _two_axes(chart: Chart, axes: Axes) -> None:
    _value_axis(chart, axes, "y")
    axes.set_xlabel(chart.x_label)
    axes.set_ylabel(chart.y_label)
    if len(_groups(chart)) > 1:
        axes.legend(frameon=False, fontsize=8, loc="best")


def _value_axis(chart: Chart, axes: Axes, which: str) -> None:
    if chart.ends:
        (axes.set_xlim if which == "x" else axes.set_ylim)(*chart.ends)
    if chart.is_share:
        axis = axes.xaxis if which == "x" else axes.yaxis
        axis.set_major_formatter(lambda value, _position: f"{value * 100:.0f} %")
    axes.grid(axis="x" if which == "x" else "y", color=_GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    for mark in chart.marks:
        (axes.axvline if which == "x" else axes.axhline)(mark, color=_SOFT, linewidth=0.9, linestyle=(0, (3, 2)))


def _rows(chart: Chart, group: str = "") -> Iterator[dict[str, Cell]]:
    for row in chart.table.rows:
        named = dict(zip(chart.table.columns, row, strict=True))
        if not chart.series or not group or str(named[chart.series]) == group:
            yield named


def _groups(chart: Chart) -> Sequence[str]:
    return _values(chart.table, chart.series) if chart.series else ("",)


def _columns(chart: Chart, group: str, *names: str) -> list[list[float]]:
    """These columns of the group's rows, sorted by the first; rows with a gap are left out."""
    rows = [[_number(row[name]) for name in names] for row in _rows(chart, group)]
    whole = sorted([value for value in row if value is not None] for row in rows if None not in row)
    return [[row[i] for row in whole] for i in range(len(names))]


def _values(table: Table, column: str) -> Sequence[str]:
    """The different texts of a column, in order of first appearance."""
    index = table.columns.index(column)
    return tuple(dict.fromkeys(str(row[index]) for row in table.rows))


def _number(cell: Cell) -> float | None:
    return float(cell) if isinstance(cell, int | float) and cell == cell else None


def _least(grid: Iterable[Iterable[float]]) -> float:
    return min((value for line in grid for value in line if value == value), default=0.0)


def _most(grid: Iterable[Iterable[float]]) -> float:
    return max((value for line in grid for value in line if value == value), default=1.0)


def _short(name: str) -> str:
    plain = " ".join(name.split())
    return plain if len(plain) <= 40 else f"{plain[:39]}…"
