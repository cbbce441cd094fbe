"""GenEval's tables: every row names its rule, missing prompts are counted, nothing judged gives no table."""

from __future__ import annotations

from dataclasses import replace

import pytest
from suites.geneval.judged_pictures import cases_of, judged, verdicts

from salva.core.case import Case
from salva.core.judgements import RunCheck
from salva.core.metric import MetricValue
from salva.core.options import NoOptions
from salva.core.protocols import Measured
from salva.core.verdict import Outcome
from salva.suites.geneval.demands import SINGLE, TASKS
from salva.suites.geneval.rules import NO_COLOURS
from salva.suites.geneval.suite import N_OFFICIAL, OFFICIAL, SOURCE
from salva.suites.geneval.tables import GenEvalTables


def _measured(made: object) -> Measured:
    return GenEvalTables(NoOptions()).measure(made)  # type: ignore[arg-type]  # judgements


def test_every_row_and_metric_names_its_rule() -> None:
    cases = cases_of()
    made = verdicts(cases, lambda *_: True) + verdicts(cases, lambda *_: False, "truth")
    measured = _measured(judged(cases, made))
    table = measured.tables[0]
    assert {row[table.columns.index("rule")] for row in table.rows} == {"published", "ours"}
    values = {name: (metric.value, metric.n, metric.better) for name, metric in measured.metrics.items()}
    assert values == {
        "published_overall": (1.0, 24, "higher"),
        "ours_overall": (0.0, 24, "higher"),
        "rl_strict_overall": (None, None, "higher"),
        "rl_score_credit": (None, None, "higher"),
    }
    assert list(values) == list(GenEvalTables.about.metrics), "every gate on one of them has something to decide by"
    assert next(iter(_measured(judged(cases, made, chosen="truth")).metrics)) == "ours_overall"
    assert "(published, " in measured.charts[0].title


@pytest.mark.parametrize(
    ("pin", "suffix"),
    [
        ("3a49 names a5ae published weights", ", published weights"),
        ("3a49 names a5ae", ", other weights"),
        ("", ", other weights"),
    ],
)
def test_the_published_rules_name_the_weights(pin: str, suffix: str) -> None:
    cases = cases_of()
    made = verdicts(cases, lambda *_: True) + verdicts(cases, lambda *_: True, "truth")
    metrics = _measured(replace(judged(cases, made), weights={"eye": pin, "another": "published weights"})).metrics
    assert metrics["published_overall"].title == f"GenEval, published rules{suffix}"
    assert "weights" not in metrics["ours_overall"].title


def _official(n_missing: int) -> list[Case]:
    """Cases as the official prompts would make them, in the published numbers, less some of the first task."""
    pattern = {case.category: case for case in cases_of()}
    return [
        replace(
            pattern[task], case_id=f"{pattern[task].case_id}-{n}", labels={**pattern[task].labels, SOURCE: OFFICIAL}
        )
        for task, n_all in N_OFFICIAL.items()
        for n in range(n_all - (n_missing if task == SINGLE else 0))
    ]


def test_the_paper_s_figure_stands_beside_all_of_its_prompts_alone() -> None:
    def published(cases: list[Case], **changes: Outcome) -> MetricValue:
        made = verdicts(cases, lambda *_: True)
        made[0] = replace(made[0], **changes)  # type: ignore[arg-type]  # of one field
        return _measured(judged(cases, made)).metrics["published_overall"]

    assert published(_official(0)).published == 0.61
    assert published(_official(5)).published is None
    assert "548 of GenEval's 553" in published(_official(5)).reason
    assert "552 of GenEval's 553" in published(_official(0), outcome=Outcome.ERROR).reason
    ours = published(cases_of())
    assert ours.published is None
    assert "553" not in ours.reason


def test_partial_credit_is_a_mean_over_tasks_with_an_interval() -> None:
    """Counting earns nothing in one image and two thirds in three, the other five tasks everything."""
    cases = cases_of()
    counting = [case for case in cases if case.category == "counting"]
    earned = {case.case_id: 0.0 if case is counting[0] else 2 / 3 for case in counting}
    made = [replace(one, scores={"credit_a": earned.get(one.case_id, 1.0)}) for one in verdicts(cases, lambda *_: True)]
    by_credit = replace(judged(cases, made), checks={"geneval": RunCheck(options={"rule": "rl-score"})})
    credit = _measured(by_credit).metrics["rl_score_credit"]
    assert credit.value == pytest.approx(5.5 / 6)
    assert credit.n == 24
    assert credit.interval is not None
    assert 0 < credit.interval[0] < 5.5 / 6 < credit.interval[1] <= 1


def test_without_colours_there_is_no_point() -> None:
    cases = cases_of()
    made = [
        replace(one, scores={NO_COLOURS: 1.0}) if case.category.startswith("color") else one
        for case, one in zip(
            cases, verdicts(cases, lambda case, _: None if "color" in case.category else True, "truth"), strict=True
        )
    ]
    metric = _measured(judged(cases, made, chosen="truth")).metrics["ours_overall"]
    assert (metric.value, metric.n) == (None, 16)
    assert metric.interval == pytest.approx((4 / 6, 1.0))
    assert metric.reason.startswith("without colours only wrong images can be decided: 66.7 to 100.0 %")


def test_nothing_judged_measures_nothing() -> None:
    cases = cases_of()
    measured = _measured(judged(cases, []))
    assert (measured.tables, measured.charts) == ((), ())
    assert {metric.value for metric in measured.metrics.values()} == {None}
    assert all(metric.reason for metric in measured.metrics.values())


def test_all_six_tasks_stand_in_their_order() -> None:
    cases = cases_of()
    table = _measured(judged(cases, verdicts(cases, lambda *_: None))).tables[0]
    assert [row[table.columns.index("task")] for row in table.rows][:6] == list(TASKS)
    assert all(row[table.columns.index("right_rate")] is None for row in table.rows)
