"""Every row of a run as records: the reading half of salva.db.

Others may read while one process writes. A row that is not what salva wrote raises a StoreError
that names it. Knows nothing of models, formats or what a verdict means.
"""

from __future__ import annotations

import functools
import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import ParamSpec, TypeVar, cast

from salva.core.case import Case, case_from_json
from salva.core.fingerprint import Json
from salva.core.image import ImageRef
from salva.core.observation import Observation, observation_from_json
from salva.core.verdict import Verdict
from salva.errors import StoreError, UsageError
from salva.store.blobs import Blobs
from salva.store.connection import translated
from salva.store.records import Status, StoredComponent, StoredImage, StoredLook, StoredRender
from salva.store.rows import Row, image_from_row, look_from_row, render_from_row, verdict_from_row

DATABASE = "salva.db"

_P = ParamSpec("_P")
_R = TypeVar("_R")


def guarded(method: Callable[_P, _R]) -> Callable[_P, _R]:
    """SQLite's exceptions leave as ours."""

    @functools.wraps(method)
    def call(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        try:
            return method(*args, **kwargs)
        except sqlite3.Error as error:
            raise translated(cast(RunReader, args[0]).path, error) from error

    return call


class RunReader:
    """The rows and image files of one run, to be read."""

    def __init__(self, directory: Path, connection: sqlite3.Connection) -> None:
        self.directory = directory
        self.path = directory / DATABASE
        self.blobs = Blobs(directory)
        self._connection = connection
        self._labels: dict[str, str] = {}

    @guarded
    def meta(self) -> dict[str, Json]:
        """The run's own notes: versions, stamps."""
        rows = self._connection.execute("SELECT key, value FROM meta").fetchall()
        return {key: cast(Json, self._json(value, "meta", key)) for key, value in rows}

    @guarded
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

    @guarded
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

    @guarded
    def has_case(self, case_id: str) -> bool:
        """Whether a case is stored."""
        return self._connection.execute("SELECT 1 FROM cases WHERE case_id = ?", (case_id,)).fetchone() is not None

    @guarded
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

    def image(self, image_id: str) -> ImageRef:
        """An image by its id."""
        found = self.find_image(image_id)
        if found is None:
            raise StoreError(f"no image {image_id!r} in {str(self.path)!r}; `salva verify` lists what is missing")
        return ImageRef(image_id=found.image_id, width=found.width, height=found.height)

    def image_path(self, image_id: str) -> Path:
        """The file of an image."""
        return self.blobs.path_of(image_id)

    @guarded
    def find_image(self, image_id: str) -> StoredImage | None:
        """An image's row, if there is one."""
        row = self._connection.execute("SELECT * FROM images WHERE image_id = ?", (image_id,)).fetchone()
        return None if row is None else image_from_row(row)

    @guarded
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

    @guarded
    def find_render(self, key: str) -> StoredRender | None:
        """What became of a render, if it was tried."""
        row = self._connection.execute("SELECT * FROM renders WHERE render_key = ?", (key,)).fetchone()
        return None if row is None else self._render(row)

    @guarded
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

    @guarded
    def find_look(self, key: str) -> StoredLook | None:
        """What became of a look, if it was tried."""
        row = self._connection.execute("SELECT * FROM looks WHERE look_key = ?", (key,)).fetchone()
        return None if row is None else self._look(row)

    @guarded
    def look_outcome(self, key: str) -> tuple[Status, Observation | None, str] | None:
        """How a look ended, what was seen and its error, if it was tried; quicker than the whole record."""
        query = "SELECT status, observation, error FROM looks WHERE look_key = ?"
        row = self._connection.execute(query, (key,)).fetchone()
        if row is None:
            return None
        status, seen, error = row
        observation = None if seen is None else self._parsed(observation_from_json, seen, "looks", key)
        return self._status(status, "looks", key), observation, error

    @guarded
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
