"""GenEval's tables: every row names its rule, missing prompts are counted, nothing judged gives no table."""

from __future__ import annotations

from dataclasses import replace

import pytest
from suites.geneval.judged_pictures import cases_of, judged, verdicts

from salva.core.options import NoOptions
from salva.core.protocols import Measured
from salva.core.verdict import Outcome
from salva.suites.geneval.demands import TASKS
from salva.suites.geneval.tables import GenEvalTables


def _measured(made: object) -> Measured:
    return GenEvalTables(NoOptions()).measure(made)  # type: ignore[arg-type]  # judgements


def test_every_row_and_figure_names_its_rule() -> None:
    cases = cases_of()
    made = verdicts(cases, lambda *_: True) + verdicts(cases, lambda *_: False, "truth")
    measured = _measured(judged(cases, made))
    table = measured.tables[0]
    assert {row[table.columns.index("rule")] for row in table.rows} == {"published", "ours"}
    assert [figure.value for figure in measured.key_figures] == [1.0, 0.0]
    assert measured.key_figures[0].title == "GenEval, published rules"
    assert measured.key_figures[1].title.startswith("GenEval, our rule")
    assert measured.numbers["published_overall"] == 1
    assert measured.numbers["ours_counting"] == 0
    assert "(published, " in measured.charts[0].title


@pytest.mark.parametrize(
    ("pin", "said"),
    [
        ("3a49 names a5ae published weights", "published weights"),
        ("3a49 names a5ae", "other weights"),
        ("", "other weights"),
    ],
)
def test_the_published_rules_say_whose_weights_looked(pin: str, said: str) -> None:
    cases = cases_of()
    made = verdicts(cases, lambda *_: True) + verdicts(cases, lambda *_: True, "truth")
    measured = _measured(replace(judged(cases, made), weights={"eye": pin, "another": "published weights"}))
    assert measured.key_figures[0].title == f"GenEval, published rules, {said}"
    assert "weights" not in measured.key_figures[1].title


def test_prompts_without_a_picture_are_counted() -> None:
    cases = [replace(case, labels={**case.labels, "source": "file"}) for case in cases_of()]
    made = [
        replace(verdict, outcome=Outcome.ERROR) if i < 5 else verdict
        for i, verdict in enumerate(verdicts(cases, lambda *_: True))
    ]
    measured = _measured(judged(cases, made))
    assert "19 of GenEval's 553" in measured.key_figures[0].note


def test_our_own_prompts_are_not_held_against_the_published_number() -> None:
    cases = cases_of()
    measured = _measured(judged(cases, verdicts(cases, lambda *_: True)))
    assert "553" not in measured.key_figures[0].note


def test_nothing_judged_gives_nothing() -> None:
    cases = cases_of()
    assert _measured(judged(cases, [])) == Measured()


def test_all_six_tasks_stand_in_their_order() -> None:
    cases = cases_of()
    table = _measured(judged(cases, verdicts(cases, lambda *_: None))).tables[0]
    assert [row[table.columns.index("task")] for row in table.rows][:6] == list(TASKS)
    assert all(row[table.columns.index("right_rate")] is None for row in table.rows)
