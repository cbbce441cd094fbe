"""Review sheets from the run to its corrected rate: drawn, filled in, read, kept."""

from __future__ import annotations

import csv
import json
import sqlite3
from collections import Counter
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from in_process import salva
from msgspec import structs
from PIL import Image
from report.fake_runs import FakeImages, make_case, make_verdict, store_run
from review.rating_rows import raises_code, write
from review.reviewed_run import ERROR, FAIL, PASS, UNDECIDED, Reviewed, fill, reviewed_run, store

from salva.cli.main import salva as command
from salva.core.review import Label
from salva.core.source import RunRecords
from salva.core.verdict import Outcome
from salva.errors import StoreError
from salva.exchange.exporting import export_run
from salva.messages import code_of, message
from salva.report.summary import summarise_run
from salva.review.run_agreement import reviewed_agreement, run_agreement
from salva.review.run_join import model_code
from salva.run_results import judgements_by_model
from salva.store.queries import read_records
from salva.store.reviews import REVIEWS, append_reviews, read_reviews


def small_run() -> Reviewed:
    """30 results of every kind; people find 9 failures."""
    decided = {(FAIL, True): 5, (FAIL, False): 2, (PASS, True): 2, (PASS, False): 16}
    return reviewed_run({"and": {**decided, (UNDECIDED, True): 2, (ERROR, False): 3}})


def sheet_rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def corrected_of(run: Path, model: str = "painter") -> dict[str, Any]:
    """The corrected rate in the run's summary."""
    corrected = summarise_run(run).by_model[model].corrected
    assert isinstance(corrected, dict)
    return corrected


def test_a_sheet_is_blind_and_has_the_drawn_images(tmp_path: Path) -> None:
    run = store(small_run(), tmp_path / "run")
    assert export_run(run, "review", tmp_path / "sheet", {"per_result": "4"}).n == 4 + 4 + 2 + 3
    rows = sheet_rows(tmp_path / "sheet" / "review.csv")
    assert list(rows[0]) == [
        *("case_id", "repeat", "model", "prompt.a", "prompt.b", "image"),
        *("rule", "rater", "failed", "sample"),
    ]
    assert len({row["sample"] for row in rows}) == 1, "it does not say which result a row has"
    assert not any(row[name] for row in rows for name in ("model", "rule", "rater", "failed"))
    for row in rows:
        assert (tmp_path / "sheet" / row["image"]).is_file()
    again = tmp_path / "again"
    export_run(run, "review", again, {"per_result": "4"})
    assert sheet_rows(again / "review.csv") == rows
    only = export_run(run, "review", tmp_path / "failures", {"result": "fail", "per_category": "3"})
    assert only.n == 3


def test_a_filled_sheet_corrects_the_rate_of_the_run_and_its_reports(tmp_path: Path) -> None:
    reviewed = small_run()
    run = store(reviewed, tmp_path / "run")
    assert summarise_run(run).corrected is None
    export_run(run, "review", tmp_path / "sheet", {"per_result": "10"})
    copies = [fill(tmp_path / "sheet" / "review.csv", reviewed, tmp_path / f"{who}.csv", who) for who in ("ann", "bob")]
    tables, notes = run_agreement(run, copies)
    assert {table.name for table in tables} >= {
        "corrected failure rate",
        "people and results",
        "people among themselves",
    }
    assert [code_of(note) for note in notes] == []
    corrected = corrected_of(run)
    assert summarise_run(run).to_json()["corrected"] == corrected
    assert list(corrected) == ["failure_rate", "interval", "n_reviewed"]
    assert corrected["n_reviewed"] == 7 + 10 + 2 + 3
    passed = [row["case_id"] for row in sheet_rows(copies[0]) if row["case_id"] in reviewed.with_result(PASS)]
    missed = sum(reviewed.truth[case] for case in passed) / 10
    assert corrected["failure_rate"] == pytest.approx((5 + 2 + 18 * missed) / 30)
    # Read again it is kept once, and the run alone has the same tables.
    run_agreement(run, copies)
    assert len(read_reviews(run)) == 2 * 22
    alone, _ = reviewed_agreement(run)
    assert alone == [table for table in tables if table.name != "people among themselves"]


