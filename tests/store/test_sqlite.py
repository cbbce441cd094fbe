"""Records go into salva.db and come back the same; whatever is wrong with the file is said plainly."""

from __future__ import annotations

import multiprocessing
import os
import sqlite3
from collections import Counter
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from salva.core import typed_record
from salva.core.case import Case, Finding, Prompt
from salva.core.observation import Answer, Detection, Detections, Observation, Reading, TextSpan, Vector
from salva.core.protocols import Query
from salva.core.verdict import Failure, Outcome, Verdict
from salva.errors import LockedError, PluginError, StoreError, UsageError
from salva.store import sqlite
from salva.store.images import allow_images_at
from salva.store.records import Status, StoredComponent, StoredImage, StoredObservation, StoredRender
from salva.store.sqlite import RunStore, open_run

CASE = Case(
    case_id="fake-1",
    suite="fake",
    category="c",
    prompts=(Prompt(role="a", text="a 猫 \x00 'quoted'", formula="cat"), Prompt(role="b", text="dog")),
    checks=("same",),
    labels={"law": "x"},
    findings=(Finding(kind="other", sentence="one"), Finding(kind="k", sentence="two", subject=("a",), general="g")),
    extra={"deep": [1, {"two": None}]},
)
VERDICT = Verdict(
    case_id="fake-1",
    repeat=2,
    arm="pair",
    model="m/x",
    check="same",
    observers=("d", "r"),
    outcome=Outcome.FAIL,
    failure_types=("entity-omission",),
    failures=(
        Failure(
            failure_type="entity-omission", role="a", message="no \ud800 cat", entity="cat", expected="1", seen="0"
        ),
    ),
    scores={"right_a": 0.5},
    images={"a": "1" * 40},
)


def look(observation: Observation | None, image_id: str = "1" * 40) -> StoredObservation:
    return StoredObservation(
        component_id="c",
        image_id=image_id,
        query=Query(role="detector", text="what \ud83d?", labels=("cat", "dog")),
        given={"reader": "k"},
        status=Status.ERROR if observation is None else Status.DONE,
        observation=observation,
        error="" if observation else "it broke",
        label="pocket",
    )


def test_cases_verdicts_and_images_come_back_as_they_were(tmp_path: Path) -> None:
    image = StoredImage(image_id="1" * 40, width=3, height=2, digest="d", n_bytes=9)
    with open_run(tmp_path, "write") as store:
        store.put_case(0, CASE)
        store.put_verdict(VERDICT)
        store.put_image(image)
    with open_run(tmp_path) as store:
        assert list(store.cases()) == [CASE]
        assert store.case("fake-1") == CASE
        assert list(store.verdicts()) == [VERDICT]
        assert store.find_image("1" * 40) == image
        assert (store.image("1" * 40).width, store.image("1" * 40).height) == (3, 2)
        with pytest.raises(StoreError, match="no image"):
            store.image("2" * 40)
        with pytest.raises(UsageError, match="no case 'nope'"):
            store.case("nope")


def test_scores_of_whole_numbers_and_of_yes_or_no_come_back_as_numbers(tmp_path: Path) -> None:
    with open_run(tmp_path, "write") as store:
        store.put_verdict(replace(VERDICT, scores={"ok": True, "n": 3, "share": 0.5}))
    with open_run(tmp_path) as store:
        (read,) = store.verdicts()
    assert [*map(repr, read.scores.values())] == ["1.0", "3.0", "0.5"]


