"""`salva agree`: every shape of file people keep ratings in, and a run against people's ratings of it."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from report.fake_runs import FakeImages, make_case, make_verdict, store_run
from scipy import stats as scipy_stats

from salva.cli.main import salva as command
from salva.core.table import Table
from salva.core.verdict import Outcome
from salva.errors import UsageError
from salva.report.agreement import file_agreement, run_agreement
from salva.report.ratings import Columns, read_ratings
from salva.report.source import RunRecords

RNG = np.random.default_rng(4)
TRUE = RNG.integers(0, 101, 60).astype(float)
RATERS = {f"human_{k}": np.clip(TRUE + RNG.integers(-10, 11, 60), 0, 100) for k in (1, 2, 3)}
JUDGE = np.clip(TRUE + RNG.integers(-30, 31, 60), 0, 100) / 100
MEAN = np.mean(list(RATERS.values()), axis=0)


def wide_rows() -> list[dict[str, object]]:
    return [
        {
            "item_id": f"x{i}",
            "model": "ab"[i % 2],
            "human_avg": MEAN[i],
            **{k: v[i] for k, v in RATERS.items()},
            "tifa": JUDGE[i],
        }
        for i in range(60)
    ]


def write(path: Path, rows: list[dict[str, object]], delimiter: str = ",") -> Path:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter=delimiter)
        writer.writeheader()
        writer.writerows(rows)
    return path


def value(tables: list[Table], judge: str, statistic: str, group: str = "all") -> float:
    table = next(table for table in tables if table.name == "judges and people")
    row = next(row for row in table.rows if row[:3] == (group, judge, statistic))
    assert isinstance(row[3], float)
    return row[3]


@pytest.mark.parametrize("shape", ["csv", "tsv", "json", "jsonl", "object", "lists"])
def test_every_wide_shape_gives_the_same_correlations(tmp_path: Path, shape: str) -> None:
    rows, path = wide_rows(), tmp_path / "ratings"
    if shape in ("csv", "tsv"):
        write(path, rows, "\t" if shape == "tsv" else ",")
    elif shape == "json":
        path.write_text(json.dumps(rows))
    elif shape == "jsonl":
        path.write_text("\n".join(json.dumps(row) for row in rows))
    elif shape == "object":
        path.write_text(json.dumps({str(row.pop("item_id")): row for row in rows}))
    else:
        listed = [{"id": r["item_id"], "human": [r[k] for k in RATERS], "tifa": r["tifa"]} for r in rows]
        path.write_text(json.dumps(listed))
    tables, _ = file_agreement(path, Columns(), 5, "interval")
    assert value(tables, "tifa", "pearson") == pytest.approx(float(scipy_stats.pearsonr(JUDGE, MEAN).statistic))
    assert value(tables, "tifa", "spearman") == pytest.approx(float(scipy_stats.spearmanr(JUDGE, MEAN).statistic))
    assert value(tables, "tifa", "kendall tau-b") == pytest.approx(float(scipy_stats.kendalltau(JUDGE, MEAN).statistic))
    people = next(table for table in tables if table.name == "people among themselves")
    assert people.rows[0][1] == 3, "an average of raters is no fourth rater"


def test_one_row_a_rating_is_the_same_as_one_column_a_rater(tmp_path: Path) -> None:
    long = [
        {"case_id": f"x{i}", "rater": k, "objects": v[i] / 2, "relations": v[i] / 2, "tifa": JUDGE[i]}
        for i in range(60)
        for k, v in RATERS.items()
    ]
    tables, _ = file_agreement(write(tmp_path / "long.csv", long), Columns(), 5, "interval")
    wide, _ = file_agreement(write(tmp_path / "wide.csv", wide_rows()), Columns(), 5, "interval")
    for statistic in ("pearson", "spearman", "kendall tau-b", "cohen"):
        assert value(tables, "tifa", statistic) == pytest.approx(value(wide, "tifa", statistic))
    assert tables[1].rows[0][2] == pytest.approx(wide[1].rows[0][2])


def test_groups_have_their_own_rows(tmp_path: Path) -> None:
    path = write(tmp_path / "r.csv", wide_rows())
    tables, _ = file_agreement(path, Columns(group="model"), 5, "interval")
    expected = float(scipy_stats.pearsonr(JUDGE[::2], MEAN[::2]).statistic)
    assert value(tables, "tifa", "pearson", "a") == pytest.approx(expected)


def test_gaps_are_silence_and_bad_cells_are_named(tmp_path: Path) -> None:
    rows = wide_rows()
    rows[0]["human_1"], rows[1]["tifa"], rows[2]["human_2"] = "", "", "banana"
    ratings = read_ratings(write(tmp_path / "r.csv", rows))
    assert ratings.people["human_1"][0] is None
    assert ratings.judges["tifa"][1] is None
    assert len(ratings.problems) == 1
    assert "row 3" in ratings.problems[0]
    assert "'banana'" in ratings.problems[0]
    assert ratings.people_mean()[0] == pytest.approx((RATERS["human_2"][0] + RATERS["human_3"][0]) / 2)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "is empty"),
        ("a,b\n", "no rows"),
        ("id,tifa\nx,0.5\n", "no column of people's ratings"),
        ("id,human_1\nx,0.5,7\n", "line 2"),
        ("[1, 2]", "no list of objects"),
        ("{broken", "neither JSON"),
    ],
)
def test_files_that_are_no_ratings_say_what_is_wrong(tmp_path: Path, content: str, words: str) -> None:
    path = tmp_path / "bad"
    path.write_text(content)
    with pytest.raises(UsageError, match=words):
        file_agreement(path, Columns(), 5, "interval")


def test_a_column_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no column 'gpt'"):
        read_ratings(write(tmp_path / "r.csv", wide_rows()), Columns(judges=("gpt",)))


def test_the_command_prints_tables_and_json(tmp_path: Path) -> None:
    path = write(tmp_path / "r.csv", wide_rows())
    shown = CliRunner().invoke(command, ["agree", str(path)])
    assert shown.exit_code == 0
    assert "people among themselves" in shown.output
    made = CliRunner().invoke(command, ["agree", str(path), "--format", "json"])
    assert {table["name"] for table in json.loads(made.stdout)} == {"judges and people", "people among themselves"}


def stored(tmp_path: Path) -> Path:
    cases = [make_case(f"case-{i}") for i in range(40)]
    verdicts = [
        make_verdict(case.case_id, outcome=Outcome.VIOLATED if i % 2 else Outcome.HOLDS, scores={"kappa": i / 40})
        for i, case in enumerate(cases)
    ]
    directory = tmp_path / "run"
    store_run(directory, RunRecords(cases=tuple(cases), verdicts=tuple(verdicts)), FakeImages())
    return directory


def test_a_runs_scores_and_rate_against_people(tmp_path: Path) -> None:
    directory = stored(tmp_path)
    # People call the first ten of the violated ones right: 30 negatives, 10 of them flagged.
    rows: list[dict[str, object]] = [
        {"case_id": f"case-{i}", "rater": "ann", "kappa": 1 - i / 40, "violated": "yes" if i % 2 and i > 20 else "no"}
        for i in range(40)
    ]
    tables, problems = run_agreement(directory, write(tmp_path / "r.csv", [*rows, {**rows[0], "case_id": "other"}]))
    assert problems
    assert "'other'" in problems[0]
    scores = next(table for table in tables if table.name == "judges and people")
    assert next(row[3] for row in scores.rows if row[0] == "kappa" and row[2] == "pearson") == pytest.approx(-1)
    corrected = next(table for table in tables if table.name == "corrected violation rate").rows[0]
    assert list(corrected[1:5]) == pytest.approx([40, 1.0, 20 / 30, 0.5])
    assert corrected[5] == pytest.approx(0.25), "ten of forty are violated in truth"


def test_a_run_and_a_file_about_something_else(tmp_path: Path) -> None:
    path = write(tmp_path / "r.csv", [{"case_id": "case-1", "rater": "ann", "beauty": 3}])
    with pytest.raises(UsageError, match="nothing in common"):
        run_agreement(stored(tmp_path), path)
