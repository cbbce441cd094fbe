"""Which numbers SemVarBench's charts are made of."""

from __future__ import annotations

from statistics import fmean

from metrics.scored_triples import measured, verdict

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
    scatter = charts["semvar-alignment-against-kappa"]
    assert (scatter.x, scatter.y, scatter.series) == ("alignment", "kappa", "aspect")
    assert charts["semvar-shares-by-aspect"].is_share


def test_text_charts_need_vectors_and_tell_the_two_permutations_apart() -> None:
    assert len(measured([verdict(i) for i in range(9)]).charts) == 4
    known = [verdict(i, text_distance_pv=0.1, text_distance_pi=0.2) for i in range(9)]
    charts = {chart.name: chart for chart in measured(known).charts}
    text = charts["semvar-text-distance-against-gamma"]
    assert len(text.table.rows) == 18
    assert {row[0] for row in text.table.rows} == {"meaning changes", "meaning stays"}
    assert "semvar-text-distance-against-score" in charts


def test_of_several_judges_the_busier_is_drawn_and_named() -> None:
    verdicts = [verdict(i, judge="first") for i in range(5)] + [verdict(i, judge="second") for i in range(9)]
    boxes = measured(verdicts).charts[0]
    assert "second" in boxes.note
