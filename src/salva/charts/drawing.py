"""From charts to shapes, in one style for page, PDF and files.

Does not decide which charts there are, and knows no file formats.
"""

from __future__ import annotations

from salva.charts.bars import draw_bars, draw_boxes, has_axis
from salva.charts.heat_map import draw_heat_map
from salva.charts.layout import BOLD, SMALL, fit_text, wrap_text
from salva.charts.plane import draw_lines, draw_scatter
from salva.charts.reading import n_left_out
from salva.charts.scene import SOFT, DrawnChart, Part, Text
from salva.core.chart import Chart, ChartKind

_DRAW = {
    ChartKind.BARS: draw_bars,
    ChartKind.HEAT_MAP: draw_heat_map,
    ChartKind.BOXES: draw_boxes,
    ChartKind.SCATTER: draw_scatter,
    ChartKind.LINES: draw_lines,
}
_TITLE = 16.0


def draw_chart(chart: Chart, width: float, *, has_title: bool = False) -> DrawnChart:
    """The chart at a width; its height follows."""
    parts: list[Part] = []
    top = 0.0
    for line in wrap_text(chart.title, width, _TITLE * BOLD) if has_title else ():
        parts.append(Text(x=0, y=top + _TITLE, text=line, size=_TITLE, is_bold=True))
        top += 24
    has_no_axis = chart.kind is ChartKind.HEAT_MAP or (chart.kind is ChartKind.BARS and not has_axis(chart))
    if has_title and chart.y_label and has_no_axis:
        parts.append(Text(x=0, y=top + 10, text=fit_text(chart.y_label, width, SMALL), size=SMALL, fill=SOFT))
        top += 20
    if chart.table.rows:
        body, height = _DRAW[chart.kind](chart, width, top + 6 * has_title)
        parts += body
        if missing := n_left_out(chart):
            parts.append(Text(x=0, y=height + 12, text=f"{missing} more in the table", size=SMALL, fill=SOFT))
            height += 18
    else:
        height = top + 60
        parts.append(Text(x=width / 2, y=top + 34, text="nothing to draw", fill=SOFT, anchor="middle"))
    return DrawnChart(width=width, height=height, parts=tuple(parts), label=chart.title)
