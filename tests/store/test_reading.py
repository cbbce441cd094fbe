"""What a report reads of a run besides its cases and verdicts, and what of it is not believed."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from salva.core.case import Case, Prompt
from salva.core.fingerprint import Json
from salva.core.observation import Answer, Detection, Detections, Observation, Reading, TextSpan
from salva.core.protocols import Query
from salva.core.run_file import Judging, new_run_file
from salva.core.run_spec import NOTHING, ComponentSpec, RunSpec
from salva.core.source import QuestionAnswer, Spent
from salva.core.verdict import Outcome, Verdict
from salva.errors import StoreError, UsageError
from salva.store.blobs import digest_of
from salva.store.queries import (
    StoredImages,
    current_judging,
    last_written,
    open_source,
    read_records,
    spent,
)
from salva.store.reading import key_of
from salva.store.records import (
    FIGURES,
    GATE,
    IN_VAIN,
    MAX_ERRORS,
    PACE,
    PASSED,
    STOPPED,
    UNTRIED,
    WARNED,
    Status,
    StoredComponent,
    StoredImage,
    StoredObservation,
    StoredRender,
)
from salva.store.runfile import is_run_file_ours, read_run_file, store_run_file, write_run_file
from salva.store.sqlite import RunStore, open_run

ASKED = RunSpec(suite=ComponentSpec(role="suite", name="s"), seed=3)
BOX = (0.0, 0.0, 1.0, 1.0)
CASE = Case(case_id="c-1", suite="s", category="c", prompts=(Prompt(role="a", text="a cat"),), checks=("truth",))


def verdict(**changes: Any) -> Verdict:
    given = {"case_id": "c-1", "repeat": 0, "arm": "pair", "model": "m", "check": "truth", "observers": ("d",)}
    return Verdict(**{**given, "outcome": Outcome.PASS, **changes})


def component(label: str, role: str = "judge", **identity: Json) -> StoredComponent:
    return StoredComponent(component_id=f"id-{label}", role=role, label=label, is_formula_seen=False, identity=identity)


def look(label: str, query: Query, observation: Observation | None, image_id: str = "ab12") -> StoredObservation:
    return StoredObservation(
        component_id=f"id-{label}",
        image_id=image_id,
        query=query,
        given={},
        status=Status.ERROR if observation is None else Status.DONE,
        observation=observation,
    )


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RunStore]:
    with open_run(tmp_path, "write") as opened:
        yield opened


def test_a_file_that_is_another_is_not_shown(store: RunStore) -> None:
    store.blobs.write("ab12", b"data")
    images = StoredImages(store)
    assert images.file_bytes("ab12") == b"data", "without a row there is nothing to hold it against"
    store.put_image(StoredImage(image_id="ab12", width=1, height=1, digest=digest_of(b"data"), n_bytes=4))
    assert images.file_bytes("ab12") == b"data"
    store.put_image(StoredImage(image_id="ab12", width=1, height=1, digest=digest_of(b"other"), n_bytes=4))
    with pytest.raises(StoreError):
        images.file_bytes("ab12")


def test_what_the_observers_of_a_verdict_saw(store: RunStore) -> None:
    span = TextSpan(text="STOP", score=1.0, box=BOX)
    boxes = tuple(Detection(label="cat", score=score, box=BOX) for score in (0.9, 0.3))
    asked = Query(role="judge", kind="answer", text="Is it?")
    for label, role in (("d", "detector"), ("r", "reader"), ("j", "judge")):
        store.put_component(component(label, role))
    store.put_observation(look("d", Query(role="detector"), Detections(boxes=boxes, threshold=0.5)))
    store.put_observation(look("r", Query(role="reader"), Reading(spans=(span,))))
    first = Answer(text="yes", scores={})
    store.put_observation(look("j", asked, first))
    store.put_observation(look("j", replace(asked, repeat=1), Answer(text="no", scores={})))
    store.put_observation(look("j", replace(asked, text="How well?", kind="score"), Answer(text="", scores={"p": 40})))
    store.flush()
    images, observers = StoredImages(store), ("d", "r", "j")
    seen = images.seen("ab12", observers)
    assert (seen.boxes, seen.texts) == (boxes[:1], (span,))
    assert set(seen.answers) == {
        QuestionAnswer(question="Is it?", answer="yes"),
        QuestionAnswer(question="How well?", answer="p 40"),
    }
    assert StoredImages(store, threshold=0.2).seen("ab12", observers).boxes == boxes
    assert images.answers("ab12", observers) == {"Is it?": first}
    detections = images.detections("ab12", observers)
    assert detections is not None
    assert detections.boxes == boxes
    assert images.detections("ab12", ("r", "j")) is None


def test_answers_are_told_question_by_question(store: RunStore) -> None:
    store.put_component(component("j"))
    grade = Query(role="judge", kind="grade", text="t", questions=("Red?", "Round?"), rubric="strict")
    answer = Answer(text="", scores={"q1": 0.5}, reasons={"q1": "half red", "q2": "none"})
    store.put_observation(look("j", grade, answer))
    store.put_observation(look("j", Query(role="judge", text="u"), Answer(text="", scores={}, problem="no JSON")))
    seen = StoredImages(store).seen("ab12", ("j",))
    assert set(seen.answers) == {
        QuestionAnswer(question="Red?", answer="0.5", reason="half red", rubric="strict"),
        QuestionAnswer(question="Round?", answer="0", reason="none", rubric="strict"),
        QuestionAnswer(question="u", answer="unreadable: no JSON"),
    }


def test_what_work_came_to_is_summed_by_component(store: RunStore) -> None:
    for part in (component("j"), component("m", "model"), component("broke")):
        store.put_component(part)
    usages: tuple[dict[str, float], ...] = ({"n_calls": 1, "cost_usd": 0.5}, {"n_calls": 2})
    for number, usage in enumerate(usages):
        answer = Answer(text="y", scores={}, usage=usage)
        store.put_observation(look("j", Query(role="judge", text=str(number)), answer))
    store.put_observation(look("j", Query(role="judge", text="failed"), None))
    render = StoredRender(component_id="id-m", text="t", formula=None, seed=1, repeat=0, status=Status.REFUSED)
    paid: dict[str, Json] = {"cost_usd": 0.25, "input_tokens": 3}
    store.put_render(replace(render, text="u", status=Status.DONE, image_id="ab", provenance=paid))
    store.put_render(render)
    store.set_meta(IN_VAIN, {"id-j": {"n_calls": 4}, "id-broke": {"n_calls": 1, "odd": "x"}, "id-gone": {"n_calls": 1}})
    assert spent(store) == (
        Spent(role="model", label="m", n_done=1, n_failed=1, usage={"cost_usd": 0.25, "input_tokens": 3}),
        Spent(role="judge", label="broke", n_done=0, n_failed=0, usage={"n_calls": 1}),
        Spent(role="judge", label="j", n_done=2, n_failed=1, usage={"n_calls": 7, "cost_usd": 0.5}),
    )
    store.set_meta(IN_VAIN, ["odd"])
    assert [line.label for line in spent(store)] == ["m", "j"]
    store.set_meta(IN_VAIN, {"id-j": "odd"})
    assert spent(store)[1].usage == {"n_calls": 3, "cost_usd": 0.5}


def records_with(directory: Path, notes: dict[str, Json], **run_file: Any) -> Any:
    with open_run(directory, "write") as store:
        for name, value in notes.items():
            store.set_meta(name, value)
    if run_file:
        write_run_file(directory, new_run_file(ASKED, **run_file))
    return read_records(directory)


@pytest.mark.parametrize(
    ("notes", "word", "about"),
    [
        ({}, "", ()),
        ({PASSED: ["d"]}, "passed", ("d",)),
        ({WARNED: ["d", "j"]}, "warned", ("d", "j")),
        ({UNTRIED: []}, "off", ()),
        ({STOPPED: ["d"], PASSED: ["d", "j"]}, "passed", ("d", "j")),
        ({STOPPED: "odd"}, "stopped", ()),
    ],
)
def test_the_preflight_is_told_in_a_word(
    tmp_path: Path, notes: dict[str, Json], word: str, about: tuple[str, ...]
) -> None:
    records = records_with(tmp_path, notes)
    assert (records.preflight, records.preflight_about) == (word, about)


def test_notes_of_a_run_are_read(tmp_path: Path) -> None:
    figure: Json = {"name": "FID", "set": "a", "value": 1.5, "n_images": 3, "by": "e"}
    gates: dict[str, Json] = {"m": [{"metric": "failure_rate", "decision": "passed"}]}
    notes: dict[str, Json] = {GATE: gates, MAX_ERRORS: 2, FIGURES: {"m": [figure]}, "salva_version": "0.1"}
    places = {"environment": {"n_cores": 2, "platform": "x"}, "resumed_in": ({"n_cores": 2, "platform": "x"}, {})}
    records = records_with(tmp_path, {**notes, PACE: {"seconds": 2, "n_images": 4}}, **places)
    assert (records.is_whole, records.gates, records.max_errors, records.made_by) == (False, gates, 2, "0.1")
    assert (records.name, records.asked, records.suite) == (tmp_path.resolve().name, ASKED, "s")
    (read,) = records.figures["m"]
    assert (read.name, read.value, read.n_images) == ("FID", 1.5, 3)
    assert records.effort is not None
    assert (records.effort.seconds, records.effort.n_images) == (2.0, 4)
    assert records.effort.where == "2 cores, x; ? cores, ?"


@pytest.mark.parametrize("pace", [None, "odd", {"seconds": 2}, {"n_images": 4}, {"seconds": "2", "n_images": 4}])
def test_without_its_numbers_nobody_knows_the_effort(tmp_path: Path, pace: Json) -> None:
    records = records_with(tmp_path, {PACE: pace, GATE: "odd", MAX_ERRORS: "odd", FIGURES: "odd"}, environment={})
    assert records.effort is None
    assert (records.gates, records.max_errors, records.figures) == ({}, 0, {})
    assert (records.is_whole, records.made_by) == (False, "")


def test_without_run_json_nothing_was_asked(tmp_path: Path) -> None:
    records = records_with(tmp_path, {PACE: {"seconds": 2, "n_images": 4}})
    assert (records.effort, records.asked) == (None, NOTHING)
    assert current_judging(tmp_path) == Judging(spec=NOTHING)


@pytest.mark.parametrize("figures", [{"m": [{"name": "FID"}]}, {"m": [{"name": 3}]}, {"m": ["odd"]}])
def test_a_figure_that_salva_did_not_note_is_refused(tmp_path: Path, figures: Json) -> None:
    with pytest.raises(StoreError) as refused:
        records_with(tmp_path, {FIGURES: figures})
    assert refused.value.code == "note-invalid"


def test_a_verdict_on_no_case_is_refused(tmp_path: Path) -> None:
    with open_run(tmp_path, "write") as store:
        store.put_case(0, CASE)
        store.put_verdict(verdict())
    assert len(read_records(tmp_path).verdicts) == 1
    with open_run(tmp_path, "write") as store:
        store.put_verdict(verdict(case_id="c-2"))
    with pytest.raises(StoreError) as refused:
        read_records(tmp_path)
    assert refused.value.code == "store-damaged"


@pytest.mark.parametrize(("options", "n"), [({}, 1), ({"threshold": None}, 1), ({"threshold": 0.2}, 2)])
def test_boxes_are_shown_as_the_checks_count_them(tmp_path: Path, options: dict[str, Json], n: int) -> None:
    boxes = tuple(Detection(label="cat", score=score, box=BOX) for score in (0.9, 0.3))
    with open_run(tmp_path, "write") as store:
        store.put_component(component("d", "detector"))
        store.put_observation(look("d", Query(role="detector"), Detections(boxes=boxes, threshold=0.5)))
    other = ComponentSpec(role="check", name="same-answers", options={"threshold": 0.1})
    checks = (other, ComponentSpec(role="check", name="truth", options={"doubt": None, **options}))
    write_run_file(tmp_path, new_run_file(structs.replace(ASKED, checks=checks)))
    with open_source(tmp_path) as (_, images):
        assert len(images.seen("ab12", ("d",)).boxes) == n


def test_a_run_was_last_written_when_its_database_was(tmp_path: Path) -> None:
    open_run(tmp_path, "write").close()
    os.utime(tmp_path / "salva.db", (3600, 3600))
    assert str(last_written(tmp_path)) == "1970-01-01 01:00:00+00:00"


def test_run_json_is_ours_as_long_as_the_store_saw_it_written(store: RunStore, tmp_path: Path) -> None:
    assert is_run_file_ours(store) is None
    one, other = new_run_file(ASKED), new_run_file(structs.replace(ASKED, seed=4))
    store_run_file(store, one)
    store_run_file(store, one)
    assert is_run_file_ours(store) is True
    text = (tmp_path / "run.json").read_bytes()
    store_run_file(store, other)
    assert read_run_file(tmp_path) == other
    (tmp_path / "run.json").write_bytes(text)
    assert is_run_file_ours(store) is True, "a kill may leave the text before"
    store_run_file(store, new_run_file(structs.replace(ASKED, seed=5)))
    (tmp_path / "run.json").write_bytes(text)
    assert is_run_file_ours(store) is False
    (tmp_path / "run.json").unlink()
    with pytest.raises(StoreError):
        is_run_file_ours(store)
    assert read_run_file(tmp_path) is None


def test_small_questions_about_a_run(store: RunStore) -> None:
    assert (store.n_cases(), store.n_images(), store.n_unreadable()) == (0, 0, 0)
    store.put_case(0, CASE)
    store.put_verdict(verdict())
    store.put_image(StoredImage(image_id="ab12", width=4, height=3, digest="d", n_bytes=9))
    store.put_component(component("d", "detector"))
    assert (store.n_cases(), store.n_images()) == (1, 1)
    assert store.has_case("c-1")
    assert not store.has_case("c-2")
    assert store.label_of("id-d") == "d"
    with pytest.raises(StoreError) as refused:
        store.label_of("id-gone")
    assert refused.value.code == "store-damaged"
    assert list(store.image_sizes()) == [("ab12", 9)]
    assert [image.width for image in store.images()] == [4]
    assert store.image_path("ab12").name == "12.webp"
    for floor in (0.05, 0.2, None):
        store.put_observation(look("d", Query(role="detector", text=str(floor)), Detections(floor=floor)))
    store.put_observation(look("d", Query(role="judge", text="x"), Answer(text="", scores={}, problem="no")))
    assert store.highest_floor("id-d") == 0.2
    assert store.highest_floor("id-gone") is None
    assert store.n_unreadable() == 1
    render = StoredRender(component_id="id-d", text="t", formula=None, seed=1, repeat=0, status=Status.UNKNOWN)
    for _ in range(2):
        store.put_render(render)
        store.put_observation(look("d", Query(role="judge", text="y"), None, "cd34"))
    store.put_observation(look("d", Query(role="judge", text="z"), None, "cd34"))
    assert store.failed_work() == {render.key(): 2, "cd34": 2}


def test_images_stay_where_the_first_of_them_went(store: RunStore) -> None:
    store.check_images_at("")
    store.check_images_at("s3://bucket/a")
    store.set_meta("images_at", "s3://bucket/a")
    store.check_images_at("s3://bucket/a")
    store.check_images_at("")
    with pytest.raises(UsageError) as refused:
        store.check_images_at("s3://bucket/b")
    assert refused.value.code == "images-elsewhere"
    store.drop_meta("images_at")
    store.put_image(StoredImage(image_id="ab12", width=1, height=1, digest="d", n_bytes=1))
    with pytest.raises(UsageError):
        store.check_images_at("s3://bucket/a")


def test_an_edited_row_is_found_by_its_digest(store: RunStore, tmp_path: Path) -> None:
    store.put_case(0, CASE)
    store.put_verdict(verdict())
    store.flush()
    assert list(store.edited_rows()) == []
    with closing(sqlite3.connect(tmp_path / "salva.db")) as connection:
        connection.execute("UPDATE verdicts SET outcome = 'FAIL'")
        connection.commit()
    assert list(store.edited_rows()) == [("verdicts", 'c-1/0/pair/m/truth/["d"]')]


def test_many_cases_come_in_the_suites_order(store: RunStore) -> None:
    ids = [f"c-{number * 7 % 601}" for number in range(600)]
    for ordinal, case_id in enumerate(ids):
        store.put_case(ordinal, replace(CASE, case_id=case_id))
    assert [case.case_id for case in store.cases()] == ids


def test_all_that_is_read_meanwhile_is_of_one_moment(tmp_path: Path) -> None:
    with open_run(tmp_path, "write") as writer, open_run(tmp_path) as reader:
        with reader.read_transaction():
            assert reader.n_cases() == 0
            writer.put_case(0, CASE)
            writer.flush()
            assert reader.n_cases() == 0
        assert reader.n_cases() == 1


def test_a_snapshot_is_a_store_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "copy").mkdir()
    with open_run(tmp_path, "write") as store:
        store.put_case(0, CASE)
        store.flush()
        store.write_snapshot(tmp_path / "copy" / "salva.db")
        with pytest.raises(StoreError):
            store.write_snapshot(tmp_path / "copy" / "salva.db")
    with open_run(tmp_path / "copy") as copy:
        assert list(copy.cases()) == [CASE]
        row = next(copy.rows("SELECT case_id, ordinal FROM cases"))
    assert key_of("cases", row) == "c-1"
    assert key_of("images", row) == ""


def test_run_json_that_is_no_file_is_a_store_error(tmp_path: Path) -> None:
    (tmp_path / "run.json").mkdir()
    with pytest.raises(StoreError) as refused:
        read_run_file(tmp_path)
    assert refused.value.code == "disk-error"
    (tmp_path / "run.json").rmdir()
    (tmp_path / "run.json").write_text(json.dumps({"format": None}))
    with pytest.raises(StoreError) as refused:
        read_run_file(tmp_path)
    assert refused.value.code == "run-format"
