"""Ratings into a run: verdicts as the check gives them, the agreement of the files, every bad row named."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner
from review.rating_rows import RATERS, TEXTS, WIDE, Rows, imported, raises_code, triple_rows, wide_rows, write

from salva.cli.main import salva as command
from salva.core.case import Case
from salva.core.exchange import ImportSettings, ReadIn
from salva.core.image import ImageRef
from salva.core.observation import Answer
from salva.core.protocols import ImageObservations
from salva.core.verdict import Outcome, Verdict
from salva.engine.progress import SilentProgress
from salva.errors import UsageError
from salva.exchange.import_ratings import RatingsImport
from salva.exchange.importing import PROBLEMS_FILE
from salva.report.html import write_html
from salva.report.summary import summarise_run
from salva.review.agreement import table_agreement
from salva.review.rating_table import read_ratings
from salva.runs.verify import verify
from salva.store.queries import read_records
from salva.suites.semvar.semantic_effect import SemanticEffect, SemanticEffectOptions, score_query


def by_check(case: Case, rows: Rows, who: str) -> Verdict:
    """The verdict of the check itself on a judge's answers with the same numbers."""
    answers = {
        (str(row["text_role"]), str(row["image_role"])): Answer(
            text="", scores={"objects": float(str(row["objects"])), "relations": float(str(row["relations"]))}
        )
        for row in rows
        if row["rater"] == who and row["case_id"] == case.case_id
    }
    observations = {
        image: ImageObservations(
            image=ImageRef(image_id=image, width=1, height=1),
            seen={score_query(case.prompt(t)): answer for (t, i), answer in answers.items() if i == image},
        )
        for image in TEXTS
    }
    found = SemanticEffect(SemanticEffectOptions()).judge(case, observations)
    scores = {name: value for name, value in found.scores.items() if not name.startswith("judge_")}
    return Verdict(
        case_id=case.case_id,
        repeat=0,
        arm="pair",
        model="sd",
        check="semantic-effect",
        observers=(who,),
        outcome=found.outcome,
        failure_types=found.failure_types,
        failures=found.failures,
        scores=scores,
        reason=found.reason,
    )


def read(files: Sequence[Path], model: str = "", people: tuple[str, ...] = (), judge: tuple[str, ...] = ()) -> ReadIn:
    return RatingsImport(RatingsImport.Options(people=people, judge=judge)).read(files, ImportSettings(model=model))


def test_every_rater_gets_the_verdicts_that_the_relation_gives_for_the_same_scores(tmp_path: Path) -> None:
    rows = triple_rows()
    read_in = imported(tmp_path / "run", write(tmp_path / "r.csv", rows))
    assert read_in.problems == ()
    assert (read_in.suite, read_in.models, len(read_in.cases)) == ("semvar", ("sd",), 6)
    records = read_records(tmp_path / "run")
    stored = {(one.case_id, *one.observers): one for one in records.verdicts}
    expected = {(case.case_id, who): by_check(case, rows, who) for case in records.cases for who in RATERS}
    assert stored == expected
    assert {one.outcome for one in stored.values()} == {Outcome.PASS, Outcome.FAIL}
    assert any("reversed-role" in one.failure_types for one in stored.values())


