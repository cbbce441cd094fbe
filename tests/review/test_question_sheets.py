"""Sheets by question: written blind, filled in by several people, read back as scores of pictures."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from report.fake_runs import FakeImages, make_case, make_verdict
from review.rating_rows import raises_code
from review.test_calibration import by_name, graded_case, score_of

from salva.core.run_file import new_run_file
from salva.core.run_spec import ComponentSpec, RunSpec
from salva.core.source import RunRecords, RunSource
from salva.messages import code_of
from salva.review.question_sheets import QUESTION_COLUMNS
from salva.review.rating_sheets import RatingSheet, RatingSheetOptions
from salva.review.run_agreement import run_agreement
from salva.store.runfile import write_run_file
from salva.store.sqlite import open_run

N = 80
ROLES = ("l1", "l2")


def records() -> RunRecords:
    cases = [graded_case(index, ROLES) for index in range(N)]
    verdicts = [
        make_verdict(
            case.case_id,
            check="levels",
            observers=("strict",),
            scores={"s_l1": score_of(index), "s_l2": score_of(index) / 2},
            images={role: f"{role}-{index}" for role in ROLES},
        )
        for index, case in enumerate(cases)
    ]
    return RunRecords(cases=tuple(cases), verdicts=tuple(verdicts))


def sheet_rows(tmp_path: Path, **options: object) -> list[dict[str, str]]:
    options = {"roles": (), **options}
    RatingSheet(RatingSheetOptions(**options)).write(RunSource(records(), FakeImages()), tmp_path / "sheet")  # type: ignore[arg-type]
    with (tmp_path / "sheet" / "ratings.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def run_directory(tmp_path: Path, mean: str = "dimensions") -> Path:
    directory = tmp_path / "run"
    directory.mkdir()
    check = ComponentSpec(role="check", name="levels", options={"mean": mean})
    write_run_file(directory, new_run_file(RunSpec.of("fake", checks=(check,))))
    with open_run(directory, "write") as store:
        for ordinal, case in enumerate(records().cases):
            store.put_case(ordinal, case)
        for verdict in records().verdicts:
            store.put_verdict(verdict)
    return directory


Answers = Callable[[str, dict[str, str]], object]


def filled(tmp_path: Path, rows: Sequence[dict[str, str]], raters: Sequence[str], answers: Answers) -> Path:
    path = tmp_path / "filled.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, QUESTION_COLUMNS)
        writer.writeheader()
        writer.writerows({**row, "rater": who, "score": answers(who, row)} for who in raters for row in rows)
    return path


def judged(row: dict[str, str]) -> float:
    return score_of(int(row["case_id"].removeprefix("g-"))) / (1 if row["image_role"] == "l1" else 2)


def test_a_sheet_asks_every_question_of_every_picture_and_tells_no_score(tmp_path: Path) -> None:
    rows = sheet_rows(tmp_path)
    assert len(rows) == N * 2 * 4
    assert [row["question"] for row in rows[:4]] == ["1", "2", "3", "label"]
    assert len({row["image"] for row in rows[:4]}) == 1
    assert {row["asked"] for row in rows if row["question"] == "2"} == {"point?"}
    assert {(row["rater"], row["score"], row["model"]) for row in rows} == {("", "", "")}
    assert [row["case_id"] for row in rows] != sorted(row["case_id"] for row in rows)


def test_a_sample_favours_doubtful_pictures_of_a_role(tmp_path: Path) -> None:
    rows = sheet_rows(tmp_path, roles=("l1",), sample=24)
    pictures = {row["case_id"]: judged(row) for row in rows}
    assert {row["image_role"] for row in rows} == {"l1"}
    assert len(pictures) == 24
    assert sum(0.3 <= score <= 0.7 for score in pictures.values()) == 18
    assert len(sheet_rows(tmp_path / "more", roles=("l1",), sample=70)) == 70 * 4, "what lacks comes from the others"
    assert len(sheet_rows(tmp_path / "most", roles=("l1",), sample=1000)) == N * 4


def test_answers_of_several_people_become_scores_and_labels(tmp_path: Path) -> None:
    def answers(who: str, row: dict[str, str]) -> object:
        if row["question"] == "label":
            return "yes" if judged(row) >= 0.4 else "no"
        return 1 if row["question"] == "2" else 0 if who == "ann" else 0.5

    rows = sheet_rows(tmp_path, roles=("l1",))
    tables, problems = run_agreement(run_directory(tmp_path), [filled(tmp_path, rows, ("ann", "bob"), answers)])
    assert not problems
    # Weights 3, 15, 8: ann gives 15/26, bob (15 + 5.5)/26.
    people = (15 / 26 + 20.5 / 26) / 2
    (far,) = by_name(tables)["judge minus people"]
    assert far["mean"] == pytest.approx(sum(score_of(index) - people for index in range(N)) / N)
    assert [(row["best"], row["accuracy"]) for row in by_name(tables)["best threshold"]] == [(0.4, 1.0)]
    among = {row["score"]: row for row in by_name(tables)["people among themselves"]}
    assert (among["passes_l1"]["raters"], among["passes_l1"]["alpha"]) == (2, 1.0)
    assert "s_l1" in among


def test_a_sample_filled_in_gives_accuracy_of_all_pictures_too(tmp_path: Path) -> None:
    rows = sheet_rows(tmp_path, roles=("l1",), sample=40)

    def said(_: str, row: dict[str, str]) -> object:
        return "yes" if judged(row) > 0.7 else "no"

    tables, _ = run_agreement(run_directory(tmp_path), [filled(tmp_path, rows, ("ann",), said)])
    at_half = next(row for row in by_name(tables)["thresholds"] if row["threshold"] == 0.5)
    # People fail what lies between 0.5 and 0.7; such pictures are most of the sample and few of the run.
    truth = sum((score_of(i) >= 0.5) == (score_of(i) > 0.7) for i in range(N)) / N
    raw, reweighted = float(str(at_half["accuracy"])), float(str(at_half["accuracy_all"]))
    assert abs(reweighted - truth) < 0.05 < truth - raw


def test_what_is_no_answer_is_told_and_what_is_blank_is_not(tmp_path: Path) -> None:
    rows = sheet_rows(tmp_path, roles=("l1",))[:40]
    bad = {("1", 0): "1.5", ("2", 1): "good", ("3", 2): ""}

    def answers(who: str, row: dict[str, str]) -> object:
        if rows.index(row) // 4 > 6:
            return ""
        return bad.get((row["question"], rows.index(row) // 4), judged(row) if row["question"] != "label" else "")

    rows[3]["question"] = "9"
    tables, problems = run_agreement(run_directory(tmp_path), [filled(tmp_path, rows, ("",), answers)])
    assert [code_of(problem) for problem in problems] == ["ratings-unused"]
    for word in ("'1.5'", "'good'", "question '9'", "answered 2 of 3"):
        assert word in problems[0]
    assert by_name(tables)["judge minus people"][0]["n"] == 4, "ten pictures, three blank, three spoilt"


def test_a_blank_sheet_and_wrong_choices_say_what_to_do(tmp_path: Path) -> None:
    rows = sheet_rows(tmp_path)
    with raises_code("ratings-missing"):
        run_agreement(run_directory(tmp_path), [filled(tmp_path, rows, ("ann",), lambda *_: "")])
    with raises_code("role-unrated"):
        sheet_rows(tmp_path / "other", roles=("l9",))
    with raises_code("option-invalid"):
        sheet_rows(tmp_path / "other", sample=-1)
    plain = RunSource(RunRecords(cases=(make_case(),), verdicts=()), FakeImages())
    with raises_code("questions-missing"):
        RatingSheet(RatingSheetOptions(sample=3)).write(plain, tmp_path / "none")


def test_all_scores_together_are_of_the_roles_that_people_rated(tmp_path: Path) -> None:
    rows = sheet_rows(tmp_path)

    def said(_: str, row: dict[str, str]) -> object:
        return "yes" if judged(row) >= 0.4 else "no"

    both, _ = run_agreement(run_directory(tmp_path), [filled(tmp_path, rows, ("ann",), said)])
    at = {str(row["score"]): row for row in by_name(both)["thresholds"] if row["threshold"] == 0.4}
    assert [*at] == ["s_l1", "s_l2", "all s"]
    assert [row["accuracy_all"] for row in at.values()] == [1.0] * 3
