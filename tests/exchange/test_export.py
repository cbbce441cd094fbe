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
from report.fake_runs import FakeImages, make_case, make_verdict, random_run, small_run, store_run
from report.hostile import FORMULA, hostile_run

from salva.charts.colours import rgb
from salva.charts.scene import BAD, FINE, Colour
from salva.core.image import Picture
from salva.core.options import NoOptions
from salva.core.source import RunRecords, RunSource
from salva.core.verdict import Failure, Outcome
from salva.errors import StoreError
from salva.exchange.counterexamples import Counterexamples
from salva.exchange.exporting import export_run
from salva.exchange.slides import Mark, Panel, slide
from salva.exchange.verdict_rows import verdicts_csv
from salva.files.outfiles import safe_name, write_text
from salva.imaging.files import as_image


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
        *("result", "failure_types", "reason", "prompt.a", "prompt.b", "image.a", "image.b"),
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
    case = make_case(checks=("same-scene",))
    rows = _rows(RunRecords(cases=(case,), verdicts=verdicts, primaries={case.case_id: case.check}, deciding=("gpt",)))
    assert [row["observers"] for row in rows] == ["pocket+scene", "pocket+gpt"]
    assert [row["is_primary"] for row in rows] == ["0", "1"], "two opinions, and the deciding one makes the result"


def test_no_cell_of_a_hostile_run_starts_a_formula() -> None:
    records, _ = hostile_run()
    for row in csv.reader(io.StringIO(verdicts_csv(records), newline="")):
        for cell in row:
            assert not cell.startswith(("=", "+", "@", "\t", "\r")), cell


def test_counterexamples_are_images_and_slides_with_an_index(tmp_path: Path) -> None:
    drawn, images = small_run()
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
    assert n_pairs == len(entries) == len(failed) > 0
    for entry in entries:
        shot = entry["images"]["b"]
        with Image.open(out / shot["file"]) as image:
            assert (image.format, image.size) == ("PNG", (256, 256))
        with Image.open(out / entry["slide"]) as image:
            assert image.width > image.height > 640, "both images stand beside each other, with text below"
        assert shot["prompt"].startswith("There is")
        assert entry["failures"][0]["role"] == "b"
        assert shot["boxes"][0]["score"] > 0.8
    with open(out / "index.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [(row["case_id"], int(row["repeat"])) for row in rows] == [(e["case_id"], e["repeat"]) for e in entries]
    for row, entry in zip(rows, entries, strict=True):
        assert row["label.law"] == entry["labels"]["law"]
        assert (out / row["slide"]).is_file()
        assert (out / row["file.a"]).is_file()


def test_a_slide_marks_what_failed() -> None:
    """Red is what a failure names; a prompt that is not Latin or endless is drawn all the same."""
    grey = Picture(rgb=bytes([128]) * 3 * 64 * 32, width=64, height=32)
    marks = Mark(box=(0.1, 0.1, 0.4, 0.9), name="cat"), Mark(box=(0.5, 0.1, 0.9, 0.9), name="dog", is_blamed=True)
    drawn = slide(
        [
            Panel(picture=grey, prompt="a cat", marks=marks, failures=("no dog",)),
            Panel(picture=None, prompt="\u202eünï " + "x" * 5000),
        ],
        "painter, case-1",
    )
    image = as_image(drawn)
    left, right = image.crop((24, 24, 344, 344)), image.crop((344, 24, 664, 344))
    counts = [{half.getpixel((x, y)) for x in range(320) for y in range(320)} for half in (left, right)]
    blue, red = rgb(Colour(FINE)), rgb(Colour(BAD))
    assert [(blue in count, red in count) for count in counts] == [(True, False), (False, True)]


def test_hostile_text_stays_inside_the_folder(tmp_path: Path) -> None:
    hostile, images = hostile_run()
    records = replace(hostile, asked=structs.replace(hostile.asked, check=hostile.verdicts[0].check))
    out = tmp_path / "deep" / "out"
    assert Counterexamples(NoOptions()).write(RunSource(records, images), out).n == 1
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(written) == 5
    assert all(path.is_relative_to(out) for path in written)
    with open(out / "index.csv", newline="", encoding="utf-8") as file:
        (row,) = csv.DictReader(file)
    assert row["prompt.b"] == "'" + FORMULA


@pytest.mark.parametrize("text", ["../../etc", "a/b", "..", "", "CON", "ünï", "x" * 300, "a\0b"])
def test_safe_names_are_plain_and_tell_texts_apart(text: str) -> None:
    name = safe_name(text)
    assert name
    assert set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
    assert len(name) < 100
    assert safe_name(text + "!") != name


def test_a_damaged_image_is_one_clear_error(tmp_path: Path) -> None:
    failure = Failure(failure_type="entity-omission", role="a", message="no cat")
    case = make_case(checks=("same-scene",))
    verdict = make_verdict(outcome=Outcome.FAIL, failures=(failure,), images={"a": "broken", "b": "fine"})
    records = RunRecords(cases=(case,), verdicts=(verdict,), primaries={case.case_id: case.check})
    images = FakeImages(broken=frozenset({"broken"}))
    with pytest.raises(StoreError) as caught:
        Counterexamples(NoOptions()).write(RunSource(records, images), tmp_path / "out")
    assert caught.value.code == "image-damaged"


def test_a_place_that_cannot_be_written_is_a_store_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreError) as caught:
        write_text(tmp_path / "file" / "report.md", "text")
    assert caught.value.code == "file-unwritable"
