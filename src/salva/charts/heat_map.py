"""Heat maps: one cell a row of the table, coloured by its value, with the value in it."""

from __future__ import annotations

from salva.charts.layout import BOLD, NARROW, SMALL, fit_text, hatch, text_width, wrap_text
from salva.charts.reading import (
    Row,
    cells_of,
    choices,
    counts_text,
    mark_title,
    n_text,
    names_of,
    number,
    shown_value,
    word,
)
from salva.charts.scene import BAD, FINE, INK, LINE, ON_STRONG, SOFT, Colour, Mark, Part, Rect, Text
from salva.core.chart import Chart

_SIZE, _SPACE = 12.5, 3.0
_FAINT = 0.4
"""How strong the colour of a cell with few results is, beside that of others."""
_STRONG = 0.8
"""From this share of the scale on, text is light."""


def draw_heat_map(chart: Chart, width: float, top: float) -> tuple[list[Part], float]:
    """Columns are x, lines are y; totals are set apart."""
    columns, lines, cells = names_of(chart, chart.x), names_of(chart, chart.y), cells_of(chart)
    longest = max(text_width(word(chart, line), _SIZE * BOLD) for line in lines)
    labels = min((0.3 if width < NARROW else 0.36) * width, longest + 12)
    step = (width - labels) / len(columns)
    high = 44.0 if chart.n else 32.0
    heads = [wrap_text(word(chart, column), step - 6, SMALL * BOLD) for column in columns]
    parts: list[Part] = []
    y = top + 15 * max(map(len, heads)) + 4
    for index, head in enumerate(heads):
        for row, line in enumerate(head):
            x, base = labels + step * (index + 0.5), y - 8 - 15 * (len(head) - 1 - row)
            parts.append(Text(x=x, y=base, text=line, size=SMALL, fill=SOFT, anchor="middle", is_bold=True))
    shade = _shade(chart, [number(row[chart.value]) for row in cells.values()])
    for line in lines:
        y += 5 * (line == chart.edge)
        names = wrap_text(word(chart, line), labels - 8, _SIZE * BOLD, max_lines=2)
        base = y + high / 2 + 3 - 7 * (len(names) - 1)
        parts += [Text(x=0, y=base + 14 * row, text=name, size=_SIZE, is_bold=True) for row, name in enumerate(names)]
        for index, column in enumerate(columns):
            apart = 5 * (column == chart.edge)
            place = Rect(
                x=labels + step * index + apart, y=y, width=step - _SPACE - apart, height=high - _SPACE, radius=4
            )
            parts.append(_cell(chart, cells.get((line, column)), place, shade))
        y += high
    return parts, y


def _shade(chart: Chart, values: list[float | None]) -> tuple[float, float]:
    present = [value for value in values if value is not None]
    low, high = chart.ends or (min(present, default=0.0), max(present, default=1.0))
    return low, high if high > low else low + 1.0


def _cell(chart: Chart, row: Row | None, place: Rect, shade: tuple[float, float]) -> Part:
    value = None if row is None else number(row[chart.value])
    middle = place.x + place.width / 2
    if row is None or value is None:
        empty = Rect(x=place.x, y=place.y, width=place.width, height=place.height, radius=4, edge=LINE)
        dash = Text(x=middle, y=place.y + place.height / 2 + 4, text="–", fill=SOFT, anchor="middle")
        return Mark(parts=(empty, dash), title="nothing decided")
    low, high = shade
    is_few = bool(counts_text(chart, row))
    share = min(max((value - low) / (high - low), 0.0), 1.0) * (_FAINT if is_few else 1.0)
    colour = Colour(FINE if chart.is_high_good else BAD, 0.04 + 0.92 * share)
    is_edge = chart.edge and chart.edge in (str(row[chart.x]), str(row[chart.y]))
    box = Rect(
        x=place.x,
        y=place.y,
        width=place.width,
        height=place.height,
        radius=4,
        fill=colour,
        edge=LINE if is_edge else None,
    )
    ink = ON_STRONG if share >= _STRONG else INK
    text = shown_value(chart, row, 0)
    size = min(13.5, place.width / max(1.0, text_width(text, BOLD)))
    note = fit_text(n_text(chart, row), place.width, 10.0)
    base = place.y + place.height / 2 + (-1 if note else 4.5)
    words = [Text(x=middle, y=base, text=text, size=size, fill=ink, anchor="middle", is_bold=True)]
    if note:
        words.append(Text(x=middle, y=base + 14, text=note, size=10.0, fill=ink, anchor="middle"))
    lines = hatch(place.x, place.y, place.width, place.height) if is_few else ()
    return Mark(parts=(box, *lines, *words), title=mark_title(chart, row), chooses=choices(chart, row))
