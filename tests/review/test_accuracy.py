"""How often results are what people say, by category; and GenEval's annotations as such labels."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from review.reviewed_run import FAIL, PASS, UNDECIDED, Reviewed, reviewed_run
from suites.geneval.test_annotations import row, write

from salva.core.table import Cell
from salva.exchange.importing import import_files
from salva.messages import code_of
from salva.review.accuracy import accuracy_tables
from salva.review.agreement import table_agreement
from salva.review.rating_table import read_ratings
from salva.review.run_agreement import reviewed_agreement, run_agreement
from salva.run_results import judgements_by_model

RUN = reviewed_run(
    {
        "and": {(FAIL, True): 6, (FAIL, False): 2, (PASS, True): 1, (PASS, False): 11},
        "or": {(FAIL, True): 3, (PASS, False): 3, (UNDECIDED, True): 4},
    }
)
EVERY = RUN.with_result(FAIL, PASS, UNDECIDED)


def cells(run: Reviewed, cases: list[str], sample: str = "") -> dict[Cell, dict[str, Cell]]:
    by_model = judgements_by_model(run.records)
    tables = accuracy_tables(by_model, run.reviews(cases, sample, ("ann", "bob")))
    return {line[1]: dict(zip(table.columns, line, strict=True)) for table in tables for line in table.rows}


def test_accuracy_and_kappa_are_of_decided_results_by_category() -> None:
    by_name = cells(RUN, EVERY)
    assert [*by_name] == ["all", "and", "or"]
    assert {name: (line["n"], line["accuracy"]) for name, line in by_name.items()} == {
        "all": (26, pytest.approx(23 / 26)),
        "and": (20, pytest.approx(17 / 20)),
        "or": (6, 1.0),
    }
    # By hand: 17 of 20 agree; by chance 8/20 * 7/20 + 12/20 * 13/20.
    assert by_name["and"]["kappa"] == pytest.approx((0.85 - 0.53) / (1 - 0.53))
    assert by_name["or"]["kappa"] == 1
    low, high = by_name["and"]["accuracy_lower"], by_name["and"]["accuracy_upper"]
    assert isinstance(low, float)
    assert 0.6 < low < 0.85
    assert high == 1


def test_labels_that_were_drawn_by_result_or_are_of_one_result_have_no_accuracy() -> None:
    assert cells(RUN, EVERY, "result-0-abc") == {}
    assert cells(RUN, RUN.with_result(FAIL)) == {}


@pytest.fixture
def seen_by_people(tmp_path: Path) -> Path:
    """Two images of a model, each seen by three raters: one is right for two of them, the other for none."""
    seen = [("00000", "1"), ("00000", "0"), ("00000", "1"), ("00001", "0"), ("00001", "0"), ("00001", "0")]
    rows = [row("a photo of a cat", ["cat"], {"count-0": n}, f"m/00000/samples/{at}.png") for at, n in seen]
    return write(tmp_path / "annotations_m.csv", *rows)


def test_annotations_are_labels_of_the_results_of_a_run(tmp_path: Path, seen_by_people: Path) -> None:
    metadata = {"tag": "single_object", "include": [{"class": "cat", "count": 1}], "prompt": "a photo of a cat"}
    lines = [
        {"filename": f"m/00000/samples/{at}.png", "correct": at == "00000", "metadata": metadata, "details": {}}
        for at in ("00000", "00001")
    ]
    results = tmp_path / "results.jsonl"
    results.write_text("".join(json.dumps(line) + "\n" for line in lines))
    import_files([results], "geneval", tmp_path / "run")
    tables, notes = run_agreement(tmp_path / "run", [seen_by_people])
    (found,) = (table for table in tables if table.name == "accuracy of results")
    assert [line[:4] for line in found.rows] == [("m", "all", 2, 1.0), ("m", "single_object", 2, 1.0)]
    assert "ratings-unused" not in map(code_of, notes)


def test_annotations_alone_say_how_far_people_agree(tmp_path: Path, seen_by_people: Path) -> None:
    (among,), _ = table_agreement(read_ratings([seen_by_people]), group="task")
    assert [line[:2] for line in among.rows] == [("all", 3), ("single_object", 3)]
    import_files([seen_by_people], "geneval", tmp_path / "people")
    tables, _ = reviewed_agreement(tmp_path / "people", "task")
    assert tables[0].rows == among.rows
