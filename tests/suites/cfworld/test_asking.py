"""Questions made from a point: all of it in one question, three steps, and another third kind for the changed law."""

from __future__ import annotations

from snapshot import check_snapshot

from salva.suites.cfworld.asking import integrity_question, logic_question, point_question
from salva.suites.cfworld.groups import WEIGHTS


def test_a_point_becomes_one_question_with_all_of_it() -> None:
    asked = point_question("The nail floats and the cork lies on the bottom.")
    assert [score for score, _ in asked.criteria] == [1.0, 0.5, 0.0]
    assert asked.criteria[0][1] == "The nail floats and the cork lies on the bottom."
    assert asked.weight == WEIGHTS["point"]


def test_a_name_keeps_its_capital_and_a_point_without_a_full_stop_gets_one() -> None:
    asked = point_question("Mercury is white", "Pale.", "Dark.")
    assert "Mercury is white?" in asked.text
    assert [sentence for _, sentence in asked.criteria] == ["Mercury is white.", "Pale.", "Dark."]


def test_the_surroundings_are_asked_about_under_their_own_law() -> None:
    ours, changed = logic_question("smoke rises", changed=False), logic_question("smoke sinks", changed=True)
    assert "changed law" not in ours.text + ours.criteria[2][1]
    assert "changed law" in changed.text
    assert "changed law" in changed.criteria[2][1]
    assert logic_question("smoke sinks", "Smoke rises.", changed=True).criteria[2][1] == "Smoke rises."
    assert "the cork and the nail" in integrity_question("the cork and the nail").text


def test_the_words_of_questions_are_the_snapshot() -> None:
    shown = ""
    for asked in (
        point_question("The nail floats and the cork lies on the bottom."),
        point_question("Mercury is white", "Pale.", "Dark."),
        integrity_question("the cork and the nail"),
        logic_question("smoke rises", changed=False),
        logic_question("smoke sinks", changed=True),
    ):
        shown += f"{asked.text}\n" + "".join(f"  {score:g}: {sentence}\n" for score, sentence in asked.criteria)
    check_snapshot("questions-of-cfworld", shown)
