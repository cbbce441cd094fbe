"""salva.db opened and written, in small groups of rows.

One process writes at a time, under the run lock; others may read meanwhile. A row that names an
image is written after its file. Rows hold the inputs of their key, so that `verify` can compute
it again.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Literal

from salva.core.case import Case
from salva.core.fingerprint import Json
from salva.core.protocols import Ticket
from salva.core.secrets import redact
from salva.core.verdict import Verdict
from salva.errors import PluginError, StoreError, UsageError
from salva.messages import message
from salva.store.blobs import store_error
from salva.store.connection import (
    check_format,
    check_schema,
    connect_for_reading,
    connect_for_writing,
)
from salva.store.images import IMAGES_AT
from salva.store.lock import RunLock
from salva.store.reading import DATABASE, RunReader, guarded
from salva.store.records import WHOLE, Status, StoredComponent, StoredImage, StoredObservation, StoredRender
from salva.store.rows import (
    Row,
    Value,
    case_to_row,
    component_to_row,
    copy_of,
    digest_of_row,
    image_to_row,
    insert,
    note_to_row,
    observation_to_row,
    render_to_row,
    select,
    ticket_to_row,
    verdict_to_row,
)
from salva.store.schema import VERDICT_KEY

GROUP_ROWS = 32
GROUP_S = 0.2


def open_run(directory: Path, mode: Literal["read", "write"] = "read", *, images_at: str = "") -> RunStore:
    """The store of a run directory; "write" creates what is missing and takes the run lock.

    images_at: the address of the image files of a run that is made now; one that is there keeps its own.
    """
    if mode == "write":
        return _open_for_writing(directory, images_at)
    path = directory / DATABASE
    if not path.is_file():
        raise UsageError(message("run-missing", path=str(directory), file=DATABASE))
    connection = connect_for_reading(path)
    try:
        check_format(connection, path)
        check_schema(connection, path)
    except StoreError:
        connection.close()
        raise
    return RunStore(directory, connection, None)


def _open_for_writing(directory: Path, images_at: str = "") -> RunStore:
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except FileNotFoundError as error:
        advice = "nothing can be made there, so choose another directory with --out"
        raise StoreError(message("disk-error", path=str(directory), why=error.strerror, advice=advice)) from error
    except OSError as error:
        raise store_error(directory, error) from error
    with ExitStack() as undo:  # whatever keeps the store from opening, the lock is given back
        lock = RunLock(directory)
        undo.callback(lock.release)
        store = RunStore(directory, connect_for_writing(directory / DATABASE), lock)
        undo.pop_all()
        undo.callback(store.close)
        store.keep_images_at(images_at)
        if not store.images_at():
            store.blobs.prepare()
        undo.pop_all()
    return store


class RunStore(RunReader):
    """The rows and image files of one run; without a lock, for reading alone."""

    def __init__(self, directory: Path, connection: sqlite3.Connection, lock: RunLock | None) -> None:
        super().__init__(directory, connection)
        self._lock = lock
        self._n_pending = 0
        self._pending_since = 0.0
        self._is_closed = False

    def __enter__(self) -> RunStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def keep_images_at(self, address: str) -> None:
        """Note where the images go, before there are any; UsageError where they are elsewhere already."""
        self.check_images_at(address)
        if address and not self.images_at():
            self.set_meta(IMAGES_AT, address)
            self.flush()

    def put_component(self, component: StoredComponent) -> None:
        """Remember a component by its id."""
        self._labels = {}
        self._put("components", component_to_row(component))

    def put_case(self, ordinal: int, case: Case, primary: str = "") -> None:
        """Store a case at its place in the suite's order, with its primary check."""
        if self._put("cases", case_to_row(ordinal, case, primary), "IGNORE") == 0:
            raise PluginError(message("case-twice", suite=case.suite, case=case.case_id))

    def set_primary(self, case_id: str, primary: str) -> None:
        """Store another primary check for a case."""
        (row,) = self.rows(select("cases", "WHERE case_id = ?"), (case_id,))
        changed = {**dict(row), "primary_check": primary}
        self.put_row("cases", {**changed, "digest": digest_of_row("cases", changed)})

    def clear_cases(self) -> None:
        """Forget every case."""
        self._write("DELETE FROM cases", {})

    def put_image(self, image: StoredImage) -> None:
        """Store an image's row; its file must be on disk already."""
        self._put("images", image_to_row(image))

    def put_render(self, render: StoredRender, key: str = "") -> None:
        """Store what became of a render, whose image then needs no ticket; key: its own, if it is known already."""
        key = key or render.key()
        self._put("renders", render_to_row(render, key), is_last=render.status is not Status.DONE)
        if render.status is Status.DONE:
            self.drop_ticket(key)

    def put_ticket(self, ticket: Ticket, key: str, component_id: str) -> None:
        """Store what fetches an image, at once: whatever comes next, it was paid for.

        One that holds a key of the user's is not stored, since it could not be used without it.
        """
        if redact(ticket.place) == ticket.place:
            self._put("tickets", ticket_to_row(ticket, key, component_id))
            self.flush()

    def drop_ticket(self, key: str) -> None:
        """Forget what fetches an image."""
        self._write("DELETE FROM tickets WHERE render_key = :key", {"key": key})

    def put_observation(self, look: StoredObservation, key: str = "") -> None:
        """Store what became of an observation; key: its own, from whoever has it already."""
        self._put("observations", observation_to_row(look, key or look.key()))

    def put_verdict(self, verdict: Verdict) -> None:
        """Store a verdict, in place of an earlier one about the same."""
        self._put("verdicts", verdict_to_row(verdict))

    def put_row(self, table: str, row: Mapping[str, Value]) -> None:
        """Store a row as another run has it, digest and count of attempts included."""
        self._write(copy_of(table), dict(row))

    def drop_verdicts(self, check: str) -> None:
        """Forget every verdict of a check."""
        self._write('DELETE FROM verdicts WHERE "check" = :check', {"check": check})

    def drop_verdict(self, verdict: Verdict) -> None:
        """Forget one verdict."""
        row = verdict_to_row(verdict)
        where = " AND ".join(f'"{name}" = :{name}' for name in VERDICT_KEY)
        self._write(f"DELETE FROM verdicts WHERE {where}", {name: row[name] for name in VERDICT_KEY})

    def set_meta(self, key: str, value: Json) -> None:
        """Keep a note of the run."""
        self._put("meta", note_to_row(key, value))

    def set_whole(self) -> None:
        """Note that every case has all verdicts that it can have, and what they are."""
        self.set_meta(WHOLE, self.judged_digest())

    def drop_meta(self, key: str) -> None:
        """Forget a note of the run."""
        self._write("DELETE FROM meta WHERE key = :key", {"key": key})

    def forget_image(self, image_id: str, reason: str) -> None:
        """Drop an image whose file is no good; its renders count as failed and are tried again."""
        for render in self.renders_of(image_id):
            self.put_render(replace(render, status=Status.ERROR, image_id=None, error=reason))
        self._write("DELETE FROM images WHERE image_id = :image_id", {"image_id": image_id})

    def tick(self) -> None:
        """Commit the open group if it has waited long enough."""
        if self._n_pending and time.monotonic() - self._pending_since >= GROUP_S:
            self.flush()

    @guarded
    def flush(self) -> None:
        """Commit the open group now."""
        self._n_pending = 0
        if self._connection.in_transaction:
            self._connection.execute("COMMIT")

    @guarded
    def close(self) -> None:
        """Commit, fold the log into the database and release the lock; safe to call twice."""
        try:
            if self._lock is not None and not self._is_closed:
                self.flush()
                self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        finally:
            self._is_closed = True
            self._connection.close()
            if self._lock is not None:
                self._lock.release()

    def _put(self, table: str, row: Row, conflict: str = "REPLACE", *, is_last: bool = True) -> int:
        return self._write(insert(table, tuple(row), conflict), row, is_last=is_last)

    @guarded
    def _write(self, statement: str, values: Row, *, is_last: bool = True) -> int:
        """is_last: whether the group may be committed after it."""
        if not self._connection.in_transaction:
            self._connection.execute("BEGIN IMMEDIATE")
            self._pending_since = time.monotonic()
        self._n_pending += 1
        n_rows = self._connection.execute(statement, values).rowcount
        if is_last and (self._n_pending >= GROUP_ROWS or time.monotonic() - self._pending_since >= GROUP_S):
            self.flush()
        return n_rows
