"""A run against people's ratings of it: its scores, its raters, and its failure rate corrected by them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from report.fake_runs import FakeImages, make_case, make_verdict, store_run
from review.rating_rows import raises_code, write

from salva.core.source import RunRecords
from salva.core.verdict import Outcome
from salva.review.columns import Columns
from salva.review.run_agreement import run_agreement


def stored(tmp_path: Path) -> Path:
    cases = [make_case(f"case-{i}") for i in range(40)]
    verdicts = [
        make_verdict(case.case_id, outcome=Outcome.FAIL if i % 2 else Outcome.PASS, scores={"kappa": i / 40})
        for i, case in enumerate(cases)
    ]
    directory = tmp_path / "run"
    store_run(directory, RunRecords(cases=tuple(cases), verdicts=tuple(verdicts)), FakeImages())
    return directory


def test_a_runs_scores_against_people(tmp_path: Path) -> None:
    directory = stored(tmp_path)
    rows: list[dict[str, object]] = [{"case_id": f"case-{i}", "rater": "ann", "kappa": 1 - i / 40} for i in range(40)]
    tables, problems = run_agreement(directory, [write(tmp_path / "r.csv", [*rows, {**rows[0], "case_id": "other"}])])
    assert problems
    assert "'other'" in problems[0]
    scores = next(table for table in tables if table.name == "judges and people")
    assert next(row[3] for row in scores.rows if row[0] == "kappa" and row[2] == "pearson") == pytest.approx(-1)


def test_a_score_has_its_own_scale(tmp_path: Path) -> None:
    cases = [make_case(f"case-{i}") for i in range(12)]
    verdicts = [make_verdict(case.case_id, scores={"right_a": i / 11}) for i, case in enumerate(cases)]
    directory = tmp_path / "run"
    store_run(directory, RunRecords(cases=tuple(cases), verdicts=tuple(verdicts)), FakeImages())
    rows: list[dict[str, object]] = [{"case_id": f"case-{i}", "rater": "ann", "right_a": i / 11} for i in range(12)]
    path = write(tmp_path / "r.csv", rows)
    (table, *_), _ = run_agreement(directory, [path], None, None)
    found = {row[2]: row[-1] for row in table.rows}
    assert str(found["cohen"]).startswith("5 bins from 0 to 1")


def test_a_run_and_a_file_about_something_else(tmp_path: Path) -> None:
    path = write(tmp_path / "r.csv", [{"case_id": "case-1", "rater": "ann", "beauty": 3}])
    run = stored(tmp_path)
    with raises_code("column-missing"):
        run_agreement(run, [path])
    with raises_code("ratings-unrelated"):
        run_agreement(run, [path], Columns(people=("beauty",)))


def test_what_a_runs_raters_wrote_wrong_is_told(tmp_path: Path) -> None:
    rows: list[dict[str, object]] = [
        {"case_id": f"case-{i}", "rater": "ann", "model": "", "kappa": i} for i in range(40)
    ]
    rows[0]["kappa"], rows[1]["model"] = "lots", "nobody"
    rows.append({**rows[5], "kappa": 100})
    tables, problems = run_agreement(stored(tmp_path), [write(tmp_path / "r.csv", rows)])
    assert all(word in problems[0] for word in ("'lots'", "'nobody'", "twice"))
    assert tables[0].rows[0][6] == 38


def test_people_of_a_run_are_held_against_each_other(tmp_path: Path) -> None:
    rows: list[dict[str, object]] = [
        {"case_id": f"case-{i}", "rater": who, "kappa": i + off}
        for i in range(40)
        for who, off in (("ann", 0), ("bob", 1))
    ]
    tables, _ = run_agreement(stored(tmp_path), [write(tmp_path / "r.csv", rows)])
    people = next(table for table in tables if table.name == "people among themselves")
    assert people.rows[0][:2] == ("kappa", 2)
    assert people.rows[0][5] == 40


def test_rows_join_a_run_by_case_id_else_by_id_else_by_prompt_text(tmp_path: Path) -> None:
    cases = [
        replace(case, labels={"id": f"row {i}"}, prompts=(replace(case.prompts[0], text=f"a cat, number {i}"),))
        for i, case in enumerate(make_case(f"case-{i}") for i in range(8))
    ]
    # Two cases share a text, which names neither of them.
    cases.append(replace(cases[0], case_id="case-8", labels={"id": "row 8"}))
    verdicts = [make_verdict(case.case_id, scores={"kappa": i / 8}) for i, case in enumerate(cases)]
    directory = tmp_path / "run"
    store_run(directory, RunRecords(cases=tuple(cases), verdicts=tuple(verdicts)), FakeImages())
    names = {
        "case_id": [case.case_id for case in cases],
        "id": [f"row {i}" for i in range(9)],
        "prompt": [case.prompts[0].text for case in cases],
    }

    def n_compared(columns: list[str]) -> object:
        rows: list[dict[str, object]] = [
            {**{column: names[column][i] for column in columns}, "rater": "ann", "kappa": i / 8 + (i % 2) / 9}
            for i in range(9)
        ]
        tables, problems = run_agreement(directory, [write(tmp_path / "r.csv", rows)])
        assert bool(problems) == (columns == ["prompt"])
        return tables[0].rows[0][6]

    assert [n_compared(columns) for columns in (["case_id"], ["id"], ["prompt"])] == [9, 9, 7]
    names |= {"id": names["id"][::-1], "prompt": names["prompt"][::-1]}
    assert n_compared(["prompt", "id", "case_id"]) == 9
