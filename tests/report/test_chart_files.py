"""The charts of a run: those of several models joined, and all of them as files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from charts.charts import TABLE, make_chart
from report.fake_runs import random_run

from salva.charts.reading import value_text
from salva.core.chart import Chart, ChartKind
from salva.core.table import Table
from salva.core.verdict import Outcome
from salva.report.chart_files import all_charts, write_figures
from salva.report.summary import ModelSummary, Summary, summarise


def summary_of(*models: tuple[str, tuple[Chart, ...]]) -> Summary:
    outcomes = dict.fromkeys(("PASS", "FAIL", "UNDECIDED", "ERROR"), 0)
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


def bars(*rows: tuple[str, float | None]) -> Chart:
    table = Table(name="by law", columns=("law", "rate"), rows=rows)
    return Chart(
        name="by-law", title="By law", kind=ChartKind.BARS, table=table, x="law", y="rate", filters={"law": "label:law"}
    )


def test_plain_bars_of_several_models_are_one_chart_in_their_colours() -> None:
    summary = summary_of(("one", (bars(("and", 0.1)),)), ("two", (bars(("and", 0.2), ("or", 0.3)),)))
    ((model, chart),) = all_charts(summary)
    assert (model, chart.series, chart.table.columns) == ("", "model", ("model", "law", "rate"))
    assert chart.table.rows == (("one", "and", 0.1), ("two", "and", 0.2), ("two", "or", 0.3))
    assert chart.filters == {"law": "label:law", "model": "model"}


def test_a_chart_of_the_cases_is_drawn_once_and_counts_are_whole_numbers() -> None:
    table = Table(name="groups", columns=("discipline", "n"), rows=(("optics", 15), ("biology", 2)))
    chart = make_chart(table=table, x="discipline", y="n", is_of_cases=True)
    assert list(all_charts(summary_of(("one", (chart,)), ("two", (chart,))))) == [("", chart)]
    assert [value_text(chart, value) for value in (15.0, 2.0)] == ["15", "2"]
    assert value_text(make_chart(), 0.5) == "0.50"


def test_bars_that_colours_or_columns_cannot_join_stay_with_their_models() -> None:
    many = summary_of(*((f"m{number}", (bars(("and", 0.1)),)) for number in range(7)))
    assert [model for model, _ in all_charts(many)] == [f"m{number}" for number in range(7)]
    other = replace(bars(("and", 0.1)), table=Table(name="x", columns=("law", "rate", "n"), rows=(("and", 0.1, 3),)))
    assert [model for model, _ in all_charts(summary_of(("a", (bars(("and", 0.1)),)), ("b", (other,))))] == ["a", "b"]


def test_the_leading_rates_of_all_models_stand_in_one_chart() -> None:
    records, _ = random_run(n_entities=2, models=("painter", "other"))
    summary = summarise(records.cases, records.verdicts, asked=records.asked)
    charts = list(all_charts(summary))
    model, first = charts[0]
    assert (model, first.name) == ("", "models")
    rates = {row[0]: row[1] for row in first.table.rows}
    assert rates == {one.model: one.failure_rate for one in summary.by_model}
    names = [(model, chart.name) for model, chart in charts]
    assert len(set(names)) == len(names)
    assert [model for model, name in names if name == "by-law"] == [""]
    undecided = [replace(verdict, outcome=Outcome.ERROR) for verdict in records.verdicts]
    nothing = summarise(records.cases, undecided, asked=records.asked)
    assert "models" not in [chart.name for _, chart in all_charts(nothing)]
