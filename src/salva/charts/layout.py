"""What all kinds of charts share: widths of text, scales, ticks, axes and legends."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10

from salva.charts.reading import groups_of, has_counts, word
from salva.charts.scene import LINE, SERIES, SOFT, Colour, Line, Part, Rect, Text
from salva.core.chart import Chart

SMALL = 11.0
BOLD = 1.13
"""The width of bold letters, relative to others."""
NARROW = 420.0
"""Below this width names are above their bars instead of beside them."""
_TICKS = 5
_HATCH, _HATCHED = 7.0, Colour("soft", 0.35)


def text_width(text: str, size: float) -> float:
    """The approximate width of a text; fonts differ, so it is rather too large."""
    return size * sum(map(_em, text))


def _em(letter: str) -> float:
    if unicodedata.east_asian_width(letter) in "WF":
        return 1.0
    return 0.36 if letter in "iljtf.,:;|!'()[] " else 0.92 if letter in "mwMW%@" else 0.7 if letter.isupper() else 0.61


def fit_text(text: str, width: float, size: float) -> str:
    """The text, cut if it is too wide."""
    if text_width(text, size) <= width:
        return text
    while text and text_width(f"{text}…", size) > width:
        text = text[:-1]
    return f"{text.rstrip()}…"


def wrap_text(text: str, width: float, size: float, max_lines: int = 3) -> list[str]:
    """The text on several lines, broken after blanks, hyphens, underscores and slashes; the last line is cut."""
    lines = [""]
    for piece in re.findall(r"[^\s/_-]+[\s/_-]*|[\s/_-]+", text):
        if lines[-1] and text_width((lines[-1] + piece).strip(), size) > width and len(lines) < max_lines:
            lines.append("")
        lines[-1] += piece
    return [fit_text(line.strip(), width, size) for line in lines]


@dataclass(frozen=True, slots=True)
class Scale:
    """From values to positions."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)


def ends_of(chart: Chart, values: Sequence[float], *, has_zero: bool = False) -> tuple[float, float]:
    """The ends of an axis: those of the chart, or round numbers around its values."""
    if chart.ends and chart.ends[0] < chart.ends[1]:
        return chart.ends
    low, high = min(values, default=0.0), max(values, default=1.0)
    if has_zero:
        low, high = min(low, 0.0), max(high, 0.0)
    if low == high:
        low, high = low - 0.5, high + 0.5
    step = _step(high - low)
    return floor(low / step) * step, ceil(high / step) * step


def ticks(low: float, high: float) -> list[float]:
    """Round numbers from low to high."""
    step = _step(high - low)
    first = ceil(low / step - 1e-9)
    return [round(index * step, 10) for index in range(first, floor(high / step + 1e-9) + 1)]


def _step(span: float) -> float:
    rough = span / _TICKS
    power = 10.0 ** floor(log10(rough))
    return next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= rough * 0.999)


def tick_text(chart: Chart, value: float) -> str:
    """A round number on an axis of values."""
    return f"{value * 100:g} %" if chart.is_share else f"{value:g}"


def hatch(x: float, y: float, width: float, height: float) -> Iterator[Line]:
    """Thin lines from the lower left to the upper right of a box."""
    for step in range(1, floor((width + height) / _HATCH) + 1):
        reach = step * _HATCH
        start = (x + max(0.0, reach - height), y + min(reach, height))
        end = (x + min(reach, width), y + max(0.0, reach - width))
        yield Line(points=(start, end), stroke=_HATCHED, width=0.8)


def caption(text: str, middle: float, y: float, width: float) -> Text:
    """A small centred text, moved if it would leave the drawing."""
    text = fit_text(text, width, SMALL)
    half = text_width(text, SMALL) / 2
    return Text(x=min(max(middle, half), width - half), y=y, text=text, size=SMALL, fill=SOFT, anchor="middle")


def value_axis(chart: Chart, scale: Scale, top: float, bottom: float, width: float) -> list[Part]:
    """A horizontal axis: its grid lines from top to bottom, numbers, marks and label."""
    parts: list[Part] = []
    is_whole = has_counts(chart)
    for value in ticks(scale.low, scale.high):
        if is_whole and value != int(value):
            continue
        parts.append(Line(points=((scale(value), top), (scale(value), bottom)), stroke=LINE))
        parts.append(caption(tick_text(chart, value), scale(value), bottom + 15, width))
    parts += [Line(points=((scale(mark), top), (scale(mark), bottom)), stroke=SOFT) for mark in chart.marks]
    if chart.y_label:
        parts.append(caption(chart.y_label, (scale.start + scale.end) / 2, bottom + 32, width))
    return parts


def colour_of(chart: Chart, number: int) -> Colour:
    """The colour of a series; if high values are good, the first is not that of failures."""
    if chart.edge and groups_of(chart)[number] == chart.edge:
        return SOFT
    return Colour(SERIES[(number + chart.is_high_good) % len(SERIES)])


def legend(chart: Chart, width: float, top: float) -> tuple[list[Part], float]:
    """Colours and names of several series, and where the chart begins."""
    groups = groups_of(chart)
    if len(groups) < 2:
        return [], top
    parts: list[Part] = []
    x, y = 0.0, top
    for number, group in enumerate(groups):
        name = fit_text(word(chart, group), width - 16, SMALL)
        entry_width = 16 + text_width(name, SMALL) + 14
        if x and x + entry_width > width:
            x, y = 0.0, y + 18
        parts.append(Rect(x=x, y=y + 2, width=10, height=10, radius=2, fill=colour_of(chart, number)))
        parts.append(Text(x=x + 16, y=y + 11, text=name, size=SMALL))
        x += entry_width
    return parts, y + 24
