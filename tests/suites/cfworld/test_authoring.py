"""New groups from principles: by a text model under the criteria, by templates without one, and never unlinted."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from salva.core.fingerprint import Json
from salva.errors import UsageError
from salva.suites.cfworld.asking import point_question
from salva.suites.cfworld.authoring import GroupAuthor
from salva.suites.cfworld.groups import LevelGroup, read_entries

ROW: dict[str, Json] = {"discipline": "mechanics", "principle": "Light things float on water."}
LEVELS: dict[str, Any] = {
    "id": "Cork in water",
    "category": "Buoyancy",
    "l1": {
        "prompt": "A cork was dropped into a glass of water. Show where the cork is.",
        "point": "The cork floats at the surface.",
    },
    "l2": {
        "prompt": "Suppose that water repels light things. A cork, dropped into a glass of water, hovers above it.",
        "point": "The cork hovers above the water.",
    },
    "l3": {"prompt": "Suppose that water repels light things. A cork was dropped into a glass of water. Show it."},
    "denorm": "Suppose that water repels light things. A plug of bark was dropped into a glass and hovers above it.",
}
LEAKING = {**LEVELS, "l3": {"prompt": LEVELS["l3"]["prompt"] + " It hovers."}}


def _asked(text: str) -> dict[str, str]:
    return {"question": text, "1": "Yes.", "0.5": "All but.", "0": "No."}


QUESTIONS: dict[str, Any] = {
    "l1": {
        "integrity": _asked("Are the cork and the glass whole?"),
        "point": _asked("Does the cork float at the surface?"),
        "logic": _asked("Does the glass stand upright on a table?"),
    },
    "l2": {
        "integrity": _asked("Are the cork and the glass whole?"),
        "point": _asked("Is it so that the cork hovers above the water?"),
        "logic": _asked("Do other light things hover as well?"),
    },
}


class Scripted:
    """A text model that gives its replies in turn and keeps what it was asked."""

    name = "openai/scripted"

    def __init__(self, replies: Sequence[Json | None]) -> None:
        self.replies = list(replies)
        self.asked: list[tuple[str, str]] = []
        self.kept: list[Json] = []

    def ask(self, instruction: str, question: str) -> Json | None:
        self.asked.append((instruction, question))
        return self.replies.pop(0)

    def keep(self, instruction: str, question: str, reply: Json) -> None:
        assert (instruction, question) in self.asked
        self.kept.append(reply)


def _group(line: Any) -> LevelGroup:
    (entry,) = read_entries([json.dumps(line)], "a test")
    assert isinstance(entry, LevelGroup)
    return entry


def test_a_writer_gives_levels_then_questions_and_the_group_is_sound() -> None:
    model = Scripted([LEVELS, QUESTIONS])
    made = GroupAuthor().write(ROW, model)
    assert made.why == ""
    group = _group(made.line)
    assert (group.discipline, group.group_id, group.category) == ("mechanics", "cork-in-water", "Buoyancy")
    assert group.l3.point == group.l2.point
    assert group.l3.questions == group.l2.questions
    assert group.l1.questions[1].text == "Does the cork float at the surface?"
    assert [asked.weight for asked in group.l1.questions] == [3.0, 15.0, 8.0]
    assert group.labels == {"written_by": "openai/scripted", "questions_by": "openai/scripted"}
    assert made.shown["l2 point"] == "The cork hovers above the water."
    assert "four criteria" in model.asked[0][0].lower()
    assert "0.5 is hard" in model.asked[1][0]
    assert model.kept == [LEVELS, QUESTIONS]


def test_what_the_lint_finds_is_told_to_the_writer_once() -> None:
    model = Scripted([LEAKING, LEVELS, QUESTIONS])
    made = GroupAuthor().write(ROW, model)
    assert made.why == ""
    assert "hovers" in model.asked[1][1]


def test_a_group_that_stays_faulty_must_not_stay() -> None:
    model = Scripted([LEAKING, LEAKING, QUESTIONS])
    made = GroupAuthor().write(ROW, model)
    assert "hovers" in made.why
    assert model.kept == [QUESTIONS], "a faulty group is asked for anew by the same command"


@pytest.mark.parametrize("reply", [None, [], "no", {}, {"l1": "a"}, {**LEVELS, "l2": {"prompt": "x"}}])
def test_a_reply_that_is_no_group_is_said_to_be_none(reply: Json) -> None:
    made = GroupAuthor().write(ROW, Scripted([reply]))
    assert "no group" in made.why
    assert made.is_unread


@pytest.mark.parametrize("reply", [None, {"l1": {}}, {**QUESTIONS, "l2": {"point": {"question": "Is it?"}}}])
def test_questions_that_cannot_be_read_come_from_the_template(reply: Json) -> None:
    group = _group(GroupAuthor().write(ROW, Scripted([LEVELS, reply])).line)
    assert group.labels["questions_by"] == "template"
    assert group.l2.questions[1].text == point_question(LEVELS["l2"]["point"]).text


def test_without_a_writer_a_group_with_points_gets_its_questions_from_templates() -> None:
    made = GroupAuthor().write({**ROW, **LEVELS}, None)
    assert made.why == ""
    group = _group(made.line)
    assert "changed law" not in group.l1.questions[2].text
    assert "changed law" in group.l3.questions[2].text
    assert GroupAuthor().write(made.line, None).line == made.line, "what is whole is left as it is"


def test_without_a_writer_a_bare_principle_is_not_written() -> None:
    assert "--writer" in GroupAuthor().write(ROW, None).why


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.txt", "mechanics: Light things float on water.\n\n"),
        ("a.csv", "discipline,principle\nmechanics,Light things float on water.\n"),
        ("a.jsonl", json.dumps(ROW) + "\n"),
    ],
)
def test_principles_are_read_from_lines_tables_and_objects(tmp_path: Path, name: str, content: str) -> None:
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    (row,) = GroupAuthor().rows(path)
    assert GroupAuthor().name_of(row) == "mechanics: Light things float on water."


@pytest.mark.parametrize(("content", "told"), [("no colon here\n", "line 1: .*optics"), ("", "no principle")])
def test_a_line_that_is_no_principle_is_named(tmp_path: Path, content: str, told: str) -> None:
    path = tmp_path / "a.txt"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(UsageError, match=told):
        GroupAuthor().rows(path)