def test_cases_have_texts_and_categories_and_the_report_has_every_rater(tmp_path: Path) -> None:
    imported(tmp_path / "run", write(tmp_path / "r.csv", triple_rows()))
    case = next(one for one in read_records(tmp_path / "run").cases if one.case_id == "semvar-1")
    assert {prompt.role: prompt.text for prompt in case.prompts} == TEXTS
    assert (case.labels["category"], case.labels["aspect"]) == ("color,size", "attribute-value,attribute-comparison")
    (model,) = summarise_run(tmp_path / "run").by_model.values()
    effects = model.table("semantic effect (as Table 2, with intervals)")
    assert effects is not None
    assert {row[0] for row in effects.rows} == set(RATERS)
    write_html(tmp_path / "run", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "ann, bob, cyd" in page
    assert "is not in the run" in page
    assert "missing or damaged" not in page
    assert verify(tmp_path / "run", SilentProgress()).problems == ()


@pytest.mark.parametrize("names", [("T_{}", "I_{}"), ("t_{}", "i_{}"), ("{}", "{}")])
def test_roles_go_by_several_names(tmp_path: Path, names: tuple[str, str]) -> None:
    rows = triple_rows(n_cases=2)
    for row in rows:
        row["text_role"] = names[0].format(row["text_role"])
        row["image_role"] = names[1].format(row["image_role"])
    read_in = read([write(tmp_path / "r.csv", rows)])
    assert len(read_in.verdicts) == 6
    assert all("kappa" in one.scores for one in read_in.verdicts)


def test_models_and_repeats_stand_apart_and_a_blind_sheet_takes_the_model_it_is_given(tmp_path: Path) -> None:
    read_in = read([write(tmp_path / "r.csv", triple_rows(models=("x", "y"), repeats=2))])
    assert read_in.models == ("x", "y")
    assert (read_in.repeats, len(read_in.verdicts)) == (2, 6 * 2 * 2 * 3)
    blind = write(tmp_path / "blind.csv", triple_rows(models=("",)))
    assert read([blind], model="sd").models == ("sd",)
    assert read([blind]).models == ("unnamed",)


def test_a_missing_pair_leaves_the_triple_undecided_and_says_which(tmp_path: Path) -> None:
    rows = [
        row
        for row in triple_rows(n_cases=2)
        if (row["case_id"], row["rater"], row["text_role"], row["image_role"]) != ("semvar-1", "bob", "pv", "a")
    ]
    verdicts = {(v.case_id, *v.observers): v for v in read([write(tmp_path / "r.csv", rows)]).verdicts}
    gap = verdicts["semvar-1", "bob"]
    assert gap.outcome is Outcome.UNDECIDED
    assert "image 'a' with text 'pv': bob gave" in gap.reason
    assert gap.scores == {}
    assert verdicts["semvar-1", "ann"].outcome is not Outcome.UNDECIDED


def test_a_triple_without_texts_is_decided_all_the_same(tmp_path: Path) -> None:
    rows = [{k: v for k, v in row.items() if k != "text"} for row in triple_rows()]
    read_in = imported(tmp_path / "run", write(tmp_path / "r.csv", rows))
    assert {one.outcome for one in read_in.verdicts} == {Outcome.PASS, Outcome.FAIL}
    (finding,) = read_in.cases[0].findings
    assert (finding.kind, finding.subject) == ("no-text", ("T_a", "T_pv", "T_pi"))
    (model,) = summarise_run(tmp_path / "run").by_model.values()
    assert model.metrics["kappa"].n == 6
    assert not [table for table in model.tables if table.name.startswith("edit distance")], "there are no letters"


def test_one_number_is_no_score_of_objects_and_relations(tmp_path: Path) -> None:
    rows = [{**row, "gpt": 80} for row in triple_rows(n_cases=1)]
    read_in = read([write(tmp_path / "r.csv", rows)], judge=("gpt",))
    judge = next(one for one in read_in.verdicts if one.observers == ("gpt",))
    assert judge.outcome is Outcome.UNDECIDED
    assert "one number" in judge.reason


def test_bad_rows_are_named_counted_and_kept(tmp_path: Path) -> None:
    rows = triple_rows(n_cases=2)
    rows[0] |= {"objects": 51}
    rows[1] |= {"relations": "lots"}
    rows[2] |= {"relations": ""}
    for row in rows[3:6]:
        row["text_role"] = "px"
    rows.append(dict(rows[8]))
    path = write(tmp_path / "r.csv", rows)
    done = CliRunner().invoke(command, ["import", str(path), "--as", "ratings", "--out", str(tmp_path / "run")])
    assert done.exit_code == 0, done.output
    with (tmp_path / "run" / PROBLEMS_FILE).open(newline="", encoding="utf-8") as file:
        named = [(row["file"], row["line"]) for row in csv.DictReader(file)]
    assert named == [("r.csv", line) for line in ("2", "3", "4", f"{len(rows) + 1}", "5")]
    assert "5 problems" in done.output


@pytest.mark.parametrize(
    ("content", "code"),
    [
        ("", "file-empty"),
        ("case_id,rater,score\n", "file-empty"),
        ("case_id,text_role,image_role,rater,objects,relations\nq,a,pi,ann,3,4\nq,x,y,ann,3,4\n", ""),
        ("case_id,text_role,image_role,rater,objects,relations\nq,a,zz,ann,3,4\n", "role-unknown"),
        ("text_role,image_role,rater,objects,relations\na,a,ann,3,4\n", "column-missing"),
        ("case_id,rater,note\nq,ann,good\n", "column-missing"),
        ("case_id,rater,score\nq,ann,\n", "ratings-missing"),
    ],
)
def test_files_that_are_no_ratings_make_no_run(tmp_path: Path, content: str, code: str) -> None:
    path = tmp_path / "r.csv"
    path.write_text(content, encoding="utf-8")
    if not code:
        assert len(imported(tmp_path / "run", path).problems) == 1
        return
    with raises_code(code):
        imported(tmp_path / "run", path)
    assert not (tmp_path / "run").exists()


def test_a_folder_in_use_and_flags_of_another_format_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "r.csv", triple_rows(n_cases=1))
    imported(tmp_path / "run", path)
    with raises_code("output-exists"):
        imported(tmp_path / "run", path)
    with raises_code("file-twice"):
        imported(tmp_path / "other", path, path)
    flags = ["--as", "tifa-lite", "--rater", "rater", "--out", str(tmp_path / "x")]
    refused = CliRunner().invoke(command, ["import", str(path), *flags])
    assert isinstance(refused.exception, UsageError)


