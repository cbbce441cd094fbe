"""salva.db: every row of a run, read as records and written in small groups.

One process writes at a time, under the run lock; others may read meanwhile. A row that names an
image is written after its file. Rows hold the inputs of their key, so that `verify` can compute
it again. Knows nothing of models, formats or what a verdict means.
"""

from __future__ import annotations

import functools
import json
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Literal, ParamSpec, TypeVar, cast

from salva.core.case import Case, case_from_json, case_to_json
from salva.core.fingerprint import Json
from salva.core.image import ImageRef
from salva.core.observation import Observation, observation_from_json, observation_to_json
from salva.core.verdict import Verdict
from salva.errors import PluginError, StoreError, UsageError
from salva.store.blobs import Blobs, store_error
from salva.store.connection import check_columns, checked_version, connect_for_reading, connect_for_writing, translated
from salva.store.lock import RunLock
from salva.store.migrations import MIGRATIONS
from salva.store.records import Status, StoredComponent, StoredImage, StoredLook, StoredRender
from salva.store.rows import (
    Row,
    image_from_row,
    look_from_row,
    put_statement,
    render_from_row,
    storable,
    to_text,
    verdict_from_row,
)
from salva.store.runfile import read_run_file

DATABASE = "salva.db"
GROUP_ROWS = 32
GROUP_S = 0.2

_P = ParamSpec("_P")
_R = TypeVar("_R")


def open_run(directory: Path, mode: Literal["read", "write"] = "read") -> RunStore:
    """The store of a run directory; "write" creates what is missing and takes the run lock."""
    if mode == "write":
        return _open_for_writing(directory)
    path = directory / DATABASE
    if not path.is_file():
        raise UsageError(f"{str(directory)!r} is no run: it has no {DATABASE}; give the directory `salva run` printed")
    connection = connect_for_reading(path)
    try:
        if checked_version(connection, path) < len(MIGRATIONS):
            _open_for_writing(directory).close()
        check_columns(connection, path)
    except StoreError:
        connection.close()
        raise
    return RunStore(directory, connection, None)


def _open_for_writing(directory: Path) -> RunStore:
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise store_error(directory, error) from error
    lock = RunLock(directory)
    try:
        store = RunStore(directory, connect_for_writing(directory / DATABASE), lock)
    except BaseException:
        lock.release()
        raise
    store.blobs.sweep()
    return store


