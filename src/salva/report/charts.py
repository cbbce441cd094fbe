"""Tables to charts: geometry and words, no markup.

A chart is plain numbers and text that a template draws; colours are named by class, because
the page allows no inline styles. Knows tables by name and does without those that are missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from salva.core.table import Cell, Table
from salva.figures.formats import column_values, interval_text, lookup, percent
from salva.report.summary import ModelSummary

HEAT_STEPS = 20
PLOT_WIDTH, PLOT_HEIGHT = 560, 330
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 84, 14, 44


@dataclass(frozen=True, slots=True, kw_only=True)
class HeatCell:
    """One cell of a heat map."""

    text: str
    note: str
    """Sample size, for the small print."""
    title: str
    step: int | None
    """0 to HEAT_STEPS; None for an empty cell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeatMap:
    """Rates by two labels, with the margins."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[HeatCell, ...]], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """A share with its interval, all in percent."""

    label: str
    text: str
    note: str
    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A mark of a curve."""

    x: float
    y: float
    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One curve."""

    label: str
    points: tuple[Point, ...]
    label_y: float
    """Where its name stands, kept clear of the others' names."""

    @property
    def path(self) -> str:
        """The curve as SVG points."""
        return " ".join(f"{point.x},{point.y}" for point in self.points)


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """Rates over a number, one line for each value of a label."""

    lines: tuple[Line, ...]
    band: str
    """The interval of all lines together, as SVG points; empty for none."""
    ticks_x: tuple[tuple[float, str], ...]
    ticks_y: tuple[tuple[float, str], ...]


def heat_map(model: ModelSummary) -> HeatMap | None:
    """Law by modifier, with each law's and each modifier's own rate at the edges."""
    table, by_law, by_modifier = (model.table(name) for name in ("law by modifier", "by law", "by modifier"))
    modifiers, laws = column_values(table, "modifier"), column_values(table, "law")
    if not laws:
        return None
    rows = []
    for law in laws:
        cells = [_heat_cell(lookup(table, law=law, modifier=modifier)) for modifier in modifiers]
        rows.append((law, (*cells, _heat_cell(lookup(by_law, law=law)))))
    edge = [_heat_cell(lookup(by_modifier, modifier=modifier)) for modifier in modifiers]
    macro = model.numbers.get("macro_rate")
    n_categories = model.numbers.get("n_categories") or 0
    corner = HeatCell(
        text=percent(macro, 0),
        note="macro",
        title=f"mean over {n_categories:g} categories: {percent(macro)}",
        step=_step(macro),
    )
    rows.append(("all laws", (*edge, corner)))
    return HeatMap(columns=(*modifiers, "all"), rows=tuple(rows))


def rate_bars(table: Table | None, label: str) -> tuple[Bar, ...]:
    """A table of rates as bars with intervals."""
    bars = []
    for row in table.rows if table else ():
        named = dict(zip(table.columns, row, strict=True)) if table else {}
        rate, low, high = (_number(named.get(column)) for column in ("rate", "low", "high"))
        if rate is not None:
            bars.append(
                Bar(
                    label=str(named[label]),
                    text=percent(rate),
                    note=f"{named['violated']} of {named['n']}, {interval_text(low, high)}",
                    value=round(rate * 100, 2),
                    low=None if low is None else round(low * 100, 2),
                    high=None if high is None else round(high * 100, 2),
                )
            )
    return tuple(bars)


def error_bars(model: ModelSummary) -> tuple[Bar, ...]:
    """Error types by their share of the violated pairs."""
    table = model.table("error types")
    bars = []
    for error in column_values(table, "error"):
        row = lookup(table, error=error) or {}
        share = _number(row.get("share_of_violated")) or 0.0
        bars.append(Bar(label=error, text=percent(share, 0), note=f"{row.get('n')} pairs", value=round(share * 100, 2)))
    return tuple(bars)


def number_curve(model: ModelSummary) -> Curve | None:
    """Rates over the number of things, one line an entity, with the interval over all of them."""
    table, pooled = model.table("numbering by count and entity"), model.table("numbering by count")
    counts = sorted(int(count) for count in column_values(pooled, "count") if count.isdecimal())
    if table is None or len(counts) < 2:
        return None
    plot = _Plot(counts)
    lines = []
    for entity in column_values(table, "entity"):
        points = []
        for count in counts:
            row = lookup(table, entity=entity, count=str(count))
            rate = _number(row.get("rate")) if row else None
            if row is not None and rate is not None:
                title = f"{count} {entity}: {percent(rate)} ({row['violated']} of {row['n']})"
                points.append(Point(x=plot.x(count), y=plot.y(rate), title=title))
        if points:
            lines.append((entity, tuple(points)))
    if not lines:
        return None
    heights = _apart([points[-1].y for _, points in lines])
    return Curve(
        lines=tuple(
            Line(label=entity, points=points, label_y=y) for (entity, points), y in zip(lines, heights, strict=True)
        ),
        band=_band(plot, pooled, counts),
        ticks_x=tuple((plot.x(count), str(count)) for count in counts),
        ticks_y=tuple((plot.y(share / 4), f"{share * 25}") for share in range(5)),
    )


class _Plot:
    """Where a count and a rate lie in the plot."""

    def __init__(self, counts: Sequence[int]) -> None:
        self._first, self._span = counts[0], counts[-1] - counts[0]

    def x(self, count: int) -> float:
        """Pixels from the left."""
        return round(_LEFT + (count - self._first) / self._span * (PLOT_WIDTH - _LEFT - _RIGHT), 1)

    def y(self, rate: float) -> float:
        """Pixels from the top."""
        return round(_TOP + (1 - rate) * (PLOT_HEIGHT - _TOP - _BOTTOM), 1)


def _band(plot: _Plot, pooled: Table | None, counts: Sequence[int]) -> str:
    ends = []
    for count in counts:
        row = lookup(pooled, count=str(count)) or {}
        low, high = _number(row.get("low")), _number(row.get("high"))
        if low is not None and high is not None:
            ends.append((plot.x(count), plot.y(low), plot.y(high)))
    upper = [f"{x},{high}" for x, _, high in ends]
    lower = [f"{x},{low}" for x, low, _ in reversed(ends)]
    return " ".join(upper + lower)


def _apart(heights: Sequence[float], gap: float = 17.0) -> list[float]:
    """The heights moved down just enough that no two names overlap, then back up into the plot."""
    placed: dict[int, float] = {}
    floor = -gap
    for index in sorted(range(len(heights)), key=lambda index: heights[index]):
        floor = max(heights[index], floor + gap)
        placed[index] = floor
    overshoot = max(0.0, max(placed.values(), default=0.0) - (PLOT_HEIGHT - _BOTTOM))
    return [round(placed[index] - overshoot, 1) for index in range(len(heights))]


def _heat_cell(row: dict[str, Cell] | None) -> HeatCell:
    rate = _number(row.get("rate")) if row else None
    if row is None or rate is None:
        return HeatCell(text="–", note="", title="nothing decided", step=None)
    title = f"{row['violated']} of {row['n']}, {interval_text(_number(row['low']), _number(row['high']))}"
    return HeatCell(text=percent(rate, 0), note=f"n {row['n']}", title=title, step=_step(rate))


def _step(rate: float | None) -> int | None:
    return None if rate is None else round(rate * HEAT_STEPS)


def _number(value: Cell) -> float | None:
    return float(value) if isinstance(value, int | float) else None
