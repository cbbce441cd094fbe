"""People's labels beside a run: review.db, to which rows are only appended.

The file is data: it is read only where its one table is word for word the one made here, so nothing in it is evaluated,
and where every label has its digest.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from salva.core.fingerprint import fingerprint
from salva.core.review import Label, Review
from salva.errors import StoreError
from salva.messages import message
from salva.store.connection import UNREADABLE, connect_for_reading, translated

REVIEWS = "review.db"
_TABLE = (
    "CREATE TABLE labels (case_id TEXT NOT NULL, repeat INTEGER NOT NULL, model TEXT NOT NULL, reviewer TEXT NOT NULL, "
    "label TEXT NOT NULL, sample TEXT NOT NULL, written_at TEXT NOT NULL, digest TEXT NOT NULL)"
)
_SELECT = (
    "SELECT case_id, repeat, model, reviewer, label, sample, written_at, digest FROM labels "
    "ORDER BY rowid LIMIT 1000000"
)
_INSERT = "INSERT INTO labels VALUES (?, ?, ?, ?, ?, ?, ?, ?)"


def read_reviews(directory: Path) -> tuple[Review, ...]:
    """The labels of a run, the oldest first; none where nobody reviewed it."""
    return tuple(_review(row) for row in _rows(directory))


def review_digests(directory: Path) -> tuple[str, ...]:
    """The digest of each label with all before it, the oldest first."""
    return tuple(row["digest"] for row in _rows(directory))


def append_reviews(directory: Path, reviews: Iterable[Review]) -> int:
    """Append the labels that the run does not have yet; says how many there were."""
    path = directory / REVIEWS
    _refuse_no_file(path)
    try:
        with closing(sqlite3.connect(path, isolation_level=None, timeout=10)) as connection:
            connection.row_factory = sqlite3.Row
            connection.execute("PRAGMA trusted_schema=OFF")
            connection.execute("PRAGMA synchronous=FULL")
            connection.execute("BEGIN IMMEDIATE")
            if not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                connection.execute(_TABLE)
            rows = _checked_rows(connection, path)
            known = {_unit(one): one for one in map(_review, rows)}
            new = [one for one in reviews if known.get(_unit(one)) != one]
            now = datetime.now(UTC).isoformat(timespec="seconds")
            digest = rows[-1]["digest"] if rows else ""
            for one in new:
                digest = _digest(digest, (*_values(one), now))
                connection.execute(_INSERT, [*_values(one), now, digest])
            connection.execute("COMMIT")
            return len(new)
    except (*UNREADABLE, TypeError, ValueError) as error:
        raise translated(path, error) from error


def _rows(directory: Path) -> list[sqlite3.Row]:
    path = directory / REVIEWS
    _refuse_no_file(path)
    if not path.exists():
        return []
    with closing(connect_for_reading(path)) as connection:
        try:
            return _checked_rows(connection, path)
        except (*UNREADABLE, TypeError, ValueError) as error:
            raise translated(path, error) from error


def _refuse_no_file(path: Path) -> None:
    """Refuse a pipe, which nobody may ever write to, and a device, which reads as a database without labels."""
    if path.exists() and not path.is_file():
        raise StoreError(message("store-damaged", path=str(path), why="it is no file"))


def _checked_rows(connection: sqlite3.Connection, path: Path) -> list[sqlite3.Row]:
    """All rows; refuses any other content, since views, triggers and computed columns would be evaluated."""
    tables = [row[0] for row in connection.execute("SELECT sql FROM sqlite_master")]
    if not tables:
        return []
    if tables != [_TABLE]:
        raise StoreError(message("store-damaged", path=str(path), why="it is an SQLite file but not one of salva's"))
    rows, digest = connection.execute(_SELECT).fetchall(), ""
    for row in rows:
        digest = _digest(digest, tuple(row)[:-1])
        if row["digest"] != digest:
            why = f"the label of {row['reviewer']} on {row['case_id']}, or one before it, was edited"
            raise StoreError(message("store-damaged", path=str(path), why=why))
    return rows


def _digest(before: str, values: Iterable[object]) -> str:
    """Of a label and all before it: none can be changed, moved or taken out of the middle without being seen."""
    return fingerprint([before, *map(str, values)])


def _values(review: Review) -> tuple[str | int, ...]:
    return review.case_id, review.repeat, review.model, review.reviewer, str(review.label), review.sample


def _review(row: sqlite3.Row) -> Review:
    case_id, repeat, model, reviewer, label, sample, *_ = row
    if not all(isinstance(text, str) for text in (case_id, model, reviewer, label, sample)):
        raise TypeError("a label holds what is no text")
    return Review(
        case_id=case_id, repeat=int(repeat), model=model, reviewer=reviewer, label=Label(label), sample=sample
    )


def _unit(review: Review) -> tuple[str, int, str, str]:
    return review.case_id, review.repeat, review.model, review.reviewer
