"""right-answers: a picture is held against the questions of its own prompt, and nonsense gets worse."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from salva.checks.right_answers import RightAnswers, RightAnswersOptions
from salva.core.case import Case, Prompt
from salva.core.image import ImageRef
from salva.core.observation import Answer
from salva.core.protocols import Conclusion, ImageObservations, Need, Query
from salva.core.question import Question
from salva.core.verdict import Outcome

DOG = Question(kind="entity", text="Is there a dog?", answer="yes")
RED = Question(kind="attribute", text="Is the dog red?", answer="yes", parents=(DOG.text,))
CAT = Question(kind="entity", text="Is there a cat?", answer="no")


def case(*questions: Question, formula: str | None = None, check: str = "right-answers") -> Case:
    prompt = Prompt(role="a", text="A red dog barks", formula=formula, questions=questions)
    return Case(case_id="one", suite="prompts", category="prompts", prompts=(prompt,), checks=(check,))


def judged(of: Case, replies: Mapping[str, str], **options: object) -> tuple[Conclusion, list[str]]:
    """The conclusion when a judge replies so, and what it was asked."""
    check = RightAnswers(RightAnswersOptions(flip_sample=0.0, **options))  # type: ignore[arg-type]  # keywords of options
    seen: dict[Query, Answer] = {}
    while True:
        observations = {"a": ImageObservations(image=ImageRef(image_id="i", width=1, height=1), seen=dict(seen))}
        new = [look for look in check.needs(of, {"judge"}, observations) if look.query not in seen]
        if not new:
            return check.judge(of, observations), [query.text for query in seen]
        seen |= {look.query: _answer(look, replies) for look in new}


def _answer(look: Need, replies: Mapping[str, str]) -> Answer:
    text = replies.get(look.query.text, "yes")
    return Answer(text="" if text == "?" else text, scores={}, problem="no words" if text == "?" else "")


def test_all_right_holds_and_one_wrong_answer_violates() -> None:
    right, asked = judged(case(DOG, RED, CAT), {CAT.text: "no"})
    assert right.outcome is Outcome.PASS
    assert right.scores["dsg_A"] == right.scores["faith_A"] == 1
    assert asked == [DOG.text, CAT.text, RED.text]
    wrong, _ = judged(case(DOG, RED, CAT), {CAT.text: "no", RED.text: "no"})
    assert wrong.outcome is Outcome.FAIL
    assert wrong.failure_types == ("wrong-answer",)
    (failure,) = wrong.failures
    assert (failure.expected, failure.seen, failure.message.startswith(RED.text)) == ("yes", "no", True)
    assert wrong.scores["dsg_A"] == pytest.approx(2 / 3)


def test_a_child_is_not_asked_where_its_parent_fails_and_counts_as_wrong() -> None:
    found, asked = judged(case(DOG, RED, CAT), {DOG.text: "no", CAT.text: "no"})
    assert RED.text not in asked
    assert found.scores["dsg_A"] == pytest.approx(1 / 3)


def test_a_judge_that_always_says_the_same_cannot_be_right_about_all() -> None:
    for said in ("yes", "no"):
        found, _ = judged(case(DOG, RED, CAT), dict.fromkeys((DOG.text, RED.text, CAT.text), said))
        assert found.outcome is Outcome.FAIL


def test_a_reply_nobody_can_read_decides_nothing() -> None:
    found, _ = judged(case(DOG), {DOG.text: "?"})
    assert found.outcome is Outcome.UNDECIDED
    assert "no words" in found.reason


def test_less_than_all_may_do() -> None:
    replies = {CAT.text: "no", RED.text: "no"}
    assert judged(case(DOG, RED, CAT), replies, min_faithfulness=0.6)[0].outcome is Outcome.PASS
    assert judged(case(DOG, RED, CAT), replies, min_faithfulness=0.7)[0].outcome is Outcome.FAIL


def test_it_judges_what_has_a_question() -> None:
    check = RightAnswers(RightAnswersOptions())
    assert check.applies(case(DOG))
    assert not check.applies(case())
    assert not check.applies(case(Question(kind="graded", text="How red?")))
    assert check.applies(case(formula="dog"))


def test_questions_of_a_file_go_first_and_a_prompt_that_it_does_not_have_is_none_of_its(tmp_path: Path) -> None:
    file = tmp_path / "q.csv"
    rows = "item_id,text,proposition_id,dependency,question_natural_language\n1,A red dog barks,1,0,Is it loud?\n"
    file.write_text(rows)
    found, asked = judged(case(DOG), {"Is it loud?": "no"}, questions=str(file))
    assert asked == ["Is it loud?"]
    assert found.outcome is Outcome.FAIL
    file.write_text(rows.replace("A red dog barks", "Another"))
    assert not RightAnswers(RightAnswersOptions(questions=str(file))).applies(case(DOG))