@pytest.mark.parametrize(
    "observation",
    [
        Detections(boxes=(Detection(label="cat", score=0.25, box=(0.0, 0.1, 0.5, 1.0)),)),
        Reading(spans=(TextSpan(text="STOP \ud800", score=1.0, box=(0.0, 0.0, 1.0, 1.0)),)),
        Answer(text="yes", scores={"p": 0.5}, reply="Yes!"),
        Vector(values=(0.5, -1.0)),
        None,
    ],
)
def test_looks_come_back_with_their_component_label(tmp_path: Path, observation: Observation | None) -> None:
    stored = look(observation)
    component = StoredComponent(component_id="c", role="detector", label="pocket", is_formula_seen=False, identity={})
    with open_run(tmp_path, "write") as store:
        store.put_component(component)
        store.put_observation(stored)
    with open_run(tmp_path) as store:
        assert dict(store.observations()) == {stored.key(): stored}
        assert store.observation_outcome(stored.key()) == (stored.status, stored.observation, stored.error)
        assert store.observation_outcome("other") is None
        assert store.observations_of(stored.image_id) == ([stored] if observation else [])
        assert store.components() == [component]


def test_what_a_look_saw_is_checked_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = Detections(boxes=(Detection(label="cat", score=0.25, box=(0.0, 0.1, 0.5, 1.0)),))
    with open_run(tmp_path, "write") as store:
        store.put_observation(look(seen))
    n_checked, check = Counter[str](), typed_record.checked

    def counting(record: object) -> object:
        n_checked[type(record).__name__] += 1
        return check(record)

    monkeypatch.setattr(typed_record, "checked", counting)
    with open_run(tmp_path) as store:
        assert len(list(store.observations())) == 1
        assert n_checked["Detection"] == 1
        assert store.observation_outcome(look(seen).key()) == (Status.DONE, seen, "")
    assert n_checked["Detection"] == 2


def test_a_render_comes_back_and_counts_its_attempts(tmp_path: Path) -> None:
    failed = StoredRender(
        component_id="c", text="a cat", formula=None, seed=3, repeat=1, status=Status.ERROR, error="boom"
    )
    done = StoredRender(
        component_id="c",
        text="a cat",
        formula=None,
        seed=3,
        repeat=1,
        status=Status.DONE,
        image_id="1" * 40,
        provenance={"planted": ["x"]},
    )
    with open_run(tmp_path, "write") as store:
        store.put_render(failed)
        store.put_render(done)
        assert dict(store.renders()) == {done.key(): done}
        assert store.renders_of("1" * 40) == [done]
        assert store.render_outcome(done.key()) == (Status.DONE, None, ""), "a row without its image is no picture"
        store.put_image(StoredImage(image_id="1" * 40, width=3, height=2, digest="d", n_bytes=9))
        assert store.render_outcome(done.key()) == (Status.DONE, store.image("1" * 40), "")
        assert store.render_outcome("other") is None
    with closing(sqlite3.connect(tmp_path / "salva.db")) as connection:
        attempts = connection.execute("SELECT attempts FROM renders").fetchall()
    assert attempts == [(2,)]


def test_an_image_that_is_forgotten_has_its_renders_tried_again(tmp_path: Path) -> None:
    done = StoredRender(
        component_id="c", text="t", formula=None, seed=1, repeat=0, status=Status.DONE, image_id="1" * 40
    )
    with open_run(tmp_path, "write") as store:
        store.put_image(StoredImage(image_id="1" * 40, width=1, height=1, digest="d", n_bytes=1))
        store.put_render(done)
        store.forget_image("1" * 40, "it is damaged")
        (forgotten,) = dict(store.renders()).values()
        assert (forgotten.status, forgotten.error, forgotten.image_id) == (Status.ERROR, "it is damaged", None)
        assert store.find_image("1" * 40) is None


def test_rows_are_committed_in_small_groups_and_seen_by_readers(tmp_path: Path) -> None:
    with open_run(tmp_path, "write") as writer, open_run(tmp_path) as reader:
        for i in range(33):
            writer.set_meta(f"note {i}", i)
        assert n_notes(reader) == 32
        writer.flush()
        assert n_notes(reader) == 33


