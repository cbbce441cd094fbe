"""The contract's object, for one model and for several, and its speed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from report.fake_runs import make_case, make_verdict, random_run, store_run

from salva.core.case import Case
from salva.core.judgements import Judgements
from salva.core.run_spec import OWN, ComponentSpec, RunSpec
from salva.core.source import RewrittenPrompt
from salva.core.verdict import Outcome, Verdict
from salva.report import summary
from salva.report.markdown import to_markdown
from salva.report.summary import summarise, summarise_run

KEYS = {"suite", "models", "cases", "outcomes", "failure_rate", "interval"}
KEYS |= {"macro_rate", "excess", "failure_types", "tables", "metrics", "by_model"}
KEYS |= {"schema", "interval_entities", "headline", "rates"}


def test_one_model_has_its_figures_on_top() -> None:
    records, _ = random_run()
    shown = summarise(records.cases, records.verdicts, asked=records.asked).to_json()
    json.dumps(shown, allow_nan=False)
    assert shown.keys() >= KEYS
    assert (shown["suite"], shown["models"], shown["cases"]) == ("metalogic", ["painter"], len(records.cases))
    outcomes = shown["outcomes"]
    assert isinstance(outcomes, dict)
    headline, rates = shown["headline"], shown["rates"]
    assert isinstance(headline, dict)
    logic = [case for case in records.cases if case.labels["law"] != "numbering"]
    assert 0 < len(logic) < len(records.cases)
    content = json.loads(json.dumps(shown))
    leads, counts = content["headline"], content["outcomes"]
    assert sum(counts.values()) == leads["n_asked"] == 2 * len(logic), "numbering stands apart"
    assert leads["n"] == counts["PASS"] + counts["FAIL"]
    assert leads["n_undecided"] == counts["UNDECIDED"] + counts["ERROR"]
    rows = {row[0]: row[1:5] for table in content["tables"] if table["name"] == "outcomes" for row in table["rows"]}
    assert rows["headline"] == list(counts.values())
    assert sum(rows["numbering, counted apart"]) == 2 * (len(records.cases) - len(logic))
    assert isinstance(rates, dict)
    assert (shown["schema"], headline["check"], headline["rate"]) == (2, "truth", "wrong")
    assert (headline["average"], headline["over"]) == ("macro", "20 categories")
    assert shown["failure_rate"] == rates["wrong"]["rate"] == shown["macro_rate"]  # type: ignore[index, call-overload]  # an object
    assert isinstance(shown["interval"], list)
    assert isinstance(shown["excess"], float)
    by_model = shown["by_model"]
    assert isinstance(by_model, dict)
    assert by_model["painter"]["failure_rate"] == shown["failure_rate"]  # type: ignore[index, call-overload]  # an object


def test_several_models_have_none_on_top() -> None:
    records, _ = random_run(models=("painter", "folder/mine"))
    summary = summarise(records.cases, records.verdicts, asked=records.asked)
    shown = summary.to_json()
    assert shown.keys() >= KEYS
    assert shown["models"] == ["painter", "folder/mine"]
    for key in ("outcomes", "failure_rate", "interval", "macro_rate", "excess", "failure_types"):
        assert shown[key] is None
    assert [model for model, rate, ends in summary.rates() if rate is not None and None not in ends] == [
        "painter",
        "folder/mine",
    ]


def test_verdicts_are_weighed_again_only_for_a_model_whose_prompts_were_rewritten(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    records, _ = random_run(models=("painter", "other"))
    weighed: list[str] = []
    weigh = summary.judgements_on

    def counting(suite: str, cases: Sequence[Case], verdicts: Sequence[Verdict], asked: RunSpec) -> Judgements:
        weighed.append(verdicts[0].model)
        return weigh(suite, cases, verdicts, asked)

    monkeypatch.setattr(summary, "judgements_on", counting)
    passed_over = RewrittenPrompt(model="painter", prompt="if so", text="", passed_over=("if",), n=1)
    rewritten = RewrittenPrompt(model="other", prompt="so", text="a so", passed_over=(), n=1)
    shown = summary.summarise_records(replace(records, painted=(passed_over, rewritten)))
    assert weighed == ["painter", "other", "other"]
    assert "unknown words" in [table.name for table in shown.by_model[0].tables]


def test_a_run_without_verdicts_is_still_a_report() -> None:
    records, _ = random_run()
    shown = summarise(records.cases, [], asked=records.asked).to_json()
    assert shown["failure_rate"] is None
    assert shown["interval"] is None
    assert shown["outcomes"] == {outcome.value: 0 for outcome in Outcome}


def test_the_chosen_headline_is_read_from_what_was_asked() -> None:
    verdicts = [make_verdict(), make_verdict(check="truth", outcome=Outcome.FAIL)]
    assert summarise([make_case()], verdicts, asked=RunSpec(check="same-scene")).by_model[0].failure_rate == 0.0
    assert summarise([make_case()], verdicts, asked=RunSpec(check=OWN)).by_model[0].failure_rate == 0.0
    assert summarise([make_case()], verdicts).by_model[0].failure_rate == 1.0


def test_cases_that_several_worlds_fit_are_counted_once_by_the_relation_that_leads_them() -> None:
    cases = [make_case("open", check="truth", determinate=False), make_case("own", check="truth"), make_case()]
    verdicts = [make_verdict(case.case_id, repeat=repeat, check=case.check) for case in cases for repeat in (0, 1)]
    assert summarise(cases, verdicts).by_model[0].open_cases == {"truth": 1}
    before = RunSpec(check=OWN)
    assert summarise(cases, verdicts, asked=before).by_model[0].open_cases == {"truth": 1}
    compared = [*verdicts, make_verdict("open")]
    led = summarise(cases, compared, asked=before).by_model[0]
    assert led.open_cases == {}, "the pictures were compared all the same"


def test_a_run_judged_by_a_relation_that_is_not_installed_still_has_a_report() -> None:
    verdicts = [make_verdict(check="gone", outcome=Outcome.FAIL)]
    assert summarise([make_case(check="gone")], verdicts).by_model[0].failure_rate == 1.0


def test_the_scope_of_the_run_decides_about_published_figures() -> None:
    records, _ = random_run()
    closed = [replace(case, checks=("same-scene",), determinate=True) for case in records.cases]
    verdicts = [make_verdict(case.case_id) for case in closed]
    for scope, is_shown in (("all", True), ("mentioned", False)):
        asked = RunSpec(checks=(ComponentSpec(role="check", name="same-scene", options={"scope": scope}),))
        assert (summarise(closed, verdicts, asked=asked).by_model[0].table("reference") is not None) == is_shown


def test_a_stored_run_gives_the_same_summary(tmp_path: Path) -> None:
    records, images = random_run(n_entities=2)
    store_run(tmp_path / "run", records, images)
    stored = summarise_run(tmp_path / "run").to_json()
    assert stored == summarise(records.cases, records.verdicts, asked=records.asked).to_json()


def test_a_report_on_part_of_a_run_says_how_much_is_missing() -> None:
    cases = [make_case(f"case-{n}") for n in range(5)]
    verdicts = [make_verdict(case.case_id, repeat=0) for case in cases[:3]]
    asked = RunSpec(repeats=2, models=(ComponentSpec(role="model", name=verdicts[0].model),))
    summary = summarise(cases, verdicts, asked=asked)
    assert summary.by_model[0].n_unjudged == 7
    whole = summarise(cases, verdicts, asked=summary.asked, is_whole=True)
    assert whole.by_model[0].n_unjudged == 0, "the check does not apply to the others"
    assert "Not judged yet: 7" in to_markdown(summary)
