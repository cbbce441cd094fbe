"""Rows of one run into another: what came further stays, what contradicts is refused."""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from salva.core.case import Case, Prompt
from salva.core.observation import Answer, Detection, Detections
from salva.core.protocols import Query, Ticket
from salva.core.verdict import Outcome, Verdict
from salva.errors import StoreError, UsageError
from salva.store.blobs import digest_of
from salva.store.merging import merge_rows
from salva.store.records import Status, StoredComponent, StoredImage, StoredObservation, StoredRender
from salva.store.sqlite import RunStore, open_run

DATA = b"a picture"
IMAGE = StoredImage(image_id="ab12", width=3, height=2, digest=digest_of(DATA), n_bytes=len(DATA))
COMPONENT = StoredComponent(
    component_id="c", role="model", label="m", is_formula_seen=False, identity={"name": "m", "version": "1"}
)
CASE = Case(case_id="c-1", suite="s", category="c", prompts=(Prompt(role="a", text="a cat"),), checks=("truth",))
RENDER = StoredRender(
    component_id="c", text="a cat", formula=None, seed=1, repeat=0, status=Status.DONE, image_id=IMAGE.image_id
)
SEEN = StoredObservation(
    component_id="c",
    image_id=IMAGE.image_id,
    query=Query(role="judge", text="?"),
    given={},
    status=Status.DONE,
    observation=Answer(text="yes", scores={}, usage={"n_calls": 1}),
)
VERDICT = Verdict(case_id="c-1", repeat=0, arm="pair", model="m", check="truth", observers=("d",), outcome=Outcome.PASS)
Put = Callable[[RunStore], None]


def run_of(directory: Path, *puts: Put, data: bytes | None = DATA) -> Path:
    with open_run(directory, "write") as store:
        for put in puts:
            put(store)
        if data is not None:
            store.blobs.write(IMAGE.image_id, data)
    return directory


def with_image(store: RunStore) -> None:
    store.put_image(IMAGE)


def joined(out: Path, part: Path) -> int:
    n_images: list[int] = []
    with open_run(out, "write") as store, open_run(part) as reader:
        merge_rows(store, reader, n_images.append)
    return sum(n_images)


def everything(store: RunStore) -> None:
    store.put_component(COMPONENT)
    store.put_case(0, CASE)
    store.put_image(IMAGE)
    store.put_render(RENDER)
    store.put_observation(SEEN)
    store.put_verdict(VERDICT)


def test_all_that_a_part_has_is_taken_once(tmp_path: Path) -> None:
    part = run_of(tmp_path / "part", everything)
    for _ in range(2):
        assert joined(tmp_path / "out", part) == 1
    with open_run(tmp_path / "out") as store:
        assert store.components() == [COMPONENT]
        assert (list(store.cases()), list(store.verdicts())) == ([CASE], [VERDICT])
        assert [render for _, render in store.renders()] == [RENDER]
        assert [replace(look, label="") for _, look in store.observations()] == [SEEN]
        assert store.blobs.read(IMAGE.image_id) == DATA
        assert os.path.samefile(store.image_path(IMAGE.image_id), part / "images" / "ab" / "12.webp")


REFUSED, FAILED = (replace(RENDER, status=status, image_id=None) for status in (Status.REFUSED, Status.ERROR))
UNSEEN = replace(SEEN, status=Status.ERROR, observation=None)
BROKEN = replace(VERDICT, outcome=Outcome.ERROR, reason="it broke")


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(
    ("less", "more"),
    [
        (lambda store: store.put_render(FAILED), lambda store: store.put_render(REFUSED)),
        (lambda store: store.put_render(REFUSED), lambda store: store.put_render(RENDER)),
        (lambda store: store.put_observation(UNSEEN), lambda store: store.put_observation(SEEN)),
        (lambda store: store.put_verdict(BROKEN), lambda store: store.put_verdict(VERDICT)),
    ],
)
def test_what_came_further_stays(tmp_path: Path, less: Put, more: Put, turned: bool) -> None:
    first, second = (more, less) if turned else (less, more)
    run_of(tmp_path / "out", first)
    joined(tmp_path / "out", run_of(tmp_path / "part", second))
    alone = run_of(tmp_path / "alone", more)
    with open_run(tmp_path / "out") as store, open_run(alone) as other:
        for table in ("renders", "observations", "verdicts"):
            query = f"SELECT digest FROM {table}"
            assert [*map(tuple, store.rows(query))] == [*map(tuple, other.rows(query))]


@pytest.mark.parametrize(
    ("mine", "theirs"),
    [
        (lambda s: s.put_component(COMPONENT), lambda s: s.put_component(replace(COMPONENT, identity={}))),
        (lambda s: s.put_case(0, CASE), lambda s: s.put_case(0, replace(CASE, category="d"))),
        (with_image, lambda s: s.put_image(replace(IMAGE, width=2))),
        (with_image, lambda s: s.put_image(replace(IMAGE, height=3))),
        (lambda s: s.put_render(RENDER), lambda s: s.put_render(replace(RENDER, image_id="cd34"))),
        (lambda s: s.put_verdict(VERDICT), lambda s: s.put_verdict(replace(VERDICT, outcome=Outcome.FAIL))),
        (lambda s: s.put_verdict(VERDICT), lambda s: s.put_verdict(replace(VERDICT, reason="other"))),
    ],
)
def test_rows_that_contradict_each_other_are_refused(tmp_path: Path, mine: Put, theirs: Put) -> None:
    run_of(tmp_path / "out", mine)
    with pytest.raises(UsageError) as refused:
        joined(tmp_path / "out", run_of(tmp_path / "part", theirs))
    assert refused.value.code == "rows-contradict"


