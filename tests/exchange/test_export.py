"""CSV rows and counterexample folders, also from hostile text."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import pytest
from msgspec import structs
from PIL import Image
from report.fake_runs import FakeImages, make_case, make_verdict, random_run, store_run
from report.hostile import FORMULA, hostile_run

from salva.core.options import NoOptions
from salva.core.source import RunRecords, RunSource
from salva.core.verdict import Failure, Outcome
from salva.errors import StoreError
from salva.exchange.counterexamples import Counterexamples
from salva.exchange.exporting import export_run
from salva.exchange.verdict_rows import verdicts_csv
from salva.files.outfiles import safe_name, write_text


def _rows(records: RunRecords) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(verdicts_csv(records), newline="")))


def test_one_row_a_verdict_with_the_columns_of_the_contract(tmp_path: Path) -> None:
    records, images = random_run(n_entities=2)
    store_run(tmp_path / "run", records, images)
    assert export_run(tmp_path / "run", "csv", tmp_path / "out" / "verdicts.csv").n == len(records.verdicts)
    with open(tmp_path / "out" / "verdicts.csv", newline="", encoding="utf-8") as file:
        reader = csv.reader(file)
        header = next(reader)
        assert len(list(reader)) == len(records.verdicts)
    assert header == [
        *("case_id", "suite", "model", "repeat", "arm", "check", "observers", "outcome", "is_primary", "is_fail"),
        *("failure_types", "reason", "prompt.a", "prompt.b", "image.a", "image.b"),
        *("label.count", "label.entities", "label.entity", "label.law", "label.modifier"),
        *("score.both_wrong", "score.differs_between", "score.differs_within_a", "score.differs_within_b"),
        *("score.right_a", "score.right_b"),
    ]


def test_a_row_holds_errors_labels_and_scores() -> None:
    case = make_case(labels={"law": "commutative"})
    verdict = make_verdict(outcome=Outcome.FAIL, errors=("x-misposition", "entity-omission"), scores={"excess": -0.25})
    (row,) = _rows(RunRecords(cases=(case,), verdicts=(verdict,)))
    assert row["failure_types"] == "x-misposition;entity-omission"
    assert row["label.law"] == "commutative"
    assert row["score.excess"] == "-0.25", "a negative number is a number and no formula"


def test_rows_of_several_judges_say_whose_they_are() -> None:
    verdicts = tuple(make_verdict(observers=("pocket", judge), scores={"kappa": 0.5}) for judge in ("scene", "gpt"))
    rows = _rows(RunRecords(cases=(make_case(),), verdicts=verdicts))
    assert [row["observers"] for row in rows] == ["pocket+scene", "pocket+gpt"]
    assert [row["is_primary"] for row in rows] == ["1", "0"], "two opinions, and the first leads"


def test_no_cell_of_a_hostile_run_starts_a_formula() -> None:
    records, _ = hostile_run()
    for row in csv.reader(io.StringIO(verdicts_csv(records), newline="")):
        for cell in row:
            assert not cell.startswith(("=", "+", "@", "\t", "\r")), cell


def test_counterexamples_are_pictures_with_an_index(tmp_path: Path) -> None:
    drawn, images = random_run(n_entities=2)
    records = replace(drawn, asked=structs.replace(drawn.asked, check="same-scene"))
    store_run(tmp_path / "run", records, images)
    out = tmp_path / "out"
    n_pairs = export_run(tmp_path / "run", "counterexamples", out).n
    entries = [json.loads(line) for line in (out / "index.jsonl").read_text("utf-8").splitlines()]
    failed = {
        (verdict.case_id, verdict.repeat)
        for verdict in records.verdicts
        if verdict.outcome is Outcome.FAIL and (verdict.check, verdict.arm) == ("same-scene", "pair")
    }
    assert {(entry["case_id"], entry["repeat"]) for entry in entries} == failed
    assert n_pairs == len(entries) == len(failed)
    for entry in entries[:5]:
        shot = entry["images"]["b"]
        with Image.open(out / shot["file"]) as picture:
            assert (picture.format, picture.size) == ("PNG", (256, 256))
        assert shot["prompt"].startswith("There is")
        assert entry["failures"][0]["role"] == "b"
        assert shot["boxes"][0]["score"] > 0.8
    with open(out / "index.csv", newline="", encoding="utf-8") as file:
        assert len(list(csv.DictReader(file))) == 2 * n_pairs


def test_hostile_text_stays_inside_the_folder(tmp_path: Path) -> None:
    records, images = hostile_run()
    out = tmp_path / "deep" / "out"
    assert Counterexamples(NoOptions()).write(RunSource(records, images), out).n == 1
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(written) == 4
    assert all(path.is_relative_to(out) for path in written)
    with open(out / "index.csv", newline="", encoding="utf-8") as file:
        prompts = [row["prompt"] for row in csv.DictReader(file)]
    assert prompts[1] == "'" + FORMULA


@pytest.mark.parametrize("text", ["../../etc", "a/b", "..", "", "CON", "ünï", "x" * 300, "a\0b"])
def test_safe_names_are_plain_and_tell_texts_apart(text: str) -> None:
    name = safe_name(text)
    assert name
    assert set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
    assert len(name) < 100
    assert safe_name(text + "!") != name


def test_a_damaged_picture_is_one_clear_error(tmp_path: Path) -> None:
    failure = Failure(failure_type="entity-omission", role="a", message="no cat")
    verdict = make_verdict(outcome=Outcome.FAIL, failures=(failure,), images={"a": "broken", "b": "fine"})
    records = RunRecords(cases=(make_case(),), verdicts=(verdict,))
    images = FakeImages(broken=frozenset({"broken"}))
    with pytest.raises(StoreError, match="salva verify"):
        Counterexamples(NoOptions()).write(RunSource(records, images), tmp_path / "out")


def test_a_place_that_cannot_be_written_is_a_store_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreError) as caught:
        write_text(tmp_path / "file" / "report.md", "text")
    assert caught.value.code == "file-unwritable"
