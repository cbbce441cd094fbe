"""Rows for other programs: read by pandas, DuckDB and pyarrow alike."""

from __future__ import annotations

from dataclasses import fields
from itertools import product
from pathlib import Path
from random import Random

import duckdb
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from in_process import salva
from msgspec import structs
from report.fake_runs import ASKED, FakeImages, make_case, make_verdict, random_run, store_run

import salva as api
from salva.core.run_file import Judging, new_run_file
from salva.core.source import RunRecords
from salva.core.verdict import Outcome, Verdict, observers_text
from salva.exchange.exporting import export_run
from salva.exchange.verdict_rows import COLUMNS, verdict_rows
from salva.report.summary import summarise_run
from salva.run_results import results_of_run
from salva.store.runfile import write_run_file


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("rows") / "run"
    records, images = random_run(n_entities=2)
    store_run(directory, records, images)
    return directory


def test_every_program_reads_the_same_rows(run: Path, tmp_path: Path) -> None:
    n = export_run(run, "parquet", tmp_path / "rows.parquet").n
    assert export_run(run, "csv", tmp_path / "rows.csv").n == n
    frame = pd.read_parquet(tmp_path / "rows.parquet")
    as_csv = pd.read_csv(tmp_path / "rows.csv", dtype=dict.fromkeys(frame.select_dtypes(exclude="number"), "str"))
    # A CSV cannot tell an empty text from none.
    for name in ("failure_types", "reason", "result"):
        as_csv[name] = as_csv[name].fillna("")
    pd.testing.assert_frame_equal(as_csv, frame, check_dtype=False, check_exact=False)
    rows = f"'{tmp_path}/rows.parquet'"
    found = (
        duckdb.connect()
        .execute(f"SELECT outcome, count(*), sum(is_primary) FROM {rows} GROUP BY outcome ORDER BY outcome")
        .fetchall()
    )
    counted = frame.groupby("outcome")["is_primary"].agg(["count", "sum"])
    assert found == [(outcome, *map(int, row)) for outcome, row in zip(counted.index, counted.values, strict=True)]
    kinds = {name: kind for name, kind, *_ in duckdb.connect().execute(f"DESCRIBE SELECT * FROM {rows}").fetchall()}
    assert (kinds["repeat"], kinds["label.law"], kinds["score.right_a"]) == ("BIGINT", "VARCHAR", "DOUBLE")


def test_a_score_keeps_its_type(run: Path, tmp_path: Path) -> None:
    export_run(run, "parquet", tmp_path / "rows.parquet")
    assert pd.read_parquet(tmp_path / "rows.parquet")["score.differs_between"].dtype == "float64"


def test_every_field_of_a_verdict_is_a_column() -> None:
    nested = {"failures", "scores", "images", "is_refused"}
    assert {field.name for field in fields(Verdict)} - nested <= set(COLUMNS)


def test_the_rows_are_those_of_the_frame(run: Path, tmp_path: Path) -> None:
    export_run(run, "csv", tmp_path / "rows.csv")
    rows, frame = pd.read_csv(tmp_path / "rows.csv"), api.open_run(run).verdicts
    assert set(rows.columns) == set(frame.columns)
    keys = ["case_id", "model", "repeat", "arm", "check"]
    ours = rows.set_index(keys)["is_primary"].astype(bool).sort_index()
    theirs = frame.set_index(keys)["is_primary"].astype(bool).sort_index()
    assert ours.equals(theirs)
    assert 0 < ours.sum() < len(ours)


def test_a_printed_table_is_the_written_one(run: Path, tmp_path: Path) -> None:
    printed = salva("report", str(run), "--format", "csv")
    written = salva("report", str(run), "--format", "csv", "-o", str(tmp_path / "rows.csv"))
    assert (printed.returncode, written.returncode) == (0, 0)
    assert printed.stdout.splitlines() == (tmp_path / "rows.csv").read_text().splitlines()


