"""Rows for other programs: read by pandas, DuckDB and pyarrow alike."""

from __future__ import annotations

from dataclasses import fields, replace
from itertools import product
from pathlib import Path
from random import Random

import duckdb
import pandas as pd
import pytest
from in_process import salva
from msgspec import structs
from report.fake_runs import ASKED, FakeImages, make_case, make_verdict, random_run, store_run

import salva as api
from salva.core.run_file import Judging, new_run_file
from salva.core.run_spec import OWN, ComponentSpec
from salva.core.source import RunRecords
from salva.core.verdict import Outcome, Verdict, observers_text
from salva.exchange import verdict_rows
from salva.exchange.exporting import export_run
from salva.report.summary import judgements_on, summarise_run
from salva.store.queries import read_records
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
    for name in ("failure_types", "reason"):
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
    nested = {"failures", "scores", "images"}
    assert {field.name for field in fields(Verdict)} - nested <= set(verdict_rows.COLUMNS)


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


@pytest.mark.parametrize("seed", range(24))
def test_the_rows_that_lead_are_those_of_the_report(tmp_path: Path, seed: int) -> None:
    rng = Random(seed)
    observers = [("pocket",), ("pocket", "scene"), ("owlv2",), ("scene",)][: rng.randint(1, 4)]
    checks = ["truth", "same-scene", "same-answers"][: rng.randint(1, 3)]
    keys = list(product(range(2), ("painter", "pocket"), checks, observers, ("pair", "control")))
    # Few ways of being judged, so that many cases are alike.
    ways = [[key for key in keys if rng.random() < 0.7] for _ in range(2)]
    cases, verdicts = [], []
    for i in range(rng.randint(1, 40)):
        labels = {"law": rng.choice(["numbering", "commutative"])}
        own, is_one = rng.choice(checks), rng.choice([True, False, None])
        case = make_case(f"case-{i * 7 % 41}", suite=suite_of(seed), check=own, determinate=is_one, labels=labels)
        cases.append(replace(case, check_groups=((own,),) if rng.random() < 0.3 else ()))
        for repeat, model, check, by, arm in rng.choice(ways):
            verdicts.append(make_verdict(case.case_id, repeat=repeat, model=model, check=check, observers=by, arm=arm))
    headline = rng.choice(["", "", OWN, checks[0]])
    leading = {checks[-1]: observers_text(observers[-1])} if rng.random() < 0.5 else {}
    asked = structs.replace(ASKED, check=headline, suite=ComponentSpec(role="suite", name=suite_of(seed)))
    store_run(tmp_path / "run", RunRecords(cases=tuple(cases), verdicts=tuple(verdicts), asked=asked), FakeImages())
    write_run_file(tmp_path / "run", new_run_file(asked, judging=Judging(spec=asked, leading=leading)))

    records = read_records(tmp_path / "run")
    is_leading = verdict_rows.speaking(records)
    # They are the report's, one by one.
    reported: list[tuple[str, int, str, str]] = []
    for model in ("painter", "pocket"):
        mine = [verdict for verdict in records.verdicts if verdict.model == model]
        leading_here = judgements_on(records.suite, records.cases, mine, asked).headline
        reported += [(j.case.case_id, j.verdict.repeat, model, j.verdict.check) for j in leading_here]
    marked = [verdict for verdict in records.verdicts if is_leading(verdict)]
    assert sorted((v.case_id, v.repeat, v.model, v.check) for v in marked) == sorted(reported)


def test_a_second_opinion_that_sees_more_is_not_marked_with_the_first(tmp_path: Path) -> None:
    """As after --reader none and then salva rejudge --reader rapidocr: every pair is marked once."""
    cases = [make_case(f"case-{i}") for i in range(6)]
    opinions = (("pocket",), Outcome.FAIL), (("pocket", "rapidocr"), Outcome.PASS)
    verdicts = [
        make_verdict(case.case_id, outcome, check="truth", observers=observers)
        for case in cases
        for observers, outcome in opinions
    ]
    store_run(tmp_path / "run", RunRecords(cases=tuple(cases), verdicts=tuple(verdicts), asked=ASKED), FakeImages())
    judged_again = Judging(spec=ASKED, leading={"truth": "pocket+rapidocr"})
    write_run_file(tmp_path / "run", new_run_file(ASKED, judging=judged_again))
    export_run(tmp_path / "run", "csv", tmp_path / "rows.csv")
    rows, frame = pd.read_csv(tmp_path / "rows.csv"), api.open_run(tmp_path / "run").verdicts
    (model,) = summarise_run(tmp_path / "run").by_model
    for marked in (rows[rows["is_primary"] == 1], frame[frame["is_primary"]]):
        assert dict(marked["outcome"].value_counts()) == {name: n for name, n in model.outcomes.items() if n}
        assert set(marked["observers"]) == {"pocket+rapidocr"}
        assert len(marked) == len(cases)


def suite_of(seed: int) -> str:
    """Suites that lead by truth, by each case's own check, and by one of their own."""
    return ("metalogic", "actesting", "faithfulness")[seed % 3]
