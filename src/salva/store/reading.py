"""Reads a run's rows: the reading half of salva.db.

Others may read while one process writes. A row that is not what salva wrote raises a StoreError
that names it. Knows nothing of models, formats or what a verdict means.
"""

from __future__ import annotations

import functools
import hashlib
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import is_dataclass
from pathlib import Path
from typing import ParamSpec, TypeVar, cast

from salva.core.case import Case
from salva.core.fingerprint import Json
from salva.core.image import ImageRef
from salva.core.observation import Observation
from salva.core.protocols import Ticket
from salva.core.typed_record import checked
from salva.core.verdict import Observers, Verdict
from salva.errors import StoreError, UsageError
from salva.messages import message
from salva.store.blobs import Blobs
from salva.store.connection import UNREADABLE, translated, write_copy
from salva.store.images import IMAGES_AT, ImageStore, images_of, place_at
from salva.store.records import JUDGED_BY, WHOLE, Status, StoredComponent, StoredImage, StoredObservation, StoredRender
from salva.store.rows import (
    DIGESTED,
    KEYS,
    Value,
    case_from_row,
    component_from_row,
    digest_of_row,
    image_from_row,
    is_fit,
    observation_from_row,
    observation_of,
    observers_to_text,
    parsed_json,
    quoted,
    render_from_row,
    select,
    ticket_from_row,
    to_text,
    verdict_from_row,
)
from salva.store.schema import COLUMNS

DATABASE = "salva.db"

VERDICT_ORDER = (
    'ORDER BY case_id, repeat, arm, model, "check", '
    "replace(substr(observers, 3, length(observers) - 4), '\",\"', '+')"
)
"""The order verdicts are read in: of two groups of observers with as many verdicts, the first in it leads."""

_RENDER_OUTCOME = (
    f"SELECT {', '.join(f'renders.{column}' for column in COLUMNS['renders'])}, width, height FROM renders "
    "LEFT JOIN images USING (image_id) WHERE render_key = ?"
)

_P = ParamSpec("_P")
_R = TypeVar("_R")


