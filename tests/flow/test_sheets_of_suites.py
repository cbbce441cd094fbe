"""The rating sheet of every suite, filled in: held against the run, and made into a run, with nothing of it lost."""

from __future__ import annotations

import csv
import json
import random
from pathlib import Path

import pytest
from click.testing import CliRunner

from salva import registry
from salva.cli.main import salva
from salva.store.queries import read_records

OWN_FILE = ("scene", "tifa-lite")
"""A suite that needs a scene of the user's, and another name for faithfulness."""
SUITES = sorted({entry.name for entry in registry.entries("suite")} - {*OWN_FILE})
SIZES = {"cfworld": "quick"}
"""Where four cases would have no formulas."""
RATERS = ("ann", "bob")


def do(*arguments: object) -> str:
    done = CliRunner().invoke(salva, [str(argument) for argument in arguments], catch_exceptions=False)
    assert done.exit_code == 0, (arguments, done.output)
    return done.stdout


def filled(sheet: Path) -> list[dict[str, str]]:
    """A row a rating, every cell that people are asked for filled with one of its numbers."""
    with sheet.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    rng = random.Random(1)
    ratings = []
    for row in rows:
        for rater in RATERS:
            numbers = {name: str(rng.randrange(0, 51, 10)) for name in ("objects", "relations") if name in row}
            if "score" in row:
                numbers["score"] = rng.choice("01") if row["question"] == "label" else rng.choice(("0", "0.5", "1"))
            assert numbers, "people are asked for something"
            ratings.append({**row, "rater": rater, **numbers})
    return ratings


@pytest.mark.parametrize("suite", SUITES)
def test_a_filled_in_sheet_is_read_by_agree_and_by_import(suite: str, tmp_path: Path) -> None:
    run, sheet, rated = tmp_path / "run", tmp_path / "sheet", tmp_path / "rated"
    painter = ("--model", "painter", "--set", "model.faults=entity-omission:0.5", "--reader", "none")
    do("run", suite, *painter, "--embedder", "none", "--size", SIZES.get(suite, "4"), "--no-progress", "--out", run)
    do("export", run, "--as", "ratings", "-o", sheet)
    ratings = filled(sheet / "ratings.csv")
    with (tmp_path / "filled.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, ratings[0])
        writer.writeheader()
        writer.writerows(ratings)
    tables = json.loads(do("agree", run, "--ratings", tmp_path / "filled.csv", "--format", "json"))
    compared = [table for table in tables if table["name"] in ("judges and people", "judge minus people")]
    assert compared
    assert all(row[table["columns"].index("n")] > 0 for table in compared for row in table["rows"])
    done = json.loads(do("agree", tmp_path / "filled.csv", "--format", "json"))
    assert [table["name"] for table in done] == ["people among themselves"]
    do("import", tmp_path / "filled.csv", "--as", "ratings", "--out", rated)
    records = read_records(rated)
    assert not (rated / "import-problems.csv").exists(), (rated / "import-problems.csv").read_text()
    if suite != "semvar":
        kept = sorted(
            value for v in records.verdicts for name, value in v.scores.items() if name in ("rating", "label")
        )
        said = (float(row.get("score") or float(row["objects"]) + float(row["relations"])) for row in ratings)
        assert kept == sorted(said)
    assert {observer for verdict in records.verdicts for observer in verdict.observers} == {*RATERS}
    assert {verdict.case_id for verdict in records.verdicts}
    do("report", rated, "--format", "json")
    do("agree", rated)
