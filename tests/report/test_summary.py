"""The contract's object, for one model and for several."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from charts.charts import make_chart
from msgspec import structs
from report.fake_runs import ASKED, make_case, make_verdict, random_run, store_run

from salva.core.run_spec import ComponentSpec
from salva.core.source import RewrittenPrompt, RunRecords
from salva.core.table import Table
from salva.core.verdict import Outcome, Verdict
from salva.report.summary import _without_replaced, summarise_records, summarise_run

OF_MODEL = {
    *("results", "failure_rate", "interval", "interval_entities", "bounds", "average", "categories", "n"),
    *("n_effective", "coverage", "checks", "trust", "metrics", "failure_types", "examples", "gates", "corrected"),
    *("cost_usd", "n_images", "tables"),
}
TOP = {
    *("schema", "salva", "run", "suite", "models", "settings", "observers", "complete", "exit_code", "by_model"),
    *OF_MODEL,
}


def one_case(*verdicts: Verdict, **asked: object) -> RunRecords:
    spec = structs.replace(ASKED, **{"repeats": 1, **asked})
    cases = tuple(make_case(case_id) for case_id in dict.fromkeys(verdict.case_id for verdict in verdicts))
    primaries = {case.case_id: "truth" for case in cases}
    return RunRecords(cases=cases, verdicts=verdicts, primaries=primaries, asked=spec, is_whole=True)


def test_one_model_has_its_figures_on_top() -> None:
    records, _ = random_run()
    shown = json.loads(json.dumps(summarise_records(records).to_json(), allow_nan=False))
    assert shown.keys() == TOP
    assert (shown["schema"], shown["suite"], shown["models"]) == (3, "metalogic", ["painter"])
    assert shown["settings"]["rule"] == "primary"
    results = shown["results"]
    assert results["total"] == 2 * len(records.cases)
    assert sum(results[name] for name in ("pass", "fail", "undecided", "error")) == results["total"]
    assert shown["n"] == results["pass"] + results["fail"]
    assert sum(category["total"] for category in shown["categories"]) == results["total"]
    assert len(shown["categories"]) == 21
    rates = [category["rate"] for category in shown["categories"]]
    assert shown["failure_rate"] == sum(rates) / 21
    assert shown["checks"] == {"truth": len(records.cases)}
    assert len(shown["examples"]) == 10
    assert shown["by_model"]["painter"].keys() == OF_MODEL
    assert shown["by_model"]["painter"]["failure_rate"] == shown["failure_rate"]


def test_several_models_have_none_on_top() -> None:
    records, _ = random_run(models=("painter", "folder/mine"))
    summary = summarise_records(records)
    shown = summary.to_json()
    assert shown.keys() == TOP
    assert shown["models"] == ["painter", "folder/mine"]
    assert {key: shown[key] for key in OF_MODEL - {"tables"}} == dict.fromkeys(OF_MODEL - {"tables"})
    assert all(model.failure_rate is not None for model in summary.by_model.values())
    assert summary.failure_rate is None
    assert summary.tables[0].name == "models"


def test_unknown_words_stand_in_a_table_of_the_model_that_skipped_them() -> None:
    records, _ = random_run(models=("painter", "other"), n_entities=2)
    passed_over = RewrittenPrompt(model="painter", prompt="if so", text="", passed_over=("if",), n=1)
    shown = summarise_records(replace(records, painted=(passed_over,))).by_model
    assert shown["painter"].table("unknown words") is not None
    assert shown["other"].table("unknown words") is None


def test_a_run_without_verdicts_is_still_a_report() -> None:
    records, _ = random_run()
    summary = summarise_records(replace(records, verdicts=(), is_whole=False))
    assert (summary.failure_rate, summary.interval, summary.exit_code) == (None, None, 3)
    assert summary.results == {
        "total": 2 * len(records.cases),
        "pass": 0,
        "fail": 0,
        "undecided": 2 * len(records.cases),
        "error": 0,
        "refused": 0,
    }


def test_the_check_that_was_asked_for_makes_the_result() -> None:
    verdicts = (make_verdict(), make_verdict(check="truth", outcome=Outcome.FAIL))
    assert summarise_records(one_case(*verdicts)).failure_rate == 1.0
    compared = summarise_records(one_case(*verdicts, check="same-scene"))
    assert (compared.failure_rate, compared.settings["rule"]) == (0.0, "check:same-scene")


def test_a_run_judged_by_a_check_that_is_not_installed_still_has_a_report() -> None:
    records = one_case(make_verdict(check="gone", outcome=Outcome.FAIL), check="gone")
    assert summarise_records(records).failure_rate == 1.0


def test_a_chart_that_replaces_another_stands_alone() -> None:
    records, _ = random_run(n_entities=2)
    summary = summarise_records(records)
    names = [chart.name for chart in summary.by_model["painter"].charts]
    assert "law-by-modifier" in names
    assert "by-category" not in names


def test_a_chart_of_another_quantity_replaces_no_failure_rates() -> None:
    general = make_chart(name="by-category")
    other = make_chart(name="own", replaces="by-category")
    assert _without_replaced([other, general]) == (other, general)
    rows = Table(name="t", columns=("category", "rate"), rows=())
    rates = make_chart(name="own", replaces="by-category", table=rows, y="rate")
    assert _without_replaced([rates, general]) == (rates,)


def test_refusals_are_counted_among_the_errors() -> None:
    refused = replace(make_verdict("a", Outcome.ERROR, check="truth", reason="no"), is_refused=True)
    summary = summarise_records(one_case(refused, make_verdict("b", Outcome.ERROR, check="truth", reason="broke")))
    assert summary.results is not None
    assert (summary.results["error"], summary.results["refused"]) == (2, 1)


def test_a_stored_run_gives_the_same_summary(tmp_path: Path) -> None:
    records, images = random_run(n_entities=2)
    store_run(tmp_path / "run", records, images)
    stored = summarise_run(tmp_path / "run")
    assert stored.by_model["painter"].rate == summarise_records(records).by_model["painter"].rate


def test_observers_are_named_by_role() -> None:
    two = (ComponentSpec(role="detector", name="pocket"), ComponentSpec(role="detector", name="detr"))
    assert summarise_records(one_case(make_verdict(), observers=two)).observers == {"detector": ["pocket", "detr"]}