def guarded(method: Callable[_P, _R]) -> Callable[_P, _R]:
    """SQLite's exceptions leave as ours."""

    @functools.wraps(method)
    def call(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        try:
            return method(*args, **kwargs)
        except UNREADABLE as error:
            raise translated(cast(RunReader, args[0]).path, error) from error

    return call


class RunReader:
    """The rows and image files of one run, to be read."""

    def __init__(self, directory: Path, connection: sqlite3.Connection) -> None:
        self.directory = directory
        self.path = directory / DATABASE
        self._connection = connection
        self._labels: dict[str, str] = {}

    @functools.cached_property
    def blobs(self) -> ImageStore:
        """The image files, wherever they are."""
        return images_of(self.directory, self.images_at())

    def images_at(self) -> str:
        """The address of the image files; empty where they are in the run's directory."""
        return str(self.meta().get(IMAGES_AT, ""))

    def check_images_at(self, address: str) -> None:
        """Refuse another place for the images than the one they are in."""
        known = self.images_at()
        if address and address != known and (known or self.n_images()):
            place = f"at {known}" if known else "in its directory"
            raise UsageError(message("images-elsewhere", path=str(self.directory), place=place, address=address))

    def meta(self) -> dict[str, Json]:
        """The run's own notes: versions, stamps."""
        rows = self.rows(select("meta"))
        return {row["key"]: self.parsed("meta", row, _note) for row in rows}

    def note(self, key: str) -> dict[str, Json]:
        """One of them that is a table; empty where there is none."""
        found = self.meta().get(key)
        return found if isinstance(found, dict) else {}

    def is_whole(self) -> bool:
        """Whether the run has all verdicts that it can have, and they are those that it had when that was noted."""
        noted = self.meta().get(WHOLE)
        return noted is not None and noted == self.judged_digest()

    def judged_digest(self) -> str:
        """The digest of all cases and verdicts as their rows are now, and of the notes that results rest on."""
        notes = self.meta()
        digest = hashlib.blake2b(to_text({name: notes.get(name) for name in JUDGED_BY}).encode(), digest_size=16)
        for table in ("cases", "verdicts"):
            for row in self.rows(select(table, f"ORDER BY {quoted(KEYS[table])}")):
                digest.update(digest_of_row(table, dict(row)).encode())
        return digest.hexdigest()

    def components(self) -> list[StoredComponent]:
        """Every component whose work is stored."""
        rows = self.rows(select("components", "ORDER BY component_id"))
        return [self.parsed("components", row, _component) for row in rows]

    def label_of(self, component_id: str) -> str:
        """How whoever did some of the work is called."""
        if label := self._label(component_id):
            return label
        why = f"it holds work of the component {component_id!r}, which it does not name"
        raise StoreError(message("store-damaged", path=str(self.path), why=why))

    def n_cases(self) -> int:
        """How many cases are stored."""
        return self._count("cases")

    def cases(self) -> Iterator[Case]:
        """The cases of the run, in the suite's order."""
        return (case for _, case in self.cases_with_ids())

    def cases_with_ids(self) -> Iterator[tuple[str, Case]]:
        """The cases with the id of their row."""
        after = -1
        # In pieces, so that no reading cursor stays open while the run that asks goes on writing.
        while rows := list(self.rows(select("cases", "WHERE ordinal > ? ORDER BY ordinal LIMIT 256"), (after,))):
            for row in rows:
                yield str(row["case_id"]), self.parsed("cases", row, case_from_row)
                after = row["ordinal"]

    def primaries(self) -> dict[str, str]:
        """Case to its primary check; empty for one that no check can judge."""
        return {row["case_id"]: row["primary_check"] for row in self.rows("SELECT case_id, primary_check FROM cases")}

    def has_case(self, case_id: str) -> bool:
        """Whether a case is stored."""
        return self._row("SELECT 1 FROM cases WHERE case_id = ?", case_id) is not None

    def case(self, case_id: str) -> Case:
        """One case by its id."""
        row = self._row(select("cases", "WHERE case_id = ?"), case_id)
        if row is None:
            raise UsageError(message("case-missing", case=case_id, path=str(self.directory)))
        return self.parsed("cases", row, case_from_row)

    def verdicts(self, check: str | None = None, observers: Observers | None = None) -> Iterator[Verdict]:
        """The verdicts, by case and repeat: all, or those of one check or by certain observers.

        An edited one is none: the same command makes it again.
        """
        by_whom = None if observers is None else observers_to_text(observers)
        where = f'WHERE (? IS NULL OR "check" = ?) AND (? IS NULL OR observers = ?) {VERDICT_ORDER}'
        for row in self.rows(select("verdicts", where), (check, check, by_whom, by_whom)):
            if is_fit("verdicts", row):
                yield self.parsed("verdicts", row, verdict_from_row)

    def verdicts_of(self, case_id: str) -> Iterator[Verdict]:
        """All verdicts on a case, edited ones too."""
        for row in self.rows(select("verdicts", "WHERE case_id = ?"), (case_id,)):
            yield self.parsed("verdicts", row, verdict_from_row)

    def image(self, image_id: str) -> ImageRef:
        """An image by its id."""
        image = self.find_image(image_id)
        if image is None:
            raise StoreError(message("store-damaged", path=str(self.path), why=f"it has no image {image_id!r}"))
        return ImageRef(image_id=image.image_id, width=image.width, height=image.height)

    def image_place(self, image_id: str) -> str:
        """Where the file of an image is, without looking there."""
        address = self.images_at()
        return place_at(address, image_id) if address else self.blobs.place_of(image_id)

    def image_path(self, image_id: str) -> Path:
        """The file of an image; UsageError where it is no file of this machine."""
        if not isinstance(self.blobs, Blobs):
            raise UsageError(message("image-remote", place=self.image_place(image_id)))
        return self.blobs.path_of(image_id)

    def find_image(self, image_id: str) -> StoredImage | None:
        """An image's row, if there is one."""
        row = self._row(select("images", "WHERE image_id = ?"), image_id)
        return None if row is None else self.parsed("images", row, image_from_row)

    def n_images(self) -> int:
        """How many images are stored."""
        return self._count("images")

    def image_sizes(self) -> Iterator[tuple[str, int]]:
        """The ids of all images and how many bytes were written, and no more of their rows."""
        return ((row["image_id"], row["n_bytes"]) for row in self.rows("SELECT image_id, n_bytes FROM images"))

    def images(self) -> Iterator[StoredImage]:
        """Every image row."""
        return (self.parsed("images", row, image_from_row) for row in self.rows(select("images")))

    def renders(self) -> Iterator[tuple[str, StoredRender]]:
        """Every render row with its key."""
        for row in self.rows(select("renders")):
            yield row["render_key"], self.parsed("renders", row, render_from_row)

    def renders_of(self, image_id: str) -> list[StoredRender]:
        """The renders that gave this image, with their provenance."""
        rows = self.rows(select("renders", "WHERE image_id = ?"), (image_id,))
        return [self.parsed("renders", row, render_from_row) for row in rows]

    def render_outcome(self, key: str) -> tuple[Status, ImageRef | None, str] | None:
        """How a render ended, its image and its error, if it was tried; None for an edited row, too."""
        row = self._row(_RENDER_OUTCOME, key)
        if row is None or not is_fit("renders", row):
            return None
        is_there = row["width"] is not None
        image = ImageRef(image_id=row["image_id"], width=row["width"], height=row["height"]) if is_there else None
        return self.parsed("renders", row, lambda _: Status(row["status"])), image, row["error"]

    def ticket(self, key: str) -> Ticket | None:
        """What fetches the image of a render that was paid for and is not stored."""
        row = self._row(select("tickets", "WHERE render_key = ?"), key)
        return None if row is None else self.parsed("tickets", row, ticket_from_row)

    def observations(self) -> Iterator[tuple[str, StoredObservation]]:
        """Every observation row with its key."""
        for row in self.rows(select("observations")):
            yield row["observation_key"], self._look(row)

    def observations_of(self, image_id: str, observers: Observers | None = None) -> list[StoredObservation]:
        """What these observers saw of an image, or all of them: observations that were answered, by component label."""
        labels = "SELECT component_id FROM components WHERE label IN (SELECT value FROM json_each(?))"
        where = f"WHERE image_id = ? AND status = 'done' AND (? IS NULL OR component_id IN ({labels}))"
        names = None if observers is None else to_text(observers)
        rows = self.rows(select("observations", where), (image_id, names, names))
        return sorted(map(self._look, rows), key=lambda look: (look.query.role, look.label, look.key()))

    def observation_outcome(self, key: str) -> tuple[Status, Observation | None, str] | None:
        """How an observation ended, what was seen and its error, if it was tried; None for an edited row, too."""
        row = self._row(select("observations", "WHERE observation_key = ?"), key)
        if row is None or not is_fit("observations", row):
            return None
        return self.parsed("observations", row, _observation_outcome)

    def failed_work(self) -> dict[str, int]:
        """How often failed work was tried: by the key of a render, and of observations by the id of their image."""
        rows = self.rows(
            "SELECT render_key, attempts FROM renders WHERE status IN ('failed', 'unknown') "
            "UNION ALL SELECT image_id, max(attempts) FROM observations "
            "WHERE status IN ('failed', 'unknown') GROUP BY image_id"
        )
        return {str(key): int(n_attempts) for key, n_attempts in rows}

    def n_unreadable(self) -> int:
        """How many replies were stored that nobody could read."""
        unreadable = "status = 'done' AND json_extract(observation, '$.problem') <> ''"
        return int(next(self.rows(f"SELECT count(*) FROM observations WHERE {unreadable}"))[0])

    def highest_floor(self, component_id: str) -> float | None:
        """The highest score below which a detector dropped boxes; None where it is not known."""
        floors = "max(json_extract(observation, '$.floor'))"
        row = self._row(f"SELECT {floors} FROM observations WHERE component_id = ?", component_id)
        return None if row is None else row[0]

    @contextmanager
    def read_transaction(self) -> Iterator[None]:
        """All that is read meanwhile is of one moment, whoever writes."""
        for _ in self.rows("BEGIN"):
            pass
        try:
            yield
        finally:
            # Nothing was written; of a damaged file even the end can fail, and what was read of it said so already.
            with suppress(sqlite3.Error):
                self._connection.rollback()

    def write_snapshot(self, path: Path) -> None:
        """The database of one moment as a file of its own, whoever writes; the same rows give the same bytes."""
        write_copy(self._connection, self.path, path)

    def edited_rows(self) -> Iterator[tuple[str, str]]:
        """Table and key of every row whose content does not have its digest."""
        for table in DIGESTED:
            for row in self.rows(select(table)):
                if not is_fit(table, row):
                    yield table, key_of(table, row)

    def rows(self, query: str, values: Sequence[Value] = ()) -> Iterator[sqlite3.Row]:
        """The rows of a query."""
        try:
            cursor = self._connection.execute(query, values)
            while rows := cursor.fetchmany(512):
                yield from rows
        except UNREADABLE as error:
            raise translated(self.path, error) from error

    def parsed(self, table: str, row: sqlite3.Row, make: Callable[[sqlite3.Row], _R]) -> _R:
        """What a row stands for; one that salva did not write is named."""
        try:
            made = make(row)
            return checked(made) if is_dataclass(made) else made
        except (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError, OverflowError) as error:
            why = f"{type(error).__name__}: {error}"
            values = {"path": str(self.path), "table": table, "row": key_of(table, row)}
            raise StoreError(message("row-invalid", **values, why=why)) from error

    def row_like(self, table: str, row: sqlite3.Row) -> sqlite3.Row | None:
        """The row here that has the key of a row of another run."""
        keys = KEYS[table]
        where = " AND ".join(f'"{key}" = ?' for key in keys)
        return next(self.rows(select(table, f"WHERE {where}"), [row[key] for key in keys]), None)

    @guarded
    def _row(self, query: str, key: str) -> sqlite3.Row | None:
        row: sqlite3.Row | None = self._connection.execute(query, (key,)).fetchone()
        return row

    def _count(self, table: str) -> int:
        return sum(n for (n,) in self.rows(f"SELECT count(*) FROM {table}"))

    def _look(self, row: sqlite3.Row) -> StoredObservation:
        return self.parsed("observations", row, lambda row: observation_from_row(row, self._label(row["component_id"])))

    def _label(self, component_id: str) -> str:
        if not self._labels:
            self._labels = {c.component_id: c.label for c in self.components()}
        return self._labels.get(component_id, "")


def _observation_outcome(row: sqlite3.Row) -> tuple[Status, Observation | None, str]:
    seen = row["observation"]
    return Status(row["status"]), None if seen is None else checked(observation_of(seen)), row["error"]


def _note(row: sqlite3.Row) -> Json:
    _refuse_edited("meta", row)
    return parsed_json(row["value"])


def _component(row: sqlite3.Row) -> StoredComponent:
    _refuse_edited("components", row)
    return component_from_row(row)


def _refuse_edited(table: str, row: sqlite3.Row) -> None:
    """Notes and components cannot be made again from anything else."""
    if not is_fit(table, row):
        raise ValueError("it was edited: its digest differs")


def key_of(table: str, row: sqlite3.Row) -> str:
    """What tells a row of a table from the others, as messages say it."""
    read = row.keys()
    return "/".join(str(row[column]) for column in KEYS[table] if column in read)
