"""Charts as pictures: every kind is drawn, says what it must, and no text in it can do harm."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from PIL import Image

from salva.core.chart import Chart, ChartKind
from salva.core.table import Table
from salva.figures.drawing import render_chart
from salva.report.chart_files import all_charts, write_figures
from salva.report.summary import ModelSummary, Summary

TABLE = Table(
    name="by category",
    columns=("model", "category", "kappa", "low", "high", "n"),
    rows=(
        ("pocket", "colour", 0.5, 0.4, 0.6, 3),
        ("pocket", "$\\frac{1}{$ 猫 <b>", -0.25, None, None, 1),
        ("pocket", "size", None, None, None, 0),
    ),
)


def make_chart(kind: ChartKind = ChartKind.BARS, table: Table = TABLE, **others: object) -> Chart:
    columns = {"x": "n", "y": "kappa"} if kind in (ChartKind.SCATTER, ChartKind.LINES) else {}
    columns |= {"x": "category", "y": "model", "value": "kappa"} if kind is ChartKind.HEAT_MAP else {}
    fields = {"name": "kappa", "title": "Kappa", "x": "category", "y": "kappa", **columns, **others}
    return Chart(kind=kind, table=table, **fields)  # type: ignore[arg-type]  # fields of a chart by name


def summary_of(*models: tuple[str, tuple[Chart, ...]]) -> Summary:
    outcomes = dict.fromkeys(("HOLDS", "VIOLATED", "INCONCLUSIVE", "FAILED"), 0)
    return Summary(
        suite="semvar",
        cases=3,
        by_model=tuple(
            ModelSummary(model=name, outcomes=outcomes, errors={}, numbers={}, tables=(), charts=charts)
            for name, charts in models
        ),
    )


@pytest.mark.parametrize("kind", ChartKind)
@pytest.mark.parametrize("is_empty", [False, True])
def test_every_kind_is_drawn_with_gaps_and_without_rows(kind: ChartKind, is_empty: bool) -> None:
    table = Table(name="none", columns=TABLE.columns, rows=()) if is_empty else TABLE
    image = Image.open(io.BytesIO(render_chart(make_chart(kind, table), "png")))
    assert min(image.size) > 100
    darkest = min(image.convert("L").tobytes())
    assert darkest < 160, "nothing was drawn"


def test_the_same_chart_gives_the_same_bytes() -> None:
    assert render_chart(make_chart()) == render_chart(make_chart())
    assert render_chart(make_chart()) != render_chart(make_chart(title="Other"))


def test_a_longer_bar_is_longer() -> None:
    """Count pixels of the bar's colour: twice the value, twice the bar."""

    def n_coloured(value: float) -> int:
        table = Table(name="one", columns=("category", "kappa"), rows=(("a", value),))
        chart = make_chart(table=table, ends=(0.0, 1.0))
        pixels = Image.open(io.BytesIO(render_chart(chart, "png"))).convert("RGB").get_flattened_data()
        return sum(red > 170 and green < 80 and blue < 60 for red, green, blue in pixels)  # type: ignore[misc]  # RGB

    assert n_coloured(0.8) == pytest.approx(2 * n_coloured(0.4), rel=0.02)


def test_svg_draws_text_as_shapes_and_links_to_nothing() -> None:
    svg = render_chart(make_chart()).decode()
    assert "<script" not in svg
    assert not re.search(r'(?:href|src)="(?!#)', svg)


def test_charts_of_several_models_are_joined_where_they_say_so() -> None:
    other = Table(name="by category", columns=TABLE.columns, rows=(("painter", "colour", 0.9, 0.8, 1.0, 3),))
    heat = {"kind": ChartKind.HEAT_MAP, "is_joined": True}
    summary = summary_of(
        ("pocket", (make_chart(**heat), make_chart(name="own"))),  # type: ignore[arg-type]  # fields by name
        ("painter", (make_chart(table=other, **heat),)),  # type: ignore[arg-type]  # as above
    )
    found = list(all_charts(summary))
    assert [(model, chart.name) for model, chart in found] == [("", "kappa"), ("pocket", "own")]
    assert {row[0] for row in found[0][1].table.rows} == {"pocket", "painter"}


def test_files_are_named_after_chart_and_model(tmp_path: Path) -> None:
    one = summary_of(("a/b:c", (make_chart(),)))
    assert sorted(path.name for path in write_figures(one, tmp_path)) == ["kappa.png", "kappa.svg"]
    two = summary_of(("a/b:c", (make_chart(),)), ("d", (make_chart(),)))
    names = {path.name for path in write_figures(two, tmp_path / "two")}
    assert names == {"a-b-c-kappa.png", "a-b-c-kappa.svg", "d-kappa.png", "d-kappa.svg"}
    assert {path.name for path in (tmp_path / "two").iterdir()} == names


def test_a_chart_of_a_column_that_is_not_there_is_refused() -> None:
    with pytest.raises(ValueError, match="'gamma'"):
        make_chart(y="gamma")
    with pytest.raises(ValueError, match="'model'"):
        make_chart(table=Table(name="t", columns=("category", "kappa"), rows=()), is_joined=True)