def test_a_sheet_may_be_left_anywhere_but_rows_may_not_be_picked(tmp_path: Path) -> None:
    reviewed = small_run()
    run = store(reviewed, tmp_path / "run")
    export_run(run, "review", tmp_path / "sheet", {"per_result": "10"})
    rows = sheet_rows(fill(tmp_path / "sheet" / "review.csv", reviewed, tmp_path / "all.csv"))
    top = rows[: max(i for i, row in enumerate(rows) if row["case_id"] in reviewed.with_result(ERROR))]
    run_agreement(run, [write(tmp_path / "top.csv", top)])
    corrected = corrected_of(run)
    assert (corrected["n_reviewed"], corrected["failure_rate"] is None) == (len(top), False)
    run = store(reviewed, tmp_path / "other")
    run_agreement(run, [write(tmp_path / "picked.csv", [row for row in rows if row["failed"] == "yes"])])
    assert corrected_of(run)["failure_rate"] is None


def test_the_command_line_shows_the_corrected_rate_as_json(tmp_path: Path) -> None:
    reviewed = reviewed_run({"and": {(FAIL, True): 4, (PASS, False): 60}})
    run = store(reviewed, tmp_path / "run")
    draw = ["export", str(run), "--as", "review", "-o", str(tmp_path / "sheet"), "--per-result", "30", "--seed", "5"]
    done = CliRunner().invoke(command, draw)
    assert done.exit_code == 0, done.output
    copy = fill(tmp_path / "sheet" / "review.csv", reviewed, tmp_path / "ann.csv")
    shown = CliRunner().invoke(command, ["agree", str(run), "--ratings", str(copy), "--format", "json"])
    assert shown.exit_code == 0, shown.output
    table = json.loads(shown.stdout)[0]
    assert table["name"] == "corrected failure rate"
    assert dict(zip(table["columns"], table["rows"][0], strict=True))["corrected_rate"] == pytest.approx(4 / 64)
    assert "[reviewers-few]" in shown.stderr
    for options in (["--result", "holds"], ["--per-result", "0"]):
        refused = CliRunner().invoke(command, [*draw, *options])
        assert code_of(refused.exception) == "option-invalid"


def test_reviewing_a_list_of_counterexamples_gives_no_corrected_rate(tmp_path: Path) -> None:
    """Case ids and a word, of failures that somebody picked: their precision, and nothing about the rest."""
    reviewed = reviewed_run({"and": {(FAIL, True): 20, (PASS, True): 6, (PASS, False): 74}})
    run = store(reviewed, tmp_path / "run")
    picked = [{"case_id": case, "rater": "ann", "failed": "no"} for case in reviewed.with_result(FAIL)[:12]]
    tables, notes = run_agreement(run, [write(tmp_path / "picked.csv", picked)])
    assert [table.name for table in tables] == ["precision by category"]
    assert [code_of(note) for note in notes] == ["review-not-random", "review-failures-only"]
    assert summarise_run(run).corrected is None
    every = [{"case_id": case, "rater": "bob", "failed": "no"} for case in reviewed.with_result(FAIL)]
    run_agreement(run, [write(tmp_path / "every.csv", every)])
    corrected = corrected_of(run)
    assert corrected["failure_rate"] is None
    low, high = corrected["interval"]
    assert low < 0.26 < high


