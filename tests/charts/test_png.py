"""Charts as PNG."""

from __future__ import annotations

import io

import pytest
from charts.charts import TABLE, make_chart
from PIL import Image

from salva.charts.drawing import draw_chart
from salva.charts.png import png_file
from salva.core.chart import ChartKind
from salva.core.table import Table


@pytest.mark.parametrize("kind", ChartKind)
@pytest.mark.parametrize("is_empty", [False, True])
def test_every_kind_is_drawn(kind: ChartKind, is_empty: bool) -> None:
    table = Table(name="none", columns=TABLE.columns, rows=()) if is_empty else TABLE
    data = png_file(draw_chart(make_chart(kind, table), 340))
    assert data == png_file(draw_chart(make_chart(kind, table), 340)), "the same chart gives the same bytes"
    image = Image.open(io.BytesIO(data))
    assert image.width == 2 * (340 + 24)
    assert min(image.size) > 100
    darkest = min(image.convert("L").tobytes())
    assert darkest < 160, "nothing was drawn"


def test_bar_length_matches_the_value() -> None:
    """Count pixels of the bar's colour: twice the value, twice the bar."""

    def n_coloured(value: float) -> int:
        table = Table(name="one", columns=("category", "kappa"), rows=(("a", value),))
        scene = draw_chart(make_chart(table=table, ends=(0.0, 1.0)), 520)
        pixels = Image.open(io.BytesIO(png_file(scene))).convert("RGB").get_flattened_data()
        return sum(red > 170 and green < 110 and blue < 90 for red, green, blue in pixels)  # type: ignore[misc]  # RGB

    assert n_coloured(0.8) == pytest.approx(2 * n_coloured(0.4), rel=0.02)
