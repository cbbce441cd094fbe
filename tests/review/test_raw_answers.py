"""Raw answers beside ratings: scored by their dependencies, joined to what people said, refused where unclear."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from salva.cli.main import salva as command
from salva.core.exchange import Flaw
from salva.errors import UsageError
from salva.review.ratings import Sheet
from salva.review.raw_answers import is_raw, scored

QUESTIONS = "item_id,text,proposition_id,dependency,question_natural_language\n" + "".join(
    f"{item},a red cat on a mat,{number},{parents},Question {number}?\n"
    for item in "pqr"
    for number, parents in ((1, "0"), (2, "1"), (3, '"1,2"'), (4, "-"))
)


def sheet(text: str, name: str = "answers.csv") -> Sheet:
    heading, *lines = (line.split("|") for line in text.split())
    rows = [dict(zip(heading, line, strict=True)) for line in lines]
    return Sheet(name=name, rows=rows, places=tuple((name, f"line {i}") for i, _ in enumerate(rows, 2)))


@pytest.mark.parametrize(
    ("answers", "share"),
    [("yyyy", 1.0), ("nyyy", 0.25), ("ynyy", 0.5), ("yyny", 0.75), ("nnnn", 0.0), ("yyyn", 0.75)],
)
def test_a_child_of_a_parent_that_does_not_hold_does_not_hold(answers: str, share: float) -> None:
    rows = "".join(f" p|{i}|{['0', '1', '1,2', ''][i - 1]}|{a}" for i, a in enumerate(answers, 1))
    (row,) = scored(sheet(f"item_id|proposition_id|dependency|answer{rows}")).rows
    assert row == {"item_id": "p", "dsg": f"{share:g}"}


@given(st.lists(st.booleans(), min_size=1, max_size=6), st.data())
def test_dependencies_never_raise_a_score_and_loops_end(said: list[bool], data: st.DataObject) -> None:
    numbers = st.integers(0, len(said) + 1)
    parents = data.draw(st.lists(st.lists(numbers, max_size=3), min_size=len(said), max_size=len(said)))
    rows = "".join(
        f" p|{i}|{','.join(map(str, named))}|{'yes' if answer else 'no'}"
        for i, (answer, named) in enumerate(zip(said, parents, strict=True), 1)
    )
    (row,) = scored(sheet(f"item_id|proposition_id|dependency|answer{rows}")).rows
    assert 0 <= float(row["dsg"]) <= sum(said) / len(said) + 1e-9


def test_answers_agree_with_people_by_the_command(tmp_path: Path) -> None:
    said = {("p", "sd"): "yyyy", ("p", "xl"): "nyyy", ("q", "sd"): "ynyy", ("q", "xl"): "yyny", ("r", "sd"): "nnnn"}
    answers = ["item_id,t2i_model,question_id,answer,other_judge"]
    likert = ["item_id,t2i_model,worker_id,answer"]
    for ((item, model), cells), stars in zip(said.items(), (5, 2, 3, 4, 1), strict=True):
        answers += [f"{item},{model},{i},{'yes' if c == 'y' else 'no'},no" for i, c in enumerate(cells, 1)]
        likert += [f"{item},{model},{worker},{stars}" for worker in ("w1", "w2")]
    for name, text in (("a.csv", "\n".join(answers)), ("l.csv", "\n".join(likert)), ("q.csv", QUESTIONS)):
        (tmp_path / name).write_text(text)
    arguments = ["agree", str(tmp_path / "a.csv"), "--ratings", str(tmp_path / "l.csv"), "--format", "json"]
    done = CliRunner().invoke(command, [*arguments, "--questions", str(tmp_path / "q.csv")])
    assert done.exit_code == 0, done.output
    rows = json.loads(done.stdout)[0]["rows"]
    (rho,) = (row[row.index("spearman") + 1] for row in rows if "dsg" in row and "spearman" in row)
    assert rho == pytest.approx(1.0)
    without = CliRunner().invoke(command, arguments)
    assert without.exit_code != 0
    assert "--questions FILE" in str(without.output) + str(without.exception)


def test_what_is_unclear_is_told_and_what_is_silent_has_no_score() -> None:
    heading = "item_id|proposition_id|dependency|answer"
    assert scored(sheet(f"{heading} p|1|0|yes p|2|1|")).rows == [{"item_id": "p", "dsg": ""}]
    with pytest.raises(UsageError, match="answered twice, and differently"):
        scored(sheet(f"{heading} p|1|0|yes p|1|0|no"))


def test_a_cell_that_is_no_answer_costs_its_picture_the_score_and_no_other() -> None:
    heading = "item_id|proposition_id|dependency|answer"
    flaws: list[Flaw] = []
    pictures = "".join(f" {name}|1|0|yes {name}|2|1|no" for name in "pqrst")
    assert scored(sheet(f"{heading}{pictures} u|1|0|yes u|2|0|maybe"), None, flaws).rows == [
        *({"item_id": name, "dsg": "0.5"} for name in "pqrst"),
        {"item_id": "u", "dsg": ""},
    ]
    assert list(map(str, flaws)) == [
        "answers.csv line 13: answer is 'maybe', neither yes nor no; this picture has no score"
    ]


def test_a_parent_that_is_no_other_question_is_ignored_and_named_once_and_the_others_count() -> None:
    heading = "item_id|model|proposition_id|dependency|answer"
    rows = "".join(f" p|{model}|1|0|no p|{model}|2|1,99,98|yes p|{model}|3|3|yes" for model in ("sd", "xl"))
    flaws: list[Flaw] = []
    assert [row["dsg"] for row in scored(sheet(heading + rows), None, flaws).rows] == ["0.333333333333"] * 2
    assert list(map(str, flaws)) == [
        "answers.csv line 3: parent '99' is no other question of 'p' and is ignored",
        "answers.csv line 3: parent '98' is no other question of 'p' and is ignored",
        "answers.csv line 4: parent '3' is no other question of 'p' and is ignored",
    ]


def test_a_folder_that_is_no_run_is_said_to_be_none(tmp_path: Path) -> None:
    done = CliRunner().invoke(command, ["agree", str(tmp_path)])
    assert "is no run" in str(done.output) + str(done.exception)


def test_scores_are_no_answers() -> None:
    plain = sheet("item_id|model|clip p|sd|0.5 q|sd|0.7")
    assert not is_raw(plain)
    assert scored(plain) is plain


@pytest.mark.parametrize(("column", "yes"), [("holds", "yes"), ("answer_of_llava", "1")])
def test_a_column_is_of_answers_by_its_words_or_by_its_name_and_numbers(column: str, yes: str) -> None:
    raw = sheet(f"item_id|proposition_id|dependency|{column} p|1|0|{yes} p|2|0|{yes}")
    assert scored(raw).rows == [{"item_id": "p", column: "1"}]
