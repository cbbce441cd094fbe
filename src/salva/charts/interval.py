"""The picture of a failure rate: its interval from 0 to 100 %, the bounds around it, and chance beside it."""

from __future__ import annotations

from dataclasses import dataclass

from salva.charts.formats import percent_text
from salva.charts.layout import BOLD, SMALL, Scale, caption, text_width
from salva.charts.scene import BAD, SOFT, TRACK, Colour, DrawnChart, Line, Part, Rect, Text

_TOP, _HIGH = 22.0, 32.0
_SIZE = 13.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RateWithInterval:
    """What is drawn; all shares."""

    rate: float
    low: float
    high: float
    bounds: tuple[float, float] | None = None
    """What the undecided leave open."""
    chance: float | None = None
    """The rate of shuffled images."""


def draw_interval(of: RateWithInterval, width: float) -> DrawnChart:
    """A track from 0 to 100 %, the interval on it, the rate below it, and chance above it."""
    scale, bottom = Scale(0.0, 1.0, 0.0, width), _TOP + _HIGH
    middle = _TOP + _HIGH / 2
    parts: list[Part] = [Rect(x=0, y=_TOP, width=width, height=_HIGH, fill=TRACK, radius=6)]
    left, right = scale(of.low), scale(of.high)
    parts.append(
        Rect(x=left, y=_TOP + 7, width=max(2.0, right - left), height=_HIGH - 14, fill=Colour(BAD, 0.38), radius=4)
    )
    if of.bounds is not None:
        ends = [scale(end) for end in of.bounds]
        parts.append(Line(points=((ends[0], middle), (ends[1], middle)), stroke=SOFT, width=1.4))
        parts += [Line(points=((end, middle - 5), (end, middle + 5)), stroke=SOFT, width=1.4) for end in ends]
    at = scale(of.rate)
    parts.append(Rect(x=min(max(at - 1.5, 0), width - 3), y=_TOP + 2, width=3, height=_HIGH - 4, fill=Colour(BAD)))
    if of.chance is not None:
        x = scale(of.chance)
        for step in range(4):
            top = _TOP + 1 + step * 8
            parts.append(Line(points=((x, top), (x, top + 5)), stroke=SOFT, width=2))
        parts.append(caption(f"shuffled images {percent_text(of.chance)}", x, _TOP - 8, width))
    parts += _foot(of, at, bottom + 18, width)
    return DrawnChart(width=width, height=bottom + 24, parts=tuple(parts), label=_label(of))


def _foot(of: RateWithInterval, at: float, base: float, width: float) -> list[Part]:
    """The rate under its place, and the ends of the track where there is room for them."""
    text = percent_text(of.rate)
    half = text_width(text, _SIZE * BOLD) / 2
    x = min(max(at, half), width - half)
    parts: list[Part] = [Text(x=x, y=base, text=text, size=_SIZE, anchor="middle", is_bold=True)]
    if x - half > 40:
        parts.append(Text(x=0, y=base, text="0 %", size=SMALL, fill=SOFT))
    if x + half < width - 50:
        parts.append(Text(x=width, y=base, text="100 %", size=SMALL, fill=SOFT, anchor="end"))
    return parts


def _label(of: RateWithInterval) -> str:
    chance = "" if of.chance is None else f"; shuffled images {percent_text(of.chance)}"
    return (
        f"Failure rate {percent_text(of.rate)}, 95 % interval {percent_text(of.low)} to {percent_text(of.high)}{chance}"
    )
