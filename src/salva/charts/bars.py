"""Horizontal bars and box plots: one name a line, the first on top."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import quantiles

from salva.charts.layout import (
    BOLD,
    NARROW,
    SMALL,
    Scale,
    colour_of,
    ends_of,
    fit_text,
    hatch,
    legend,
    text_width,
    value_axis,
    wrap_text,
)
from salva.charts.reading import (
    Row,
    choices,
    counts_text,
    groups_of,
    mark_title,
    names_of,
    number,
    numbers_of,
    rows_of,
    shown_value,
    small_print,
    value_text,
    word,
)
from salva.charts.scene import INK, SOFT, TRACK, Colour, Dots, Line, Mark, Part, Rect, Shape, Text
from salva.core.chart import Chart

_SIZE = 12.5
_THICK = 13.0
_GAP = 9.0
_NOTE = 10.5


def has_axis(chart: Chart) -> bool:
    """Whether there is an axis of values; bars on tracks from 0 to 100 % need none."""
    return (chart.ends, chart.is_share) != ((0.0, 1.0), True) or bool(chart.marks)


def draw_bars(chart: Chart, width: float, top: float) -> tuple[list[Part], float]:
    """One bar a row, with its interval, value and number of cases."""
    names, groups = names_of(chart, chart.x), groups_of(chart)
    rows = {(str(row[chart.x]), group): row for group in groups for row in rows_of(chart, group)}
    values = [number(row[column]) for row in rows.values() for column in (chart.y, chart.low, chart.high) if column]
    low, high = ends_of(chart, [value for value in values if value is not None], has_zero=True)
    label_width = _label_width(chart, names, width)
    value_width = max(text_width(shown_value(chart, row), _SIZE * BOLD) for row in rows.values()) + 8
    scale = Scale(low, high, label_width, width - value_width)
    parts, y = legend(chart, width, top)
    begin = y
    bars: list[Part] = []
    for name in names:
        label, y = _label(chart, name, label_width, width, y)
        series = [(i, row) for i, group in enumerate(groups) if (row := rows.get((name, group))) is not None]
        for nth, (i, row) in enumerate(series):
            shapes, end = _bar(chart, row, colour_of(chart, i), scale, width, y)
            # The name belongs to the first bar, whatever its series.
            if not nth:
                shapes = (*label, *shapes)
            start = y - (18 if label_width == 0 and not nth else 0)
            area = Rect(x=0, y=start - 2, width=width, height=end - start + 2)
            bars.append(Mark(parts=(area, *shapes), title=mark_title(chart, row), chooses=choices(chart, row)))
            y = end
        y += _GAP
    if has_axis(chart):
        parts += value_axis(chart, scale, begin, y, width)
        y += 36
    return parts + bars, y


def _bar(
    chart: Chart, row: Row, colour: Colour, scale: Scale, width: float, y: float
) -> tuple[tuple[Shape, ...], float]:
    """The shapes of a bar, and where the next one begins."""
    value = number(row[chart.y])
    low, high = (number(row[column]) if column else None for column in (chart.low, chart.high))
    is_few = bool(counts_text(chart, row))
    shapes: list[Shape] = [Rect(x=scale.start, y=y, width=scale.end - scale.start, height=_THICK, fill=TRACK, radius=3)]
    if value is not None:
        start, end = sorted((scale(0.0), scale(value)))
        fill = Colour(colour.role, 0.4 if is_few else 0.8)
        shapes.append(Rect(x=start, y=y, width=end - start, height=_THICK, fill=fill, radius=3))
    if is_few:
        shapes += hatch(scale.start, y, scale.end - scale.start, _THICK)
    elif low is not None and high is not None:
        middle = y + _THICK / 2
        shapes.append(Line(points=((scale(low), middle), (scale(high), middle)), stroke=INK, width=2))
    text, note = shown_value(chart, row), small_print(chart, row)
    shapes.append(Text(x=width, y=y + 11, text=text, size=_SIZE, anchor="end", is_bold=True))
    if note:
        # Clear of a line across the chart where the bars begin.
        shapes.append(Text(x=scale.start + 4 * bool(chart.marks), y=y + _THICK + 12, text=note, size=_NOTE, fill=SOFT))
    return tuple(shapes), y + _THICK + (16 if note else 4)


def draw_boxes(chart: Chart, width: float, top: float) -> tuple[list[Part], float]:
    """Boxes from the first to the third quartile with the median, whiskers up to 1.5 times that, dots beyond."""
    names, groups = names_of(chart, chart.x), groups_of(chart)
    every = [value for (value,) in numbers_of(chart, "", chart.y)]
    label_width, count_width = _label_width(chart, names, width), text_width(f"n {len(every)}", SMALL) + 8
    scale = Scale(*ends_of(chart, every), label_width + 4, width - count_width)
    parts, y = legend(chart, width, top)
    begin = y
    boxes: list[Part] = []
    for name in names:
        label, y = _label(chart, name, label_width, width, y)
        for i, group in enumerate(groups):
            rows = [row for row in rows_of(chart, group) if str(row[chart.x]) == name]
            values = sorted(value for row in rows if (value := number(row[chart.y])) is not None)
            shapes = [*(() if i else label), *(_box(values, colour_of(chart, i), scale, y) if values else ())]
            shapes.append(Text(x=width, y=y + 11, text=f"n {len(values)}", size=SMALL, fill=SOFT, anchor="end"))
            subject = ", ".join(word(chart, part) for part in (name, group) if part)
            median = value_text(chart, _quartiles(values)[1]) if values else "no value"
            title = f"{subject}: median {median} (n {len(values)})"
            area = Rect(x=0, y=y - 2, width=width, height=_THICK + 6)
            chosen = choices(chart, rows[0]) if rows else ()
            boxes.append(Mark(parts=(area, *shapes), title=title, chooses=chosen))
            y += _THICK + 5
        y += _GAP
    return parts + value_axis(chart, scale, begin - 4, y, width) + boxes, y + 36


def _box(values: Sequence[float], colour: Colour, scale: Scale, y: float) -> list[Shape]:
    first, median, third = _quartiles(values)
    reach = 1.5 * (third - first)
    inside = [value for value in values if first - reach <= value <= third + reach]
    beyond = [value for value in values if not first - reach <= value <= third + reach]
    middle, end = y + _THICK / 2, y + _THICK
    shapes: list[Shape] = [
        Line(points=((scale(inside[0]), middle), (scale(inside[-1]), middle)), stroke=SOFT, width=1.2),
        Rect(
            x=scale(first),
            y=y,
            width=scale(third) - scale(first),
            height=_THICK,
            fill=Colour(colour.role, 0.3),
            edge=SOFT,
            radius=2,
        ),
        Line(points=((scale(median), y - 1), (scale(median), end + 1)), stroke=colour, width=2.6),
    ]
    shapes += [
        Line(points=((scale(tip), y + 3), (scale(tip), end - 3)), stroke=SOFT, width=1.2)
        for tip in (inside[0], inside[-1])
    ]
    if beyond:
        shapes.append(Dots(points=tuple((scale(value), middle) for value in beyond), radius=1.8, fill=SOFT))
    return shapes


def _quartiles(values: Sequence[float]) -> list[float]:
    return quantiles(values, n=4, method="inclusive") if len(values) > 1 else [values[0]] * 3


def _label_width(chart: Chart, names: Sequence[str], width: float) -> float:
    if width < NARROW:
        return 0.0
    return min(0.38 * width, max(text_width(word(chart, name), _SIZE) for name in names) + 14)


def _label(chart: Chart, name: str, label_width: float, width: float, y: float) -> tuple[list[Text], float]:
    """The name of a bar, beside or above it, and where the bar begins."""
    if not label_width:
        return [Text(x=0, y=y + 12, text=fit_text(word(chart, name), width, _SIZE), size=_SIZE)], y + 18
    lines = wrap_text(word(chart, name), label_width - 10, _SIZE, max_lines=2)
    return [Text(x=0, y=y + 11 + 14 * i, text=line, size=_SIZE) for i, line in enumerate(lines)], y
