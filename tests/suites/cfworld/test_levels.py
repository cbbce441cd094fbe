"""The check over three levels: scores, the gate, what is missing, and how groups fail."""

from __future__ import annotations

import pytest
from suites.cfworld.graded import group, judged

from salva.core.protocols import Conclusion
from salva.core.question import DIMENSIONS, QUESTIONS, Question, picture_score
from salva.core.verdict import Outcome
from salva.suites.cfworld.levels import COUNTERFACTUAL, DEDUCTION, FACTUAL, LOCK_IN, LevelsOptions

ALL, NONE, POINT = (1.0, 1.0, 1.0), (0.0, 0.0, 0.0), (0.0, 1.0, 0.0)
WHOLE = (1.0, 0.0, 0.0)
"""Only the image's integrity is right."""


def options(**given: object) -> LevelsOptions:
    return LevelsOptions(flip_sample=0.0, **given)  # type: ignore[arg-type]  # names of fields


def test_a_score_is_by_dimension_or_by_question() -> None:
    def asked(kind: str, weight: float) -> Question:
        return Question(kind=kind, text="?", weight=weight)

    one_each = [asked("integrity", 3), asked("point", 15), asked("logic", 8)]
    assert picture_score(one_each, (1, 1, 0), DIMENSIONS) == pytest.approx(18 / 26)
    assert picture_score(one_each, (1, 1, 0), QUESTIONS) == pytest.approx(18 / 26)
    twice = [*one_each, asked("logic", 8)]
    assert picture_score(twice, (1, 1, 0, 0), DIMENSIONS) == pytest.approx(18 / 26), "logic weighs once"
    assert picture_score(twice, (1, 1, 0, 0), QUESTIONS) == pytest.approx(18 / 34), "as the program has it"
    assert picture_score(twice, (1, 1, 0, 1), DIMENSIONS) == pytest.approx(22 / 26)


def test_all_levels_painted_hold() -> None:
    conclusion, _ = judged(group(), {"l1": ALL, "l2": ALL, "l3": ALL})
    assert conclusion.outcome is Outcome.PASS
    assert {conclusion.scores[f"gated_{level}"] for level in ("l2", "l3")} == {1.0}
    assert "l2 1.00: l2 looks so" in conclusion.reason


@pytest.mark.parametrize(
    ("grades", "errors"),
    [
        ({"l1": NONE, "l2": ALL, "l3": ALL}, (FACTUAL,)),
        ({"l1": ALL, "l2": WHOLE, "l3": ALL}, (COUNTERFACTUAL,)),
        ({"l1": ALL, "l2": WHOLE, "l3": WHOLE}, (COUNTERFACTUAL,)),
        ({"l1": ALL, "l2": ALL, "l3": WHOLE}, (DEDUCTION,)),
    ],
)
def test_a_group_says_which_level_failed(grades: dict[str, tuple[float, ...]], errors: tuple[str, ...]) -> None:
    conclusion, _ = judged(group(), grades)
    assert conclusion.outcome is Outcome.FAIL
    assert conclusion.failure_types == errors


def test_a_picture_that_shows_the_fact_clings_to_it() -> None:
    conclusion, asked = judged(group(), {"l1": ALL, "l2": WHOLE, "l3": WHOLE}, fact={"l2": 1.0, "l3": 0.2})
    assert conclusion.failure_types == (LOCK_IN, COUNTERFACTUAL)
    assert [f.role for f in conclusion.failures if f.failure_type == LOCK_IN] == ["l2"]
    assert (conclusion.scores["fact_l2"], conclusion.scores["fact_l3"]) == (1.0, 0.2)
    lock_ins = [look for look in asked if look.query.questions == ("point of l1?",)]
    assert [look.role for look in lock_ins] == ["l2", "l3"], "one more call for each image that fails, and no other"
    _, unasked = judged(group(), {"l1": ALL, "l2": WHOLE, "l3": WHOLE}, options(lock_in=False))
    assert len(unasked) == len(asked) - 2
    _, behind = judged(group(), {"l1": NONE, "l2": WHOLE, "l3": WHOLE})
    assert all(len(look.query.questions) == 3 for look in behind), "behind a shut gate nobody can tell"


