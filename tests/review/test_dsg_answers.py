"""DSG's raw answers: scored by their dependencies and joined to people's ratings, as DSG does."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from salva.core.exchange import Flaw
from salva.errors import UsageError
from salva.review.agreement import table_agreement
from salva.review.cells import FileRow
from salva.review.columns import Columns
from salva.review.dsg_answers import is_question_file, is_rated, is_raw, scored_rows
from salva.review.rating_table import read_ratings

QUESTIONS = "item_id,text,proposition_id,dependency,question_natural_language\n" + "".join(
    f"{item},a red cat on a mat,{number},{parents},Question {number}?\n"
    for item in "pqr"
    for number, parents in ((1, "0"), (2, "1"), (3, '"1,2"'), (4, "-"))
)
HEADING = "item_id|question_id|dependency_id|answer"


def lines(text: str) -> list[FileRow]:
    heading, *rows = (line.split("|") for line in text.split())
    return [FileRow("a.csv", f"line {i}", dict(zip(heading, row, strict=True))) for i, row in enumerate(rows, 2)]


def scores(text: str, flaws: list[Flaw] | None = None) -> dict[str, str]:
    rows, found = scored_rows(lines(text), [], ())
    (flaws if flaws is not None else []).extend(found)
    return {row.cell("item_id"): row.cell("dsg") for row in rows}


@pytest.mark.parametrize(
    ("answers", "share"),
    [("yyyy", 1.0), ("nyyy", 0.25), ("ynyy", 0.5), ("yyny", 0.75), ("nnnn", 0.0), ("yyyn", 0.75)],
)
def test_a_child_of_a_parent_that_is_not_answered_with_yes_does_not_hold(answers: str, share: float) -> None:
    words = {"y": "yes", "n": "no"}
    rows = "".join(f" p|{i}|{['0', '1', '1,2', ''][i - 1]}|{words[a]}" for i, a in enumerate(answers, 1))
    assert scores(HEADING + rows) == {"p": f"{share:g}"}


def test_what_a_parent_depends_on_itself_plays_no_part() -> None:
    assert scores(f"{HEADING} p|1|0|no p|2|1|yes p|3|2|yes") == {"p": f"{1 / 3:.12g}"}


@given(st.lists(st.booleans(), min_size=1, max_size=6), st.data())
def test_dependencies_never_raise_a_score_and_loops_end(given_answers: list[bool], data: st.DataObject) -> None:
    numbers = st.integers(0, len(given_answers) + 1)
    parents = data.draw(
        st.lists(st.lists(numbers, max_size=3), min_size=len(given_answers), max_size=len(given_answers))
    )
    rows = "".join(
        f" p|{i}|{','.join(map(str, named))}|{'yes' if answer else 'no'}"
        for i, (answer, named) in enumerate(zip(given_answers, parents, strict=True), 1)
    )
    share = float(scores(HEADING + rows)["p"])
    assert 0 <= share <= sum(given_answers) / len(given_answers) + 1e-9


def test_answers_agree_with_people_given_a_question_file(tmp_path: Path) -> None:
    answers_of = {
        ("p", "sd"): "yyyy",
        ("p", "xl"): "nyyy",
        ("q", "sd"): "ynyy",
        ("q", "xl"): "yyny",
        ("r", "sd"): "nnnn",
    }
    answers = ["item_id,t2i_model,question_id,answer,other_judge"]
    likert = ["item_id,t2i_model,worker_id,question,answer"]
    for ((item, model), cells), stars in zip(answers_of.items(), (5, 2, 3, 4, 1), strict=True):
        answers += [f"{item},{model},{i},{'yes' if c == 'y' else 'no'},no" for i, c in enumerate(cells, 1)]
        likert += [f"{item},{model},{worker},How consistent?,{stars}" for worker in ("w1", "w2")]
    files = [tmp_path / name for name in ("a.csv", "l.csv", "q.csv")]
    for path, text in zip(files, ("\n".join(answers), "\n".join(likert), QUESTIONS), strict=True):
        path.write_text(text)
    (table, among), _ = table_agreement(read_ratings(files, Columns(judges=("other_judge",))))
    rho = {row[1]: row[3] for row in table.rows if row[2] == "spearman"}
    assert rho == {"dsg": pytest.approx(1.0), "other_judge": None}
    assert {row[1]: row[7] for row in table.rows if row[2] == "cohen"}[
        "dsg"
    ] == "5 bins from 0 to 1, people from 1 to 5"
    assert among.rows[0][1:3] == (2, 1.0)
    with pytest.raises(UsageError) as caught:
        read_ratings(files[:2])
    assert caught.value.code == "dependency-missing"


@pytest.mark.parametrize("answer", ["maybe", "", "0.5"])
def test_an_answer_that_is_neither_counts_as_no_and_is_named(answer: str) -> None:
    flaws: list[Flaw] = []
    found = scores(f"{HEADING} p|1|0|yes p|2|1|no u|1|0|{answer} u|2|1|yes u|3|0|yes", flaws)
    assert found == {"p": "0.5", "u": f"{1 / 3:.12g}"}
    assert [flaw.where for flaw in flaws] == ["line 4"]


def test_a_rated_image_without_an_answer_scores_0_where_the_answers_are_about_its_part_of_dsg() -> None:
    heading = "dsg_prompt_split|t2i_model|item_id"
    rated = "".join(f" {image}|w1|4 {image}|w2|5" for image in ("one|sd|q", "one|xl|p", "two|sd|r", "one|sd|p"))
    rows, flaws = scored_rows(
        lines(f"{heading}|question_id|dependency_id|answer one|sd|p|1|0|yes"),
        [],
        (),
        lines(f"{heading}|worker_id|answer{rated}"),
    )
    assert [(row.cell("item_id"), row.cell("t2i_model"), row.cell("dsg")) for row in rows] == [
        ("p", "sd", "1"),
        ("q", "sd", "0"),
    ]
    assert [flaw.where for flaw in flaws] == ["line 2"]


def test_a_part_without_a_name_has_no_such_images() -> None:
    rows, _ = scored_rows(lines(f"{HEADING} p|1|0|yes"), [], (), lines("item_id|worker_id|answer q|w|3"))
    assert [row.cell("item_id") for row in rows] == ["p"]


def test_answers_with_their_own_dependencies_need_no_question_file() -> None:
    others = lines("item_id|proposition_id|dependency p|1|0 p|2|0")
    (row,), _ = scored_rows(lines(f"{HEADING} p|1|0|no p|2|1|yes"), others, ())
    assert row.cell("dsg") == "0"


def test_two_answers_to_one_question_leave_no_score() -> None:
    flaws: list[Flaw] = []
    assert scores(f"{HEADING} p|1|0|yes p|1|0|no q|1|0|1 q|1|0|yes", flaws) == {"p": "", "q": "1"}
    assert [flaw.where for flaw in flaws] == ["line 3"]


def test_a_parent_that_is_no_other_question_is_ignored() -> None:
    heading = "item_id|t2i_model|proposition_id|dependency|answer"
    rows = "".join(f" p|{model}|1|0|no p|{model}|2|1,99,98|yes p|{model}|3|3|yes" for model in ("sd", "xl"))
    found, flaws = scored_rows(lines(heading + rows), [], ())
    assert [row.cell("dsg") for row in found] == ["0.333333333333"] * 2
    assert flaws == []


def test_kinds_of_files_are_known_by_their_columns() -> None:
    assert is_raw(["item_id", "question_id", "answer"])
    assert not is_raw(["item_id", "worker_id", "answer"])
    assert is_rated(["item_id", "worker_id", "answer"])
    assert not is_rated(["item_id", "question_id", "answer"])
    assert not is_raw(["item_id", "question_id", "clip"])
    assert is_question_file(["item_id", "proposition_id", "dependency"])
    assert not is_question_file(["item_id", "question_id", "dependency_id", "answer"])


def test_published_files_give_the_published_figures(foreign_data: Path) -> None:
    folder = foreign_data / "benchmarks" / "dsg"
    table = read_ratings([folder / "mplug_dsg.csv", folder / "tifa160-likert-anns.csv"])
    (judged, _), _ = table_agreement(table)
    value = {row[2]: row[3] for row in judged.rows}
    assert {row[6] for row in judged.rows} == {800}
    assert value["spearman"] == pytest.approx(0.463, abs=5e-5)
    assert value["kendall tau-b"] == pytest.approx(0.37995, abs=5e-6)
