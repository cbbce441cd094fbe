"""Rows for other programs: read by pandas, DuckDB and pyarrow alike, some at a time, whatever the size."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import duckdb
import pandas as pd
import pyarrow.parquet as pq
import pytest
from in_process import salva
from report.fake_runs import random_run, store_run

import salva as api
from salva.engine.progress import SilentProgress
from salva.exchange import verdict_rows
from salva.exchange.exporting import export_run
from salva.run.pipeline import execute
from salva.testing.specs import fake_spec


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("rows") / "run"
    records, images = random_run(n_entities=2)
    store_run(directory, records, images)
    return directory


def test_every_program_reads_the_same_rows(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verdict_rows, "_N_AT_ONCE", 7)
    n = export_run(run, "parquet", tmp_path / "rows.parquet").n
    assert export_run(run, "csv", tmp_path / "rows.csv").n == n
    frame = pd.read_parquet(tmp_path / "rows.parquet")
    assert pq.ParquetFile(tmp_path / "rows.parquet").num_row_groups == -(-n // 7) > 3
    as_csv = pd.read_csv(tmp_path / "rows.csv", dtype=dict.fromkeys(frame.select_dtypes(exclude="number"), "str"))
    # A CSV cannot tell an empty text from none.
    as_csv["errors"] = as_csv["errors"].fillna("")
    pd.testing.assert_frame_equal(as_csv, frame, check_dtype=False, check_exact=False)
    rows = f"'{tmp_path}/rows.parquet'"
    found = (
        duckdb.connect()
        .execute(f"SELECT outcome, count(*), sum(is_headline) FROM {rows} GROUP BY outcome ORDER BY outcome")
        .fetchall()
    )
    counted = frame.groupby("outcome")["is_headline"].agg(["count", "sum"])
    assert found == [(outcome, *map(int, row)) for outcome, row in zip(counted.index, counted.values, strict=True)]
    kinds = {name: kind for name, kind, *_ in duckdb.connect().execute(f"DESCRIBE SELECT * FROM {rows}").fetchall()}
    assert (kinds["repeat"], kinds["label.law"], kinds["score.right_a"]) == ("BIGINT", "VARCHAR", "DOUBLE")


def test_a_score_that_stands_in_no_row_of_a_group_keeps_its_type(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verdict_rows, "_N_AT_ONCE", 1)
    export_run(run, "parquet", tmp_path / "rows.parquet")
    assert pd.read_parquet(tmp_path / "rows.parquet")["score.differs_between"].dtype == "float64"


def test_the_rows_lead_as_the_frame_and_the_report_say(run: Path, tmp_path: Path) -> None:
    export_run(run, "csv", tmp_path / "rows.csv")
    rows, frame = pd.read_csv(tmp_path / "rows.csv"), api.open_run(run).verdicts
    keys = ["case_id", "model", "repeat", "arm", "relation"]
    ours = rows.set_index(keys)["is_headline"].astype(bool).sort_index()
    theirs = frame.set_index(keys)["is_headline"].astype(bool).sort_index()
    assert ours.equals(theirs)
    assert 0 < ours.sum() < len(ours)


def test_a_printed_table_is_the_written_one(run: Path, tmp_path: Path) -> None:
    printed = salva("report", str(run), "--format", "csv")
    written = salva("report", str(run), "--format", "csv", "-o", str(tmp_path / "rows.csv"))
    assert (printed.returncode, written.returncode) == (0, 0)
    assert printed.stdout.splitlines() == (tmp_path / "rows.csv").read_text().splitlines()


def test_memory_grows_by_keys_and_not_by_what_verdicts_say(tmp_path: Path) -> None:
    peaks = []
    for n in (200, 1000):
        directory = tmp_path / str(n)
        execute(fake_spec(n, {"omits": 0.3}), directory, SilentProgress())
        export_run(directory, "csv", tmp_path / "warm.csv")
        tracemalloc.start()
        export_run(directory, "csv", tmp_path / "rows.csv")
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert (peaks[1] - peaks[0]) / 800 < 4000, "bytes a case"
