"""The charts of a run: those of several models joined, and all of them as files."""

from __future__ import annotations

from pathlib import Path

from figures.charts import TABLE, make_chart

from salva.core.chart import Chart, ChartKind
from salva.core.table import Table
from salva.report.chart_files import all_charts, write_figures
from salva.report.summary import ModelSummary, Summary


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