def test_flagged_pairs_by_category_from_the_export_to_their_precision(tmp_path: Path) -> None:
    """MetaLogic's human check: flagged pairs of every category, two images in one, one question, precision alone."""
    faulty = ["--model", "painter", "--set", "model.faults=entity-omission:0.6", "--out", "run"]
    assert salva("run", "metalogic", "--size", "63", *faulty, cwd=tmp_path).returncode == 0
    drawn = ["--as", "review", "--result", "fail", "--per-category", "2", "-o", "sheet"]
    assert salva("export", "run", *drawn, cwd=tmp_path).returncode == 0
    results = judgements_by_model(read_records(tmp_path / "run"))["painter"].results
    categories = {one.case.case_id: one.case.category for one in results}
    failed = Counter(one.case.category for one in results if one.is_fail)
    rows = sheet_rows(tmp_path / "sheet" / "review.csv")
    by_category = Counter(categories[row["case_id"]] for row in rows)
    assert by_category == {category: min(2, n) for category, n in failed.items()}
    assert max(failed.values()) > 2, "otherwise nothing is drawn"
    for row in rows:
        with Image.open(tmp_path / "sheet" / row["image"]) as pair:
            assert pair.width == 2 * pair.height + 16
    first = next(iter(by_category))
    said = [{**row, "rater": "ann", "failed": "no" if categories[row["case_id"]] == first else "yes"} for row in rows]
    write(tmp_path / "ann.csv", said)
    done = salva("agree", "run", "--ratings", "ann.csv", "--format", "json", cwd=tmp_path)
    (table,) = json.loads(done.stdout)
    found = {row[1]: dict(zip(table["columns"], row, strict=True)) for row in table["rows"]}
    assert {name: (row["failed"], row["reviewed"]) for name, row in found.items() if name != "all"} == {
        name: (failed[name], n) for name, n in by_category.items()
    }
    assert {name: row["share_fail"] for name, row in found.items() if name != "all"} == {
        name: float(name != first) for name in by_category
    }
    assert found["all"]["share_fail"] == pytest.approx(1 - failed[first] / failed.total())
    assert all(0 <= row["low"] <= row["share_fail"] <= row["high"] <= 1 for row in found.values())
    assert all(row["high"] - row["low"] > 0.1 for row in found.values())
    assert done.codes == ["review-not-random", "review-failures-only"]
    assert summarise_run(tmp_path / "run").corrected is None


def test_the_precision_of_all_failures_stands_below_that_of_each_category(tmp_path: Path) -> None:
    reviewed = reviewed_run({"and": {(FAIL, True): 3}, "or": {(FAIL, False): 1, (PASS, False): 4}})
    run = store(reviewed, tmp_path / "run")
    export_run(run, "review", tmp_path / "sheet", {"result": "fail", "per_category": "10"})
    tables, notes = run_agreement(run, [fill(tmp_path / "sheet" / "review.csv", reviewed, tmp_path / "ann.csv")])
    (precision,) = (table for table in tables if table.name == "precision by category")
    shares = {row[1]: row[precision.columns.index("share_fail")] for row in precision.rows}
    assert shares == {"and": 1, "or": 0, "all": pytest.approx(3 / 4)}
    assert "review-failures-only" in [code_of(note) for note in notes]
    assert corrected_of(run)["failure_rate"] is None


