"""Prompts asked about part by part: the plan says how many questions, and garbage answers make an image worse."""

from __future__ import annotations

from pathlib import Path

from checks.test_right_answers import judged

from salva.core.case import Case
from salva.core.verdict import Outcome
from salva.suites.prompts.suite import Prompts, PromptsOptions

PROMPTS = "A photo of a red cat behind a chair\na cat and a dog\nFreedom\nEin Hund schläft unter dem Tisch im Garten\n"


def planned(folder: Path, **options: str) -> tuple[list[Case], tuple[str, ...]]:
    file = folder / "p.txt"
    file.write_text(PROMPTS, encoding="utf-8")
    suite = Prompts(PromptsOptions(path=str(file), parser="grammar", **options))  # type: ignore[arg-type]
    return list(suite.cases("full")), suite.remarks("full")


def test_parts_come_before_the_whole_which_depends_on_the_things(tmp_path: Path) -> None:
    cases, remarks = planned(tmp_path, questions="parts")
    *parts, whole = cases[0].prompts[0].questions
    assert [question.kind for question in parts] == ["thing", "thing", "attribute", "relation"]
    assert whole.kind == "whole"
    assert whole.parents == tuple(question.text for question in parts[:2])
    assert cases[1].prompts[0].questions == (), "a formula says more"
    assert [[question.kind for question in case.prompts[0].questions] for case in cases[2:]] == [["whole"], ["whole"]]
    assert remarks[-1] == "questions: 7 about 3 prompts"


def test_unless_asked_for_there_is_one_question_a_prompt(tmp_path: Path) -> None:
    cases, remarks = planned(tmp_path)
    assert [len(case.prompts[0].questions) for case in cases] == [1, 0, 1, 1]
    assert not any(remark.startswith("questions:") for remark in remarks)


def test_blind_and_contrary_judges_make_an_image_wrong_and_ask_less(tmp_path: Path) -> None:
    case = planned(tmp_path, questions="parts")[0][0]
    texts = [question.text for question in case.prompts[0].questions]
    right, all_asked = judged(case, {})
    assert right.outcome is Outcome.PASS
    assert sorted(all_asked) == sorted(texts)
    for replies in (dict.fromkeys(texts, "no"), {texts[0]: "no"}, {texts[-1]: "no"}, {texts[2]: "no"}):
        wrong, asked = judged(case, replies)
        assert wrong.outcome is Outcome.FAIL
        assert wrong.scores["dsg_A"] < 1
        if texts[0] in replies:
            assert texts[-1] not in asked, "an image without a cat does not show all of it"
    unread, _ = judged(case, {texts[0]: "?"})
    assert unread.outcome is Outcome.UNDECIDED