def _guarded(method: Callable[_P, _R]) -> Callable[_P, _R]:
    """SQLite's exceptions leave as ours."""

    @functools.wraps(method)
    def call(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        try:
            return method(*args, **kwargs)
        except sqlite3.Error as error:
            raise translated(cast(RunStore, args[0]).path, error) from error

    return call


class RunStore:
    """The rows and image files of one run."""

    def __init__(self, directory: Path, connection: sqlite3.Connection, lock: RunLock | None) -> None:
        self.directory = directory
        self.path = directory / DATABASE
        self.blobs = Blobs(directory)
        self._connection = connection
        self._lock = lock
        self._n_pending = 0
        self._pending_since = 0.0
        self._is_closed = False
        self._labels: dict[str, str] = {}

    def __enter__(self) -> RunStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Reading

    def run_file(self) -> dict[str, Json]:
        """What run.json says."""
        content = read_run_file(self.directory)
        if content is None:
            raise StoreError(f"{str(self.directory)!r} has no run.json; restore it from a copy")
        return content

    @_guarded
    def meta(self) -> dict[str, Json]:
        """The run's own notes: versions, stamps."""
        rows = self._connection.execute("SELECT key, value FROM meta").fetchall()
        return {key: cast(Json, self._json(value, "meta", key)) for key, value in rows}

    @_guarded
    def components(self) -> list[StoredComponent]:
        """Every component whose work is stored."""
        rows = self._connection.execute("SELECT * FROM components ORDER BY component_id").fetchall()
        return [
            StoredComponent(
                component_id=row[0],
                role=row[1],
                label=row[2],
                is_formula_seen=bool(row[3]),
                identity=self._json(row[4], "components", row[0]),
            )
            for row in rows
        ]

    @_guarded
    def n_cases(self) -> int:
        """How many cases are stored."""
        return int(self._connection.execute("SELECT count(*) FROM cases").fetchone()[0])

    def cases(self) -> Iterator[Case]:
        """The cases of the run, in the suite's order."""
        return (case for _, case in self.cases_with_ids())

    def cases_with_ids(self) -> Iterator[tuple[str, Case]]:
        """The cases with the id of their row."""
        after = -1
        while rows := self._cases_after(after):
            for ordinal, case_id, record in rows:
                yield str(case_id), self._parsed(case_from_json, record, "cases", case_id)
                after = cast(int, ordinal)

    @_guarded
    def has_case(self, case_id: str) -> bool:
        """Whether a case is stored."""
        return self._connection.execute("SELECT 1 FROM cases WHERE case_id = ?", (case_id,)).fetchone() is not None

    @_guarded
    def case(self, case_id: str) -> Case:
        """One case by its id."""
        row = self._connection.execute("SELECT record FROM cases WHERE case_id = ?", (case_id,)).fetchone()
        if row is None:
            raise UsageError(f"no case {case_id!r} in {str(self.directory)!r}")
        return self._parsed(case_from_json, row[0], "cases", case_id)

    def verdicts(
        self, relation: str | None = None, model: str | None = None, arm: str | None = None
    ) -> Iterator[Verdict]:
        """The verdicts, by case and repeat; arguments that are given select."""
        wanted = {"relation": relation, "model": model, "arm": arm}
        given = {name: value for name, value in wanted.items() if value is not None}
        where = f" WHERE {' AND '.join(f'{name} = ?' for name in given)}" if given else ""
        for row in self._rows(f"SELECT * FROM verdicts{where}", tuple(given.values())):
            yield self._verdict(row)

    @_guarded
    def outcomes(self, arm: str = "pair") -> dict[str, int]:
        """How many verdicts of an arm had each outcome."""
        query = "SELECT outcome, count(*) FROM verdicts WHERE arm = ? GROUP BY outcome"
        return dict(self._connection.execute(query, (arm,)).fetchall())

    def image(self, image_id: str) -> ImageRef:
        """An image by its id."""
        found = self.find_image(image_id)
        if found is None:
            raise StoreError(f"no image {image_id!r} in {str(self.path)!r}; `salva verify` lists what is missing")
        return ImageRef(image_id=found.image_id, width=found.width, height=found.height)

    def image_path(self, image_id: str) -> Path:
        """The file of an image."""
        return self.blobs.path_of(image_id)

    @_guarded
    def find_image(self, image_id: str) -> StoredImage | None:
        """An image's row, if there is one."""
        row = self._connection.execute("SELECT * FROM images WHERE image_id = ?", (image_id,)).fetchone()
        return None if row is None else image_from_row(row)

    @_guarded
    def n_images(self) -> int:
        """How many images are stored."""
        return int(self._connection.execute("SELECT count(*) FROM images").fetchone()[0])

    def images(self) -> Iterator[StoredImage]:
        """Every image row."""
        return (image_from_row(row) for row in self._rows("SELECT * FROM images", ()))

    def renders(self) -> Iterator[tuple[str, StoredRender]]:
        """Every render row with its key."""
        for row in self._rows("SELECT * FROM renders", ()):
            yield str(row[0]), self._render(row)

    def renders_of(self, image_id: str) -> list[StoredRender]:
        """The renders that gave this image, with their provenance."""
        return [self._render(row) for row in self._rows("SELECT * FROM renders WHERE image_id = ?", (image_id,))]

    @_guarded
    def find_render(self, key: str) -> StoredRender | None:
        """What became of a render, if it was tried."""
        row = self._connection.execute("SELECT * FROM renders WHERE render_key = ?", (key,)).fetchone()
        return None if row is None else self._render(row)

    @_guarded
    def render_outcome(self, key: str) -> tuple[Status, ImageRef | None, str] | None:
        """How a render ended, its image and its error, if it was tried; quicker than the whole record."""
        row = self._connection.execute(
            "SELECT status, renders.image_id, width, height, error FROM renders "
            "LEFT JOIN images USING (image_id) WHERE render_key = ?",
            (key,),
        ).fetchone()
        if row is None:
            return None
        status, image_id, width, height, error = row
        image = None if width is None else ImageRef(image_id=image_id, width=width, height=height)
        return self._status(status, "renders", key), image, error

    def provenance(self, key: str) -> Mapping[str, Json]:
        """Where the image of a render key came from; empty when there is none."""
        found = self.find_render(key)
        return {} if found is None else found.provenance

    def looks(self) -> Iterator[tuple[str, StoredLook]]:
        """Every look row with its key."""
        for row in self._rows("SELECT * FROM looks", ()):
            yield str(row[0]), self._look(row)

    def observations_of(self, image_id: str) -> list[StoredLook]:
        """All that was seen of an image: looks that were answered, by component label."""
        rows = self._rows("SELECT * FROM looks WHERE image_id = ? AND status = 'done'", (image_id,))
        return sorted((self._look(row) for row in rows), key=lambda look: (look.query.role, look.label, look.key()))

    @_guarded
    def find_look(self, key: str) -> StoredLook | None:
        """What became of a look, if it was tried."""
        row = self._connection.execute("SELECT * FROM looks WHERE look_key = ?", (key,)).fetchone()
        return None if row is None else self._look(row)

    @_guarded
    def look_outcome(self, key: str) -> tuple[Status, Observation | None, str] | None:
        """How a look ended, what was seen and its error, if it was tried; quicker than the whole record."""
        query = "SELECT status, observation, error FROM looks WHERE look_key = ?"
        row = self._connection.execute(query, (key,)).fetchone()
        if row is None:
            return None
        status, seen, error = row
        observation = None if seen is None else self._parsed(observation_from_json, seen, "looks", key)
        return self._status(status, "looks", key), observation, error

    # Writing

    def put_component(self, component: StoredComponent) -> None:
        """Remember a component by its id."""
        self._labels = {}
        values = (component.component_id, component.role, component.label, int(component.is_formula_seen))
        self._write("INSERT OR IGNORE INTO components VALUES (?,?,?,?,?)", (*values, to_text(component.identity)))

    def put_case(self, ordinal: int, case: Case) -> None:
        """Store a case at its place in the suite's order."""
        values = (ordinal, case.case_id, to_text(case_to_json(case)))
        if self._write("INSERT OR IGNORE INTO cases VALUES (?,?,?)", values) == 0:
            raise PluginError(f"the suite {case.suite!r} gives two cases the id {case.case_id!r}; ids must differ")

    def clear_cases(self) -> None:
        """Forget every case."""
        self._write("DELETE FROM cases", ())

    def put_image(self, image: StoredImage) -> None:
        """Store an image's row; its file must be on disk already."""
        values = (image.image_id, image.width, image.height, image.digest, image.n_bytes)
        self._write("INSERT OR REPLACE INTO images VALUES (?,?,?,?,?)", values)

    def put_render(self, render: StoredRender) -> None:
        """Store what became of a render."""
        inputs = (render.component_id, render.text, render.formula, render.seed, render.repeat)
        outputs = (str(render.status), render.image_id, to_text(render.provenance), storable(render.error))
        self._write(put_statement("renders", "render_key", 10), (render.key(), *inputs, *outputs))

    def put_look(self, look: StoredLook) -> None:
        """Store what became of a look."""
        seen = None if look.observation is None else to_text(observation_to_json(look.observation))
        query = to_text({"role": look.query.role, "text": look.query.text, "labels": look.query.labels})
        inputs = (look.component_id, look.image_id, query, to_text(look.given))
        values = (look.key(), *inputs, str(look.status), seen, storable(look.error))
        self._write(put_statement("looks", "look_key", 8), values)

    def put_verdict(self, verdict: Verdict) -> None:
        """Store a verdict, in place of an earlier one about the same."""
        failures = [[f.error, f.role, f.message, f.entity, f.expected, f.seen] for f in verdict.failures]
        subject = (verdict.case_id, verdict.repeat, verdict.arm, verdict.model, verdict.relation, verdict.observers)
        conclusion = (str(verdict.outcome), to_text(verdict.errors), to_text(failures), to_text(dict(verdict.scores)))
        values = (*subject, *conclusion, to_text(dict(verdict.images)), storable(verdict.reason))
        self._write("INSERT OR REPLACE INTO verdicts VALUES (?,?,?,?,?,?,?,?,?,?,?,?)", values)

    def drop_verdicts(self, relation: str) -> None:
        """Forget every verdict of a relation."""
        self._write("DELETE FROM verdicts WHERE relation = ?", (relation,))

    def set_meta(self, key: str, value: Json) -> None:
        """Keep a note of the run."""
        self._write("INSERT OR REPLACE INTO meta VALUES (?,?)", (key, to_text(value)))

    def drop_meta(self, key: str) -> None:
        """Forget a note of the run."""
        self._write("DELETE FROM meta WHERE key = ?", (key,))

    def forget_image(self, image_id: str, reason: str) -> None:
        """Drop an image whose file is no good; its renders count as failed and are tried again."""
        self._write(
            "UPDATE renders SET status = 'failed', image_id = NULL, error = ? WHERE image_id = ?",
            (storable(reason), image_id),
        )
        self._write("DELETE FROM images WHERE image_id = ?", (image_id,))

    def tick(self) -> None:
        """Commit the open group if it has waited long enough."""
        if self._n_pending and time.monotonic() - self._pending_since >= GROUP_S:
            self.flush()

    @_guarded
    def flush(self) -> None:
        """Commit the open group now."""
        self._n_pending = 0
        if self._connection.in_transaction:
            self._connection.execute("COMMIT")

    @_guarded
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

    @_guarded
    def _write(self, statement: str, values: Row) -> int:
        if not self._connection.in_transaction:
            self._connection.execute("BEGIN IMMEDIATE")
            self._pending_since = time.monotonic()
        self._n_pending += 1
        n_rows = self._connection.execute(statement, values).rowcount
        if self._n_pending >= GROUP_ROWS or time.monotonic() - self._pending_since >= GROUP_S:
            self.flush()
        return n_rows

    @_guarded
    def _cases_after(self, ordinal: int) -> list[Row]:
        query = "SELECT ordinal, case_id, record FROM cases WHERE ordinal > ? ORDER BY ordinal LIMIT 256"
        return self._connection.execute(query, (ordinal,)).fetchall()

    def _rows(self, query: str, values: tuple[str, ...]) -> Iterator[Row]:
        try:
            cursor = self._connection.execute(query, values)
            while rows := cursor.fetchmany(512):
                yield from rows
        except sqlite3.Error as error:
            raise translated(self.path, error) from error

    def _verdict(self, row: Row) -> Verdict:
        where = f"{row[0]}/{row[1]}/{row[2]}/{row[3]}/{row[4]}/{row[5]}"
        return self._parsed(lambda _: verdict_from_row(row), None, "verdicts", where)

    def _render(self, row: Row) -> StoredRender:
        return self._parsed(lambda _: render_from_row(row), None, "renders", str(row[0]))

    def _look(self, row: Row) -> StoredLook:
        if not self._labels:
            self._labels = {c.component_id: c.label for c in self.components()}
        label = self._labels.get(str(row[1]), "")
        return self._parsed(lambda _: look_from_row(row, label), None, "looks", str(row[0]))

    def _status(self, text: str, table: str, key: str) -> Status:
        return self._parsed(lambda _: Status(text), None, table, key)

    def _json(self, text: str, table: str, row: str) -> dict[str, Json]:
        return self._parsed(lambda parsed: cast(dict[str, Json], parsed), text, table, row)

    def _parsed(self, make: Callable[..., _R], text: object, table: str, row: object) -> _R:
        try:
            return make(None if text is None else json.loads(cast(str, text)))
        except (ValueError, KeyError, TypeError, IndexError) as error:
            raise StoreError(
                f"{str(self.path)!r}, table {table}, row {row!r} is not what salva wrote "
                f"({type(error).__name__}: {error}); restore the file from a copy, or start anew with another --out"
            ) from error