class Clock:
    """The time a store is told."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now


def n_notes(reader: RunStore) -> int:
    return sum(name.startswith("note") for name in reader.meta())


def test_a_few_rows_are_committed_after_a_fifth_of_a_second_and_not_one_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock()
    monkeypatch.setattr(sqlite, "time", clock)
    with open_run(tmp_path, "write") as writer, open_run(tmp_path) as reader:
        for i in range(3):
            writer.set_meta(f"note {i}", i)
            clock.now += 0.0625
        writer.tick()
        assert n_notes(reader) == 0, "0.19 s after the first"
        clock.now += 0.0625
        writer.tick()
        assert n_notes(reader) == 3
        writer.set_meta("note 3", 3)
        clock.now += 0.1875
        writer.set_meta("note 4", 4)
        assert n_notes(reader) == 3, "the time of a group begins with its first row"
        clock.now += 0.0625
        writer.set_meta("note 5", 5)
        assert n_notes(reader) == 6, "a row that comes late enough takes the others along"


def test_a_writer_clears_what_a_killed_one_left_half_written(tmp_path: Path) -> None:
    left_over = tmp_path / "images" / "ab" / ".123-0"
    left_over.parent.mkdir(parents=True)
    left_over.write_bytes(b"RIF")
    open_run(tmp_path, "write").close()
    assert not left_over.exists()


def test_two_cases_with_one_id_are_the_suites_fault(tmp_path: Path) -> None:
    with open_run(tmp_path, "write") as store:
        store.put_case(0, CASE)
        with pytest.raises(PluginError, match=r"'fake-1'.*\[case-twice\]"):
            store.put_case(1, CASE)


def hold(directory: Path, ready: object, leave: object) -> None:
    with open_run(directory, "write"):
        ready.set()  # type: ignore[attr-defined]  # multiprocessing's events have no usable type
        leave.wait(30)  # type: ignore[attr-defined]  # as above


def test_a_second_writer_is_told_who_holds_the_run(tmp_path: Path) -> None:
    spawn = multiprocessing.get_context("spawn")
    ready, leave = spawn.Event(), spawn.Event()
    holder = spawn.Process(target=hold, args=(tmp_path, ready, leave))
    holder.start()
    try:
        assert ready.wait(30)
        with pytest.raises(LockedError, match=f"Process {holder.pid}"):
            open_run(tmp_path, "write")
        open_run(tmp_path).close()
    finally:
        leave.set()
        holder.join(30)
    open_run(tmp_path, "write").close()


def test_reading_a_directory_without_a_run_says_so(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"salva\.db.*\[run-missing\]"):
        open_run(tmp_path)
    assert list(tmp_path.iterdir()) == []


def broken_by(tmp_path: Path, statement: str) -> Path:
    with open_run(tmp_path, "write") as store:
        store.put_case(0, CASE)
        store.put_verdict(VERDICT)
        store.put_observation(look(Vector(values=(1.0,))))
    connection = sqlite3.connect(tmp_path / "salva.db")
    connection.execute(statement)
    connection.commit()
    connection.close()
    return tmp_path


@pytest.mark.parametrize("mode", ["read", "write"])
@pytest.mark.parametrize(
    ("statement", "code", "told"),
    [
        ("PRAGMA user_version = 99", "run-format", "format 99"),
        ("PRAGMA application_id = 7", "store-damaged", "SQLite"),
        ("ALTER TABLE verdicts DROP COLUMN reason", "store-damaged", "table verdicts"),
        ("DROP TABLE images", "store-damaged", "table images"),
    ],
)
def test_a_store_that_cannot_be_read_is_refused_with_the_reason(
    tmp_path: Path, statement: str, code: str, told: str, mode: str
) -> None:
    directory = broken_by(tmp_path, statement)
    with pytest.raises(StoreError, match=told) as refused:
        open_run(directory, mode)  # type: ignore[arg-type]  # parametrised
    assert refused.value.code == code
    os.rename(directory / ".lock", directory / "moved")


@pytest.mark.parametrize(
    ("statement", "row"),
    [
        ("UPDATE cases SET record = '{broken'", "table cases, row 'fake-1'"),
        ('UPDATE cases SET record = \'{"case_id": "x"}\'', "table cases, row 'fake-1'"),
        ('UPDATE observations SET observation = \'{"kind": "dream"}\'', "table observations, row"),
        ("UPDATE observations SET status = 'perhaps'", "table observations, row"),
    ],
)
def test_an_edited_row_is_named(tmp_path: Path, statement: str, row: str) -> None:
    with open_run(broken_by(tmp_path, statement)) as store, pytest.raises(StoreError, match=row):
        list(store.cases()), list(store.verdicts()), list(store.observations())


@pytest.mark.parametrize("change", ["outcome = 'PASS'", "outcome = 'MAYBE'", "failures = '[[1]]'", "model = 'other'"])
def test_an_edited_verdict_is_none(tmp_path: Path, change: str) -> None:
    with open_run(broken_by(tmp_path, f"UPDATE verdicts SET {change}")) as store:
        assert list(store.verdicts()) == []


@pytest.mark.parametrize(
    "content", [b"not a database, but long enough to be taken for one" * 40, b"SQLite format 3\0" + b"x" * 5000]
)
def test_a_file_that_is_no_database_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "salva.db").write_bytes(content)
    with pytest.raises(StoreError, match=r"\[disk-error\]"):
        open_run(tmp_path)
    with pytest.raises(StoreError, match=r"\[disk-error\]"):
        open_run(tmp_path, "write")
    assert (tmp_path / "salva.db").read_bytes() == content


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE cases SET record = replace(record, 'dog', 'cow')",
        "UPDATE verdicts SET outcome = 'PASS'",
        "UPDATE verdicts SET reason = x'00'",
        "UPDATE observations SET observation = replace(observation, '1.0', '2.0')",
        "UPDATE renders SET provenance = '{}'",
    ],
)
def test_a_row_whose_content_was_changed_has_another_digest(tmp_path: Path, statement: str) -> None:
    render = StoredRender(
        component_id="c", text="t", formula=None, seed=1, repeat=0, status=Status.ERROR, provenance={"by": "x"}
    )
    with open_run(tmp_path, "write") as store:
        store.put_render(render)
        store.put_render(render)
    with open_run(broken_by(tmp_path, statement)) as store:
        wrong = [table for table, _ in store.edited_rows()]
    assert wrong == [statement.split()[1]]


def test_a_directory_that_cannot_be_made_is_not_said_to_be_gone() -> None:
    with pytest.raises(StoreError, match=r"be made there.*\[disk-error\]") as refused:
        open_run(Path("/proc/nope/run"), "write")
    assert refused.value.code == "disk-error"


def test_what_is_forgotten_is_gone(tmp_path: Path) -> None:
    with open_run(tmp_path, "write") as store:
        store.put_case(0, CASE)
        for check in ("same", "truth"):
            store.put_verdict(replace(VERDICT, check=check))
        store.set_meta("note", 1)
        store.drop_verdicts("truth")
        store.drop_meta("note")
        assert [verdict.check for verdict in store.verdicts()] == ["same"]
        assert "note" not in store.meta()
        store.clear_cases()
        assert store.n_cases() == 0
    store.close()


def test_a_directory_that_cannot_be_made_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    for directory in (tmp_path / "file", tmp_path / "file" / "run", Path("/proc/none/run")):
        with pytest.raises(StoreError) as refused:
            open_run(directory, "write")
        assert refused.value.code == "disk-error"


def test_images_elsewhere_are_noted_once(tmp_path: Path) -> None:
    address = f"file://{tmp_path}/pictures"
    allow_images_at(address)
    with open_run(tmp_path / "run", "write", images_at=address) as store:
        assert store.images_at() == address
        store.blobs.write("ab12", b"data")
        store.put_image(StoredImage(image_id="ab12", width=1, height=1, digest="d", n_bytes=4))
    assert (tmp_path / "pictures" / "ab" / "12.webp").exists()
    assert not (tmp_path / "run" / "images").exists()
    with pytest.raises(UsageError):
        open_run(tmp_path / "run", "write", images_at="s3://bucket/other")
    open_run(tmp_path / "run", "write").close()
