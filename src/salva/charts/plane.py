"""Charts with two axes of numbers: scatter plots, and lines with bands."""

from __future__ import annotations

from dataclasses import dataclass

from salva.charts.layout import (
    NARROW,
    SMALL,
    Scale,
    caption,
    colour_of,
    ends_of,
    fit_text,
    legend,
    text_width,
    tick_text,
    ticks,
)
from salva.charts.reading import groups_of, number, numbers_of, rows_of, value_text, word
from salva.charts.scene import LINE, PAPER, SOFT, Area, Dots, Line, Mark, Part, Text
from salva.core.chart import Chart

_RIGHT = 10.0
_CROWD = 200
"""From this many points on, they are drawn fainter."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plane:
    """The scales and the drawn axes."""

    x: Scale
    y: Scale
    parts: list[Part]
    bottom: float


def draw_scatter(chart: Chart, width: float, top: float) -> tuple[list[Part], float]:
    """One dot a row."""
    parts, y = legend(chart, width, top)
    plane = _plane(chart, width, y)
    dots: list[Part] = []
    for index, group in enumerate(groups_of(chart)):
        points = numbers_of(chart, group, chart.x, chart.y)
        places = tuple((plane.x(x), plane.y(y)) for x, y in points)
        shape = Dots(
            points=places, radius=2.8, fill=colour_of(chart, index), opacity=0.75 if len(points) < _CROWD else 0.35
        )
        subject = word(chart, group) or chart.title
        dots.append(Mark(parts=(shape,), title=f"{subject}: {len(points)} points"))
    return parts + plane.parts + dots, plane.bottom


def draw_lines(chart: Chart, width: float, top: float) -> tuple[list[Part], float]:
    """One line a series, with a band if rows have intervals."""
    parts, y = legend(chart, width, top)
    plane = _plane(chart, width, y)
    bands: list[Part] = []
    lines: list[Part] = []
    for index, group in enumerate(groups_of(chart)):
        colour = colour_of(chart, index)
        if chart.low and chart.high:
            edges = numbers_of(chart, group, chart.x, chart.low, chart.high)
            outline = [(plane.x(x), plane.y(high)) for x, _, high in edges]
            outline += [(plane.x(x), plane.y(low)) for x, low, _ in reversed(edges)]
            if len(outline) > 2:
                bands.append(Area(points=tuple(outline), fill=colour, opacity=0.14))
        points = tuple((plane.x(x), plane.y(y)) for x, y in numbers_of(chart, group, chart.x, chart.y))
        shapes = (
            Line(points=points, stroke=colour, width=2.2),
            Dots(points=points, radius=3.6, fill=colour),
            Dots(points=points, radius=1.8, fill=PAPER),
        )
        lines.append(Mark(parts=shapes if points else (), title=_line_title(chart, group)))
    return parts + plane.parts + bands + lines, plane.bottom


def _line_title(chart: Chart, group: str) -> str:
    """Every point of a line as text."""
    points = [f"{row[chart.x]}: {value_text(chart, number(row[chart.y]))}" for row in rows_of(chart, group)]
    return f"{word(chart, group) or chart.y_label}, {', '.join(points)}"


def _plane(chart: Chart, width: float, top: float) -> _Plane:
    """The axes: grid lines at round values, numbers beside them, labels above and below."""
    both = numbers_of(chart, "", chart.x, chart.y)
    low_x, high_x = min((x for x, _ in both), default=0.0), max((x for x, _ in both), default=1.0)
    low_y, high_y = ends_of(chart, [y for _, y in both])
    is_whole = all(x == int(x) for x, _ in both) and high_x - low_x <= 12
    margin = 0.0 if is_whole and low_x < high_x else 0.03 * (high_x - low_x) or 0.5
    heights = ticks(low_y, high_y)
    left = max(text_width(tick_text(chart, value), SMALL) for value in heights) + 10
    begin = top + (20.0 if chart.y_label else 8.0)
    end = begin + (200.0 if width < NARROW else 250.0)
    x = Scale(low_x - margin, high_x + margin, left, width - _RIGHT)
    y = Scale(low_y, high_y, end, begin)
    parts: list[Part] = []
    for value in heights:
        parts.append(Line(points=((left, y(value)), (width - _RIGHT, y(value))), stroke=LINE))
        text = tick_text(chart, value)
        parts.append(Text(x=left - 8, y=y(value) + 4, text=text, size=SMALL, fill=SOFT, anchor="end"))
    for value in range(int(low_x), int(high_x) + 1) if is_whole else ticks(x.low, x.high):
        parts.append(Text(x=x(value), y=end + 17, text=f"{value:g}", size=SMALL, fill=SOFT, anchor="middle"))
    parts += [Line(points=((left, y(mark)), (width - _RIGHT, y(mark))), stroke=SOFT) for mark in chart.marks]
    if chart.y_label:
        parts.append(Text(x=0, y=top + 10, text=fit_text(chart.y_label, width, SMALL), size=SMALL, fill=SOFT))
    if chart.x_label:
        parts.append(caption(chart.x_label, (left + width - _RIGHT) / 2, end + 36, width))
    return _Plane(x=x, y=y, parts=parts, bottom=end + (44 if chart.x_label else 26))