@pytest.mark.parametrize("is_named", [True, False])
def test_one_copy_a_rater_is_put_together_and_a_missing_name_is_the_files(tmp_path: Path, is_named: bool) -> None:
    rows = triple_rows()
    copies = []
    for who in RATERS:
        mine = [{k: v for k, v in row.items() if is_named or k != "rater"} for row in rows if row["rater"] == who]
        copies.append(write(tmp_path / f"{who}.csv", [{**row, "rater": ""} if who == "cyd" else row for row in mine]))
    together = imported(tmp_path / "together", *copies)
    whole = imported(tmp_path / "whole", write(tmp_path / "all.csv", triple_rows()))
    assert {(v.case_id, v.observers): v.scores for v in together.verdicts} == {
        (v.case_id, v.observers): v.scores for v in whole.verdicts
    }
    assert together.problems == ()


def test_judges_scores_in_a_file_of_their_own_are_judges(tmp_path: Path) -> None:
    people = write(tmp_path / "people.csv", triple_rows())
    of_judge = [{"judge" if k == "rater" else k: v for k, v in row.items()} for row in triple_rows(("gpt",))]
    scores = write(tmp_path / "scores.csv", of_judge)
    read_in = imported(tmp_path / "run", people, scores)
    assert len(read_in.verdicts) == 6 * 4
    about = json.loads((tmp_path / "run" / "run.json").read_text())
    assert about["imported"]["about"]["people"] == list(RATERS)
    assert about["imported"]["about"]["judges"] == ["gpt"]
    assert [one["name"] for one in about["imported"]["files"]] == ["people.csv", "scores.csv"]
    assert all(len(one["sha256"]) == 64 for one in about["imported"]["files"])
    assert {(part["role"], part["name"]) for part in about["spec"]["observers"]} == {
        *(("person", "ann"), ("person", "bob"), ("person", "cyd"), ("judge", "gpt")),
    }