def test_labels_of_several_models_and_repeats_need_their_columns(tmp_path: Path) -> None:
    cases = [make_case(f"case-{i}", checks=("truth",)) for i in range(4)]
    images = {"a": "1" * 40, "b": "2" * 40}
    verdicts = [
        make_verdict(case.case_id, Outcome.FAIL, check="truth", model=model, repeat=repeat, images=images)
        for case in cases
        for model in ("good", "bad")
        for repeat in range(2)
    ]
    asked = structs.replace(small_run().records.asked, repeats=2, models=())
    records = RunRecords(
        cases=tuple(cases), verdicts=tuple(verdicts), primaries={c.case_id: "truth" for c in cases}, asked=asked
    )
    store_run(tmp_path / "run", records, FakeImages())
    assert export_run(tmp_path / "run", "review", tmp_path / "few", {"per_result": "3"}).n == 6, "three of each model"
    assert export_run(tmp_path / "run", "review", tmp_path / "sheet").n == 16
    rows = sheet_rows(tmp_path / "sheet" / "review.csv")
    assert {row["model"] for row in rows} == {model_code("good"), model_code("bad")}
    named = [{**row, "rater": "ann", "failed": "yes"} for row in rows]
    vague = [{"case_id": "case-0", "rater": "bob", "failed": "no", "repeat": "1", "model": ""}]
    _, notes = run_agreement(tmp_path / "run", [write(tmp_path / "named.csv", [*named, *vague])])
    assert [code_of(note) for note in notes] == ["ratings-unused"]
    assert len(read_reviews(tmp_path / "run")) == 16
    assert [corrected_of(tmp_path / "run", model)["failure_rate"] for model in ("good", "bad")] == [1.0, 1.0]


def test_a_filled_sheet_is_not_replaced_and_an_empty_run_has_none(tmp_path: Path) -> None:
    run = store(small_run(), tmp_path / "run")
    export_run(run, "review", tmp_path / "sheet")
    fill(tmp_path / "sheet" / "review.csv", small_run(), tmp_path / "sheet" / "review.csv")
    with raises_code("sheet-filled"):
        export_run(run, "review", tmp_path / "sheet")
    passed = store(reviewed_run({"and": {(PASS, False): 1}}), tmp_path / "passed")
    with raises_code("review-empty"):
        export_run(passed, "review", tmp_path / "none", {"result": "fail"})


@pytest.mark.parametrize(
    "harm",
    [
        "CREATE TRIGGER evil AFTER INSERT ON labels BEGIN DELETE FROM labels; END",
        "CREATE VIEW more AS SELECT * FROM labels",
        "UPDATE labels SET label = 'perhaps'",
        "UPDATE labels SET repeat = 'x'",
        "UPDATE labels SET reviewer = 'eve'",
        "DROP TABLE labels; CREATE TABLE labels (a)",
    ],
)
def test_labels_that_somebody_edited_are_refused(tmp_path: Path, harm: str) -> None:
    reviewed = small_run()
    run = store(reviewed, tmp_path / "run")
    append_reviews(run, reviewed.reviews(reviewed.truth))
    with closing(sqlite3.connect(run / REVIEWS)) as connection:
        connection.executescript(harm)
        connection.commit()
    with pytest.raises(StoreError):
        read_reviews(run)


def test_labels_are_only_appended(tmp_path: Path) -> None:
    reviewed = small_run()
    run = store(reviewed, tmp_path / "run")
    first = reviewed.reviews(list(reviewed.truth)[:3])
    assert append_reviews(run, first) == 3
    assert append_reviews(run, reviewed.reviews(list(reviewed.truth)[:5])) == 2
    other = [replace(one, label=Label.PASS if one.label is Label.FAIL else Label.FAIL) for one in first]
    assert append_reviews(run, other) == 3
    assert read_reviews(run)[:3] == tuple(first)
    assert read_reviews(run)[-3:] == tuple(other)


def test_a_run_that_cannot_be_written_to_is_compared_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(directory: Path, reviews: object) -> int:
        raise StoreError(message("disk-error", path=str(directory), why="full", advice="free some space"))

    reviewed = small_run()
    run = store(reviewed, tmp_path / "run")
    export_run(run, "review", tmp_path / "sheet", {"per_result": "30"})
    copy = fill(tmp_path / "sheet" / "review.csv", reviewed, tmp_path / "ann.csv")
    monkeypatch.setattr("salva.review.run_agreement.append_reviews", full)
    tables, notes = run_agreement(run, [copy])
    assert tables[0].rows[0][2] == pytest.approx(0.3)
    assert [code_of(note) for note in notes] == ["review-not-kept"]
    assert summarise_run(run).corrected is None