def test_the_gate_sets_the_others_to_zero_and_keeps_what_they_were() -> None:
    conclusion, _ = judged(group(), {"l1": WHOLE, "l2": ALL, "l3": ALL})
    assert conclusion.scores["gate"] == 0.0
    assert (conclusion.scores["s_l2"], conclusion.scores["gated_l2"], conclusion.scores["gated_l3"]) == (1.0, 0.0, 0.0)
    assert judged(group(), {"l1": POINT, "l2": ALL, "l3": ALL})[0].scores["gate"] == 1.0, "15 of 26 is enough"


def test_a_skipped_gate_saves_the_calls_behind_it() -> None:
    shut, asked = judged(group(), {"l1": NONE, "l2": ALL, "l3": ALL}, options(gate="skip"))
    assert {look.role for look in asked} == {"l1"}
    assert (shut.outcome, shut.failure_types) == (Outcome.FAIL, (FACTUAL,))
    assert (shut.scores["gated_l2"], shut.scores["gated_l3"]) == (0.0, 0.0)
    assert "s_l2" not in shut.scores
    assert "missing_l2" not in shut.scores
    opened, asked = judged(group(), {"l1": ALL, "l2": ALL, "l3": ALL}, options(gate="skip"))
    assert {look.role for look in asked} == {"l1", "l2", "l3"}
    assert opened.outcome is Outcome.PASS


def test_what_is_missing_is_no_zero() -> None:
    conclusion, _ = judged(group(), {"l1": ALL, "l2": ALL})
    assert conclusion.outcome is Outcome.UNDECIDED
    assert "l3" in conclusion.reason
    assert conclusion.scores["gated_l2"] == 1.0
    assert "gated_l3" not in conclusion.scores
    assert conclusion.scores["missing_l3"] == 1.0
    unread, _ = judged(group(), {"l1": ALL, "l2": ALL, "l3": ALL}, unreadable=("l2",))
    assert "no score of l2: a riddle" in unread.reason
    headless, _ = judged(group(), {"l2": ALL, "l3": ALL})
    assert "gated_l2" not in headless.scores, "without a score of L1 nobody knows whether the gate is open"


def test_the_published_program_scores_what_is_missing_zero() -> None:
    conclusion, _ = judged(group(), {"l1": ALL, "l2": ALL}, options(missing="zero"))
    assert (conclusion.scores["s_l3"], conclusion.scores["gated_l3"]) == (0.0, 0.0)
    assert conclusion.failure_types == (DEDUCTION,)
    headless, _ = judged(group(), {"l2": ALL, "l3": ALL}, options(missing="zero"))
    assert (headless.scores["s_l1"], headless.scores["gated_l2"]) == (0.0, 0.0)


def test_levels_that_nobody_asks_about_leave_the_group_undecided() -> None:
    conclusion, _ = judged(group(roles=("l1",)), {"l1": ALL})
    assert conclusion.outcome is Outcome.UNDECIDED
    assert "no questions for l2, l3" in conclusion.reason
    assert conclusion.scores["s_l1"] == 1.0


def test_facts_are_graded_more_kindly_and_once_more_like_the_rest() -> None:
    conclusion, asked = judged(group(), {"l1": ALL, "l2": ALL, "l3": ALL}, alike=WHOLE)
    rubrics = sorted((look.role, look.query.rubric) for look in asked)
    assert rubrics == [("l1", "counterfactual"), ("l1", "fact"), ("l2", "counterfactual"), ("l3", "counterfactual")]
    assert conclusion.scores["s_l1_alike"] == pytest.approx(3 / 26)
    assert conclusion.outcome is Outcome.PASS, "the kinder one decides, as published"
    _, alone = judged(group(), {"l1": ALL, "l2": ALL, "l3": ALL}, options(rubrics="one"))
    assert {look.query.rubric for look in alone} == {"counterfactual"}
    assert len(alone) == 3


def test_a_fourth_prompt_is_asked_the_very_question_of_the_second() -> None:
    case = group(roles=("l1", "l2", "l3", "denorm"))
    conclusion, asked = judged(case, {"l1": ALL, "l2": WHOLE, "l3": ALL, "denorm": ALL})
    by_role = {look.role: look.query for look in asked if len(look.query.questions) == 3 and look.role != "l1"}
    assert by_role["denorm"] == by_role["l2"]
    assert conclusion.scores["gated_denorm"] == 1.0


def outcome(conclusion: Conclusion) -> str:
    return str(conclusion.outcome)
