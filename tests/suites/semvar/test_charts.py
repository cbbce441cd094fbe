"""Which numbers SemVarBench's charts are made of."""

from __future__ import annotations

from dataclasses import replace
from statistics import fmean

from suites.semvar.scored_triples import measured, verdict

from salva.charts.drawing import draw_chart
from salva.charts.scene import Mark
from salva.core.chart import ChartKind


def test_every_figure_has_its_chart_with_all_its_points() -> None:
    verdicts = [verdict(i) for i in range(60)]
    charts = {chart.name: chart for chart in measured(verdicts).charts}
    boxes = charts["semvar-kappa-by-category"]
    assert boxes.kind is ChartKind.BOXES
    # A triple of two categories is a point in both boxes.
    assert len(boxes.table.rows) == 80
    heat = charts["semvar-kappa-heat-map"]
    assert heat.kind is ChartKind.HEAT_MAP
    cells = {str(row[1]): row[2] for row in heat.table.rows}
    sized = [one.scores["kappa"] for i, one in enumerate(verdicts) if i % 6 in (1, 2)]
    assert cells["size"] == fmean(sized)
    assert {row[0] for row in heat.table.rows} == {"painter"}
    assert charts["semvar-shares-by-aspect"].is_share


def test_the_figures_of_the_paper_are_named_and_every_axis_is() -> None:
    known = [verdict(i, text_distance_pv=0.1, text_distance_pi=0.2) for i in range(60)]
    charts = measured(known).charts
    titles = " ".join(chart.title for chart in charts)
    for figure in ("Figure 6 a", "Figure 6 b", "Figure 7", "Figure 8", "Figure 11", "Figure 12"):
        assert figure in titles
    assert all(chart.y_label for chart in charts if chart.kind is not ChartKind.HEAT_MAP)
    assert all(chart.x_label for chart in charts if chart.kind is ChartKind.SCATTER)


def test_models_are_drawn_beside_each_other_in_every_category_and_not_where_there_is_one() -> None:
    one, two = (
        {chart.name: chart for chart in measured([replace(verdict(i), model=name) for i in range(60)]).charts}
        for name in ("one", "two")
    )
    alone, further = one["semvar-kappa-over-models"], two["semvar-kappa-over-models"]
    assert alone.is_for_several
    assert alone.is_joined
    assert (alone.x, alone.series) == ("category", "model")
    both = replace(alone, table=replace(alone.table, rows=(*alone.table.rows, *further.table.rows)))
    assert {row[0] for row in both.table.rows} == {"one", "two"}
    assert len(both.table.rows) == 160
    n_categories = len({row[1] for row in both.table.rows})
    for chart, n_models in ((both, 2), (one["semvar-kappa-by-category"], 1)):
        boxes = [part for part in draw_chart(chart, 760).parts if isinstance(part, Mark)]
        assert len(boxes) == n_categories * n_models


def test_text_charts_need_vectors_and_tell_the_two_permutations_apart() -> None:
    assert len(measured([verdict(i) for i in range(9)]).charts) == 4
    known = [verdict(i, text_distance_pv=0.1, text_distance_pi=0.2) for i in range(9)]
    charts = {chart.name: chart for chart in measured(known).charts}
    text = charts["semvar-text-distance-against-gamma"]
    assert len(text.table.rows) == 18
    assert {row[0] for row in text.table.rows} == {"meaning changes", "meaning stays"}
    assert "semvar-text-distance-against-score" in charts


def test_of_several_judges_the_first_is_drawn_and_named() -> None:
    verdicts = [verdict(i, judge="pocket+first") for i in range(5)]
    verdicts += [verdict(i, judge="pocket+second") for i in range(9)]
    assert measured(verdicts).charts[0].note.endswith("Judged by first.")
    assert "Judged" not in measured(verdicts[:5]).charts[0].note
