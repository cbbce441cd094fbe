"""The charts of a run: those of several models joined, and all of them as files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from charts.charts import TABLE, make_chart
from report.fake_runs import ASKED, random_run

from salva.charts.reading import value_text
from salva.core.chart import Chart, ChartKind
from salva.core.metric import MetricValue
from salva.core.table import Table
from salva.report.chart_files import all_charts, is_wide, rate_with_interval, where_chart, write_figures
from salva.report.summary import ModelSummary, Summary, summarise_records
from salva.results.rates import FailureRate
from salva.stats.intervals import Interval


def summary_of(*models: tuple[str, tuple[Chart, ...]]) -> Summary:
    by_model = {name: ModelSummary(model=name, rate=FailureRate(), charts=charts) for name, charts in models}
    return Summary(run="mine", suite="semvar", by_model=by_model, asked=ASKED)


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


def test_no_chart_is_drawn_twice_for_several_models() -> None:
    records, _ = random_run(n_entities=2, models=("painter", "other"))
    names = [(model, chart.name) for model, chart in all_charts(summarise_records(records))]
    assert len(set(names)) == len(names)
    assert [model for model, name in names if name == "by-law"] == [""]
    assert [model for model, name in names if name == "law-by-modifier"] == ["painter", "other"]


def test_where_it_fails_is_by_category_or_what_a_suite_puts_there() -> None:
    own, general, instead = make_chart(name="own"), make_chart(name="by-category"), make_chart(replaces="by-category")
    assert where_chart((own, general)) is general
    assert where_chart((own, instead)) is instead
    assert where_chart((own,)) is own
    assert where_chart(()) is None


def test_a_heat_map_of_few_columns_needs_half_a_page() -> None:
    rows = tuple(("pocket", f"c{n}", 0.5, None, None, 3) for n in range(7))
    heat = make_chart(ChartKind.HEAT_MAP, replace(TABLE, rows=rows))
    assert is_wide(heat)
    assert not is_wide(make_chart(ChartKind.HEAT_MAP, replace(TABLE, rows=rows[:6])))


def test_bounds_are_drawn_where_they_reach_beyond_the_interval() -> None:
    rate = FailureRate(rate=0.4, interval=Interval(low=0.3, high=0.5), bounds=Interval(low=0.35, high=0.6))
    chance = {"chance": MetricValue(value=0.8)}
    drawn = rate_with_interval(ModelSummary(model="m", rate=rate, metrics=chance))
    assert drawn is not None
    assert (drawn.rate, drawn.low, drawn.high, drawn.bounds, drawn.chance) == (0.4, 0.3, 0.5, (0.35, 0.6), 0.8)
    inside = replace(rate, bounds=Interval(low=0.35, high=0.45))
    drawn = rate_with_interval(ModelSummary(model="m", rate=inside))
    assert drawn is not None
    assert (drawn.bounds, drawn.chance) == (None, None)
    assert rate_with_interval(ModelSummary(model="m", rate=FailureRate())) is None
