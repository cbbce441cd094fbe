"""Sheets of runs that judge one picture by boxes and another by questions: nobody's picture is left out in silence."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import pytest
from report.fake_runs import FakeImages, image_id, make_case, make_verdict, store_run
from review.rating_rows import imported, write

from salva.core.case import Case, Prompt
from salva.core.exchange import ExportCount
from salva.core.question import Question
from salva.core.source import RunRecords, RunSource
from salva.review.rating_sheets import COLUMNS, RatingSheet, RatingSheetOptions
from salva.review.run_agreement import run_agreement

N_EACH = 6


def asked_case(index: int) -> Case:
    """A prompt that nobody has a formula for: a judge is asked whether the picture shows it."""
    question = Question(kind="whole", text="Does the picture show it?", answer="yes")
    prompt = Prompt(role="a", text=f"a harbour, number {index}", questions=(question,))
    return replace(make_case(f"asked-{index}", checks=("right-answers",)), prompts=(prompt,))


def mixed_records() -> RunRecords:
    """Pairs judged by boxes, by their change and by answers; every picture its own."""
    cases, verdicts = [], []
    for index in range(N_EACH):
        told, mutant, asked = make_case(f"told-{index}"), make_case(f"mutant-{index}"), asked_case(index)
        cases += [told, mutant, asked]
        pictures = {
            case.case_id: {prompt.role: image_id(f"{case.case_id}-{prompt.role}") for prompt in case.prompts}
            for case in (told, mutant, asked)
        }
        right = float(index % 2)
        verdicts += [
            make_verdict(
                told.case_id,
                check="truth",
                scores={"right_a": right, "right_b": 1.0},
                images=pictures[told.case_id],
            ),
            make_verdict(mutant.case_id, check="entity-change", images=pictures[mutant.case_id]),
            make_verdict(
                asked.case_id,
                check="right-answers",
                observers=("judge",),
                scores={"faith_A": right, "dsg_A": right},
                images=pictures[asked.case_id],
            ),
        ]
    return RunRecords(cases=tuple(cases), verdicts=tuple(verdicts))


def written(records: RunRecords, folder: Path, **options: int) -> tuple[ExportCount, list[dict[str, str]]]:
    sheet = RatingSheet(RatingSheetOptions(**options)).write(RunSource(records, FakeImages()), folder)  # type: ignore[arg-type]  # numbers alone
    with (folder / "ratings.csv").open(encoding="utf-8", newline="") as file:
        return sheet, list(csv.DictReader(file))


def filled(rows: list[dict[str, str]]) -> list[dict[str, str]]:
    """What two people make of it: halves that follow the number of the case, one of them less sure."""
    return [
        {**row, "rater": who, "objects": str(best), "relations": str(50 * (int(row["case_id"].split("-")[1]) % 2))}
        for row in rows
        for who, best in (("ann", 50), ("bob", 40))
    ]


def test_every_picture_of_a_mixed_run_is_on_the_sheet(tmp_path: Path) -> None:
    records = mixed_records()
    told, rows = written(records, tmp_path / "sheet")
    painted = {picture for verdict in records.verdicts for picture in verdict.images.values()}
    assert told.n == len(painted) == len(list((tmp_path / "sheet" / "images").iterdir())) == 5 * N_EACH
    assert tuple(rows[0]) == COLUMNS
    assert {row["case_id"] for row in rows} == {case.case_id for case in records.cases}
    assert told.warning == ""


def test_a_mixed_sheet_filled_in_is_held_against_boxes_and_answers_and_is_imported(tmp_path: Path) -> None:
    records = mixed_records()
    run = tmp_path / "run"
    store_run(run, records, FakeImages())
    _, rows = written(records, tmp_path / "sheet")
    path = write(tmp_path / "filled.csv", filled(rows))
    tables, problems = run_agreement(run, [path])
    assert not problems
    by_name = {table.name: table for table in tables}
    both = by_name["judges and people"]
    score, judge, statistic, value, n = (
        both.columns.index(name) for name in ("score", "judge", "statistic", "value", "n")
    )
    pearson = {(row[score], row[judge]): row for row in both.rows if row[statistic] == "pearson"}
    told, asked = "truth: pocket+rapidocr", "right-answers: judge"
    for key in (("right_a", told), ("faith_A", asked), ("dsg_A", asked)):
        assert pearson[key][value] == pytest.approx(1.0)
        assert pearson[key][n] == N_EACH
    among = by_name["people among themselves"]
    # One rating of a picture is one thing that people agree on, whatever judges call it.
    assert [(row[0], row[among.columns.index("n")]) for row in among.rows] == [
        ("right_a", 3 * N_EACH),
        ("right_b", 2 * N_EACH),
    ]
    read_in = imported(tmp_path / "rated", path)
    assert (read_in.problems, read_in.counts["ratings"]) == ((), 2 * len(rows))
