"""Questions about one image: what they refuse, how they are stored, and how grades become a score."""

from __future__ import annotations

import pytest

from salva.core.question import (
    DIMENSIONS,
    QUESTIONS,
    Question,
    picture_score,
    question_from_json,
    question_to_json,
    weighted_mean,
)
from salva.core.scoring import is_pair_name, pair_name, role_score


def question(kind: str = "point", weight: float = 1.0) -> Question:
    return Question(kind=kind, text="Is it?", weight=weight)


@pytest.mark.parametrize("scores", [(0.5, 1.0), (1.0, 1.0), (1.5, 0.0), (1.0, -0.1)])
def test_criteria_run_down_from_one_to_nothing(scores: tuple[float, float]) -> None:
    with pytest.raises(ValueError, match="criteria"):
        Question(kind="k", text="t", criteria=tuple((score, "x") for score in scores))


@pytest.mark.parametrize("weight", [0, -1])
def test_a_weight_is_above_nothing(weight: float) -> None:
    with pytest.raises(ValueError, match="weight"):
        question(weight=weight)
    assert question(weight=0.5).weight == 0.5


def test_criteria_are_one_line_for_a_judge() -> None:
    asked = Question(kind="k", text="t", criteria=((1.0, "yes"), (0.5, "partly"), (0.0, "no")))
    assert asked.rule == "1: yes 0.5: partly 0: no"


def test_what_is_not_said_of_a_question_is_not_stored() -> None:
    assert question_to_json(question()) == {"kind": "point", "text": "Is it?", "criteria": {}, "weight": 1.0}
    assert question_from_json({"kind": "point", "text": "Is it?"}) == question()
    full = Question(
        kind="k", text="t", criteria=((1.0, "yes"), (0.0, "no")), weight=2, formula="cat", answer="yes", parents=("p",)
    )
    stored = question_to_json(full)
    assert (stored["formula"], stored["answer"], stored["parents"]) == ("cat", "yes", ["p"])
    assert question_from_json(stored) == full


def test_a_score_is_the_weighted_mean_over_questions_or_over_dimensions() -> None:
    questions = [question("a", 1), question("a", 3), question("b", 4)]
    grades = [1.0, 0.0, 0.5]
    assert picture_score(questions, grades, QUESTIONS) == pytest.approx((1 + 0 + 2) / 8)
    # Dimension a is 1/4 with weight 2, b is 1/2 with weight 4.
    assert picture_score(questions, grades, DIMENSIONS) == pytest.approx((2 / 4 + 4 / 2) / 6)
    assert weighted_mean([(2, 1.0), (6, 0.5)]) == pytest.approx(5 / 8)
    with pytest.raises(ValueError, match="zip"):
        picture_score(questions, grades[:2], DIMENSIONS)


def test_scores_of_pairs_are_told_by_their_names() -> None:
    assert (pair_name("pi", "a"), role_score("l1")) == ("s_pi_a", "s_l1")
    assert is_pair_name("s_pi_a")
    assert not is_pair_name("kappa")