OTHER_REPLY = replace(SEEN, observation=Answer(text="no", scores={}))
DEARER = replace(SEEN, observation=Answer(text="yes", scores={}, usage={"n_calls": 2}))


def test_two_observations_agree_whatever_they_cost(tmp_path: Path) -> None:
    run_of(tmp_path / "out", with_image, lambda store: store.put_observation(SEEN))
    joined(tmp_path / "out", run_of(tmp_path / "part", with_image, lambda store: store.put_observation(DEARER)))
    other = run_of(tmp_path / "other", lambda store: store.put_observation(OTHER_REPLY))
    with pytest.raises(UsageError):
        joined(tmp_path / "out", other)


def test_what_was_seen_in_drawings_of_salvas_own_decides_nothing(tmp_path: Path) -> None:
    run_of(tmp_path / "out", lambda store: store.put_observation(SEEN))
    joined(tmp_path / "out", run_of(tmp_path / "part", lambda store: store.put_observation(OTHER_REPLY)))
    empty = replace(SEEN, query=Query(role="detector"), observation=Detections())
    boxes = (Detection(label="cat", score=1.0, box=(0, 0, 1, 1)),)
    full = replace(empty, observation=Detections(boxes=boxes))
    run_of(tmp_path / "a", with_image, lambda store: store.put_observation(empty))
    with pytest.raises(UsageError):
        joined(tmp_path / "a", run_of(tmp_path / "b", lambda store: store.put_observation(full)))


def test_two_verdicts_that_broke_agree(tmp_path: Path) -> None:
    run_of(tmp_path / "out", lambda store: store.put_verdict(BROKEN))
    other = replace(BROKEN, reason="it broke otherwise")
    joined(tmp_path / "out", run_of(tmp_path / "part", lambda store: store.put_verdict(other)))


def test_an_edited_row_is_refused(tmp_path: Path) -> None:
    part = run_of(tmp_path / "part", everything)
    with closing(sqlite3.connect(part / "salva.db")) as connection:
        connection.execute("UPDATE verdicts SET outcome = 'FAIL'")
        connection.commit()
    with pytest.raises(StoreError) as refused:
        joined(tmp_path / "out", part)
    assert refused.value.code == "row-invalid"


def test_a_damaged_file_is_replaced_and_never_taken(tmp_path: Path) -> None:
    part = run_of(tmp_path / "part", with_image)
    run_of(tmp_path / "out", with_image, data=b"damaged")
    joined(tmp_path / "out", part)
    gone = run_of(tmp_path / "gone", with_image, data=None)
    joined(gone, part)
    for directory in (tmp_path / "out", gone):
        assert (directory / "images" / "ab" / "12.webp").read_bytes() == DATA
    damaged = run_of(tmp_path / "damaged", with_image, data=b"other bytes")
    with pytest.raises(StoreError) as refused:
        joined(tmp_path / "new", damaged)
    assert refused.value.code == "image-file-damaged"
    joined(tmp_path / "out", damaged)


def test_runs_with_one_place_for_their_images_share_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    part = run_of(tmp_path / "part", with_image)
    out = tmp_path / "out"
    with open_run(out, "write") as store:
        monkeypatch.setattr(store, "images_at", lambda: "s3://bucket")
        with open_run(part) as reader:
            merge_rows(store, reader, lambda _: None)
        assert store.find_image(IMAGE.image_id) == IMAGE
    assert not (out / "images" / "ab").exists()


@pytest.mark.parametrize("code", [errno.EXDEV, errno.EPERM, errno.EEXIST])
def test_where_no_link_can_be_a_copy_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    def refuse(*_: object) -> None:
        raise OSError(code, os.strerror(code))

    part = run_of(tmp_path / "part", with_image)
    monkeypatch.setattr(os, "link", refuse)
    joined(tmp_path / "out", part)
    copy = tmp_path / "out" / "images" / "ab" / "12.webp"
    assert copy.read_bytes() == DATA
    assert not os.path.samefile(copy, part / "images" / "ab" / "12.webp")


def test_a_disk_that_fails_is_a_store_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, "full")

    part = run_of(tmp_path / "part", with_image)
    monkeypatch.setattr(os, "link", fail)
    monkeypatch.setattr(os, "rename", fail)
    with pytest.raises(StoreError) as refused:
        joined(tmp_path / "out", part)
    assert refused.value.code == "disk-error"


def test_what_fetches_an_image_comes_along_unless_the_image_is_there(tmp_path: Path) -> None:
    whole, part = tmp_path / "whole", tmp_path / "part"
    with open_run(part, "write") as store:
        for key in (RENDER.key(), "other"):
            store.put_ticket(Ticket(place="https://a.example/x", provenance={"cost_usd": 0.1}), key, "c")
    with open_run(whole, "write") as store, open_run(part) as source:
        store.put_render(RENDER)
        for _ in range(2):
            merge_rows(store, source, lambda _: None)
        assert store.ticket(RENDER.key()) is None
        assert store.ticket("other") == Ticket(place="https://a.example/x", provenance={"cost_usd": 0.1})