@given(st.randoms(use_true_random=False))
@settings(max_examples=60)
def test_every_result_has_one_primary_row_and_the_rows_say_its_result(rng: Random) -> None:
    """Whatever observers judged whichever cases."""
    cases, verdicts = [], []
    for i in range(rng.randint(1, 12)):
        case = make_case(f"case-{i}", checks=("truth", "same-scene")[: rng.randint(1, 2)])
        cases.append(case)
        for repeat, check, observers, arm in product(
            range(2), ("truth", "same-scene"), (("pocket",), ("owlv2",)), ("pair", "control")
        ):
            if rng.random() < 0.6:
                outcome = rng.choice(list(Outcome))
                verdicts.append(
                    make_verdict(case.case_id, outcome, repeat=repeat, check=check, observers=observers, arm=arm)
                )
    records = RunRecords(
        cases=tuple(cases),
        verdicts=tuple(verdicts),
        primaries={case.case_id: rng.choice([*case.checks, ""]) for case in cases},
        deciding=("owlv2",),
        asked=ASKED,
        is_whole=rng.random() < 0.5,
    )
    rows = verdict_rows(records)
    frame = pd.DataFrame(rows.rows, columns=list(rows.columns))
    results = results_of_run(records)
    with_verdict = [result for result in results if result.verdict is not None]
    assert frame["is_primary"].fillna(0).sum() == len(with_verdict)
    for result in with_verdict:
        assert result.verdict is not None
        key = {"case_id": result.case.case_id, "repeat": result.repeat, "check": result.check, "arm": "pair"}
        own = frame.loc[(frame[list(key)] == pd.Series(key)).all(axis=1) & (frame["is_primary"] == 1)]
        assert own["result"].tolist() == [str(result.outcome)]
        assert own["observers"].tolist() == [observers_text(result.verdict.observers)]
    units = frame[frame["arm"] != "control"].groupby(["case_id", "repeat"])["result"].unique()
    for result in results:
        assert list(units[result.case.case_id, result.repeat]) == [str(result.outcome)]


def test_a_case_without_a_verdict_has_one_row_with_an_empty_check() -> None:
    records = RunRecords(cases=(make_case("case-1"),), verdicts=(), asked=structs.replace(ASKED, repeats=1))
    rows = verdict_rows(records)
    (row,) = (dict(zip(rows.columns, cells, strict=True)) for cells in rows.rows)
    assert (row["case_id"], row["check"], row["result"], row["prompt.a"]) == (
        "case-1",
        "",
        "UNDECIDED",
        "There is a cat and a dog",
    )


def test_the_results_are_one_row_a_case_and_repeat(run: Path, tmp_path: Path) -> None:
    export_run(run, "results", tmp_path / "results.csv")
    rows, frame = pd.read_csv(tmp_path / "results.csv"), api.open_run(run).results
    summary = summarise_run(run)
    assert summary.results is not None
    assert len(rows) == len(frame) == summary.results["total"]
    assert not rows.duplicated(["case_id", "repeat", "model"]).any()
    counts = {str(name).lower(): n for name, n in rows["result"].value_counts().items()}
    assert counts == {
        name: summary.results[name] for name in ("pass", "fail", "undecided", "error") if summary.results[name]
    }
    by_category = rows[rows["is_fail"].notna()].groupby("category")["is_fail"].mean()
    assert by_category.mean() == pytest.approx(summary.failure_rate)


def test_a_second_judge_that_was_named_last_makes_the_results(tmp_path: Path) -> None:
    """As after --reader none and then salva rejudge --reader rapidocr: every pair is marked once."""
    cases = [make_case(f"case-{i}") for i in range(6)]
    opinions = (("pocket",), Outcome.FAIL), (("pocket", "rapidocr"), Outcome.PASS)
    verdicts = [
        make_verdict(case.case_id, outcome, check="truth", observers=observers)
        for case in cases
        for observers, outcome in opinions
    ]
    asked = structs.replace(ASKED, repeats=1)
    records = RunRecords(cases=tuple(cases), verdicts=tuple(verdicts), asked=asked)
    store_run(tmp_path / "run", records, FakeImages())
    again = Judging(spec=asked, deciding=("pocket", "rapidocr"))
    write_run_file(tmp_path / "run", new_run_file(asked, judging=again))
    frame = api.open_run(tmp_path / "run").verdicts
    marked = frame[frame["is_primary"]]
    assert set(marked["observers"]) == {"pocket+rapidocr"}
    assert len(marked) == len(cases)
    assert summarise_run(tmp_path / "run").failure_rate == 0