def test_rated_items_have_means_and_no_failure_rate(tmp_path: Path) -> None:
    rows = wide_rows()
    imported(tmp_path / "run", write(tmp_path / "r.csv", rows), **WIDE)
    summary = summarise_run(tmp_path / "run")
    assert (summary.suite, summary.models) == ("ratings", ("x", "y"))
    for model in summary.by_model.values():
        assert model.failure_rate is None
        table = model.table("mean ratings")
        assert table is not None
        means = {str(row[1]): row for row in table.rows}
        for who, kind in (("human_1", "person"), ("human_2", "person"), ("tifa", "judge")):
            known = [float(str(row[who])) for row in rows if row["model"] == model.model and row[who] != ""]
            assert means[who][2:4] == (kind, len(known))
            assert means[who][4] == pytest.approx(sum(known) / len(known))
        pairs = [[row[who] for who in ("human_1", "human_2")] for row in rows if row["model"] == model.model]
        both = [[float(str(cell)) for cell in pair if cell != ""] for pair in pairs]
        of_things = [sum(cells) / len(cells) for cells in both if cells]
        assert means["all people"][4] == pytest.approx(sum(of_things) / len(of_things))
        assert model.metrics["mean_rating"].value == means["all people"][4]
        assert model.tables[0].name == "mean ratings"
    write_html(tmp_path / "run", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Mean rating" in page
    assert "failed." not in page
    assert "passed." not in page


def test_yes_and_no_to_a_picture_is_in_no_mean_with_answers_to_its_questions(tmp_path: Path) -> None:
    rows: Rows = [
        {"case_id": f"c-{i}", "image_role": "l1", "question": asked, "rater": who, "score": score}
        for i in range(4)
        for who in ("ann", "bob")
        for asked, score in (("1", 0.25), ("2", 0.5 if who == "ann" else 0.25 * i), ("label", int(i != 3)))
    ]
    path = write(tmp_path / "r.csv", rows)
    imported(tmp_path / "run", path)
    (model,) = summarise_run(tmp_path / "run").by_model.values()
    means = {table.name: {str(row[1]): row[3:5] for row in table.rows} for table in model.tables}
    assert means["mean ratings"]["ann"] == (8, 0.375)
    assert means["labels"] == dict.fromkeys(("all people", "ann", "bob"), (4, 0.75))
    assert (model.metrics["mean_rating"].value, model.metrics["mean_label"].value) == (
        means["mean ratings"]["all people"][1],
        0.75,
    )
    (table,) = table_agreement(read_ratings([path]))[0]
    assert [(row[0], row[5]) for row in table.rows] == [("all, rating", 8), ("all, label", 4)]
    assert table.rows[1][2] == 1


def test_halves_are_kept_beside_a_rating(tmp_path: Path) -> None:
    rows: Rows = [{"id": i, "rater": "ann", "Object Accuracy (0-50)": 40, "Relevance (0-50)": i} for i in range(3)]
    people = "Object Accuracy (0-50)+Relevance (0-50)"
    read_in = read([write(tmp_path / "r.csv", rows)], people=(people,))
    assert [dict(one.scores) for one in read_in.verdicts] == [
        {"rating": 40.0 + i, "objects": 40.0, "relations": float(i)} for i in range(3)
    ]


@pytest.mark.parametrize("words", [("yes", "no"), ("FAIL", "PASS"), ("1", "0")])
def test_yes_and_no_about_a_check_are_verdicts(tmp_path: Path, words: tuple[str, str]) -> None:
    rows: Rows = [
        {"case_id": f"c-{i}", "rater": who, "failed": words[(i + k) % 3 > 0]}
        for i in range(9)
        for k, who in enumerate(("ann", "bob", "gpt"))
    ]
    imported(tmp_path / "run", write(tmp_path / "r.csv", rows), judge="gpt")
    verdicts = {(one.case_id, *one.observers): one.outcome for one in read_records(tmp_path / "run").verdicts}
    assert verdicts["c-0", "ann"] is Outcome.FAIL
    assert verdicts["c-1", "ann"] is Outcome.PASS
    assert verdicts["c-2", "bob"] is Outcome.FAIL
    assert verdicts["c-1", "gpt"] is Outcome.FAIL
    assert summarise_run(tmp_path / "run").failure_rate == pytest.approx(1 / 3)


def test_a_word_beside_a_rating_decides_and_the_rating_stays(tmp_path: Path) -> None:
    rows: Rows = [
        {"case_id": f"c-{i}", "rater": "ann", "score": i, "failed": word}
        for i, word in enumerate(("yes", "no", "2", "", "cannot tell", "0.7"))
    ]
    read_in = read([write(tmp_path / "r.csv", rows)])
    outcomes = [one.outcome for one in read_in.verdicts]
    assert outcomes == [Outcome.FAIL, Outcome.PASS, *[Outcome.UNDECIDED] * 4]
    assert [one.scores["rating"] for one in read_in.verdicts] == [0, 1, 2, 3, 4, 5]
    assert [one.where for one in read_in.problems] == ["line 4", "line 7"]


def test_a_name_with_a_plus_is_one_observer(tmp_path: Path) -> None:
    rows: Rows = [{"id": i, "rater": who, "score": i} for i in range(4) for who in ("a+x", "b+x")]
    read_in = read([write(tmp_path / "r.csv", rows)])
    assert {one.observers for one in read_in.verdicts} == {("a and x",), ("b and x",)}
