"""Tables and charts refuse columns that are not there, and texts where a number is drawn."""

from __future__ import annotations

from typing import Any

import pytest

from salva.core.chart import Chart, ChartKind
from salva.core.table import Cell, Table

TABLE = Table(name="t", columns=("law", "group", "rate", "n"), rows=(("a", "g", 0.5, 2), ("b", "g", None, "few")))


def chart(kind: ChartKind = ChartKind.BARS, table: Table = TABLE, **changes: Any) -> Chart:
    return Chart(**{"name": "c", "title": "c", "kind": kind, "table": table, "x": "law", "y": "rate", **changes})


def test_a_bar_chart_measures_its_y_alone() -> None:
    assert chart(series="group", n="n", filters={"law": "category"}).table is TABLE


@pytest.mark.parametrize("field", ["x", "y", "value", "series", "low", "high", "n", "filters"])
def test_a_column_that_is_not_there_is_refused(field: str) -> None:
    changes: dict[str, Any] = {field: {"z": "category"} if field == "filters" else "z"}
    with pytest.raises(ValueError, match="no column 'z'"):
        chart(**changes)


def test_a_heat_map_has_names_on_its_axes() -> None:
    assert chart(ChartKind.HEAT_MAP, y="group", value="rate").value == "rate"
    assert chart(ChartKind.HEAT_MAP, y="group").value == ""


def test_what_is_joined_names_its_models() -> None:
    models = Table(name="t", columns=("model", "rate"), rows=(("m", 1.0),), is_joined=True)
    assert chart(table=models, x="model", is_joined=True).is_joined
    with pytest.raises(ValueError, match="model"):
        chart(is_joined=True)
    with pytest.raises(ValueError, match="model"):
        Table(name="t", columns=("rate",), rows=(), is_joined=True)


@pytest.mark.parametrize("row", [(), (1,), (1, 2, 3)])
def test_a_row_fills_its_columns(row: tuple[Cell, ...]) -> None:
    with pytest.raises(ValueError, match="2 columns"):
        Table(name="t", columns=("a", "b"), rows=((1, 2), row))
