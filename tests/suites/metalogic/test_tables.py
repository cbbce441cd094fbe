"""MetaLogic's tables, and when the published figures may stand beside ours."""

from __future__ import annotations

import pandas as pd
import pytest
from report.fake_runs import judged, make_verdict, metalogic_cases, random_run

from salva.charts.reading import cells_of, names_of
from salva.core.options import NoOptions
from salva.core.protocols import Measured
from salva.core.verdict import Outcome
from salva.suites.metalogic.tables import MetaLogicTables


def _measure(*, is_published: bool = False) -> Measured:
    # One category has fewer pairs than the others, so that a mean over categories is no plain share.
    cases = metalogic_cases(3)[2:]
    check = "same-scene" if is_published else "truth"
    verdicts = [
        make_verdict(case.case_id, Outcome.FAIL if case.labels["law"] == "distributive" else Outcome.PASS, check=check)
        for case in cases
    ]
    chosen = check if is_published else ""
    return MetaLogicTables(NoOptions()).measure(judged(cases, verdicts, chosen, is_published=is_published))


def test_the_paper_s_mean_leaves_numbering_out_and_is_of_its_own_rule() -> None:
    published = _measure(is_published=True).metrics["misaligned"]
    assert published.value == pytest.approx(4 / 20)
    assert (published.published, published.better, published.n) == (0.65, "lower", 20 * 6 - 2)
    ours = _measure().metrics["misaligned"]
    assert (ours.value, ours.published) == (None, 0.65)
    assert ours.reason


def test_rates_agree_with_a_data_frame() -> None:
    records, _ = random_run(seed=4)
    measured = MetaLogicTables(NoOptions()).measure(judged(records.cases, records.verdicts))
    own = {case.case_id: case for case in records.cases}
    frame = pd.DataFrame(
        {
            "law": own[v.case_id].labels["law"],
            "modifier": own[v.case_id].labels.get("modifier"),
            "category": own[v.case_id].category,
            "hit": float(v.outcome is Outcome.FAIL),
        }
        for v in records.verdicts
        if v.arm == "pair" and v.check == "truth" and v.outcome.value in ("PASS", "FAIL")
    )
    logic = frame[frame.law != "numbering"]
    table = next(table for table in measured.tables if table.name == "law by modifier")
    expected = logic.groupby(["law", "modifier"]).hit.mean().to_dict()
    assert len(table.rows) == len(expected) == 20
    for row in table.rows:
        assert row[4] == pytest.approx(expected[row[:2]])


def test_tables_keep_the_papers_order_and_numbers_count_up() -> None:
    tables = {table.name: table for table in _measure().tables}
    assert [row[0] for row in tables["by law"].rows][:3] == ["commutative", "associative", "distributive"]
    assert [row[0] for row in tables["by modifier"].rows] == ["and", "or", "x", "y"]
    assert [row[0] for row in tables["numbering by count"].rows] == [str(n) for n in range(1, 11)]
    assert [row[0] for row in tables["and against or"].rows] == ["and", "or"]
    (by_entity,) = (table for table in tables.values() if {"count", "entity"} <= {*table.columns})
    assert len(by_entity.rows) == 40


def test_published_figures_are_shown_under_their_own_rule_alone() -> None:
    assert "reference" not in {table.name for table in _measure().tables}
    tables = {table.name: table for table in _measure(is_published=True).tables}
    ours = {row[0]: row[3] for row in tables["reference"].rows}
    assert ours["distributive, both models"] == 1.0
    assert ours["misaligned, Flux.dev"] == pytest.approx(0.2)
    stated = [row[1:3] for row in tables["reference"].rows if str(row[0]).startswith(("AND", "OR"))]
    assert stated == [
        ("21 %", "section 4.2"),
        ("45.8 %", "section 4.2"),
        ("65.3 %", "section 4.2"),
        ("46 %", "section 5"),
        ("75 %", "section 5"),
        ("45 %", "section 7"),
        ("62 %", "section 7"),
    ]


def test_the_corner_of_the_heat_map_is_of_the_categories_it_shows() -> None:
    """Numbering is in the failure rate and not in this chart: 4 of 20 categories fail here, of 21 it would be less."""
    (chart,) = (chart for chart in _measure().charts if chart.name == "law-by-modifier")
    corner = cells_of(chart)["all", "all"]
    assert corner["rate"] == pytest.approx(4 / 20)
    assert corner["n"] == 20 * 6 - 2


def test_modifiers_stand_in_the_papers_order_where_the_first_law_lacks_some() -> None:
    cases = [case for case in metalogic_cases(2) if case.category in ("commutative-y", "de-morgan-and", "de-morgan-x")]
    measured = MetaLogicTables(NoOptions()).measure(
        judged(cases, [make_verdict(case.case_id, check="truth") for case in cases])
    )
    (chart,) = (chart for chart in measured.charts if chart.name == "law-by-modifier")
    assert list(names_of(chart, "modifier")) == ["and", "x", "y", "all"]
    assert list(names_of(chart, "law")) == ["commutative", "de-morgan", "all"]


def test_charts_of_several_models_say_whose_each_row_is() -> None:
    charts = {chart.name: chart for chart in _measure().charts if chart.is_for_several}
    assert all(chart.is_joined for chart in charts.values())
    heat, curve = (charts[name] for name in ("law-by-modifier-models", "by-count-models"))
    cells = cells_of(heat)
    assert len(cells) == 20
    assert {cell["rate"] for (row, _), cell in cells.items() if row.startswith("distributive ")} == {1.0}
    assert cells["commutative AND", "painter"]["rate"] == 0.0
    assert [row[:2] for row in curve.table.rows] == [("painter", n) for n in range(1, 11)]
