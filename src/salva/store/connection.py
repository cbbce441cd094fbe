"""Opening salva.db: is it ours, is it whole, can this version read it.

Every exception of SQLite leaves as a StoreError that says what to do.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

from salva.core.run_file import FORMAT
from salva.errors import StoreError
from salva.messages import message
from salva.store.guarded_connection import GuardedConnection, SlowStatementError
from salva.store.schema import APPLICATION_ID, create_tables, foreign_objects, format_of

_READ_ONLY = "make the directory writable, or name another --out"
_DAMAGED = "restore it from a copy, or name another --out"
_HELD = "close the program that holds it and try again"
_ADVICE = {
    "SQLITE_FULL": "free some space and run the same command again",
    "SQLITE_READONLY": _READ_ONLY,
    "SQLITE_CANTOPEN": _READ_ONLY,
    "SQLITE_NOTADB": _DAMAGED,
    "SQLITE_CORRUPT": _DAMAGED,
    "SQLITE_BUSY": _HELD,
    "SQLITE_LOCKED": _HELD,
    # A table or a column that was there when the store was opened.
    "SQLITE_ERROR": _DAMAGED,
}
"""What to do, by the name of SQLite's result code; a longer name says more of the same."""
UNREADABLE = (sqlite3.Error, UnicodeDecodeError)
"""What reading a damaged file raises: SQLite's own messages may be no text any more."""
_UNCONVERTIBLE = (*UNREADABLE, ValueError, LookupError, TypeError, AttributeError, RecursionError, OverflowError)
"""What rows raise that are not of the schema they are said to be of."""


def connect_for_writing(path: Path) -> sqlite3.Connection:
    """A connection that can write, with the tables made; the caller holds the run lock."""
    try:
        connection = sqlite3.connect(
            path, isolation_level=None, timeout=10, cached_statements=64, factory=GuardedConnection
        )
    except sqlite3.Error as error:
        raise translated(path, error) from error
    try:
        connection.row_factory = sqlite3.Row
        if check_format(connection, path, may_be_empty=True):
            check_schema(connection, path)
        # What is interrupted in a transaction takes all of it along, and with it what was answered and paid for.
        connection.set_progress_handler(None, 0)
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("PRAGMA wal_autocheckpoint=4000")
        # A URL that is not needed any more is often a secret, and is overwritten where it stood.
        connection.execute("PRAGMA secure_delete=ON")
        create_tables(connection)
    except _UNCONVERTIBLE as error:
        connection.close()
        raise translated(path, error) from error
    except StoreError:
        connection.close()
        raise
    return connection


def connect_for_reading(path: Path) -> sqlite3.Connection:
    """A connection that cannot write."""
    uri = path.absolute().as_uri()
    # A WAL store on a read-only disk cannot be shared, but with no log beside it nothing is missing from the file.
    log = path.with_name(f"{path.name}-wal")
    has_log = log.exists() and log.stat().st_size > 0
    error: Exception | None = None
    for flags in ("mode=ro",) if has_log else ("mode=ro", "mode=ro&immutable=1"):
        try:
            return _readable(f"{uri}?{flags}")
        except UNREADABLE as problem:
            error = error or problem
    assert error is not None
    raise translated(path, error) from error


def _readable(uri: str) -> sqlite3.Connection:
    connection = sqlite3.connect(uri, uri=True, isolation_level=None, timeout=10, factory=GuardedConnection)
    try:
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except UNREADABLE:
        connection.close()
        raise
    connection.row_factory = sqlite3.Row
    return connection


def check_format(connection: sqlite3.Connection, path: Path, *, may_be_empty: bool = False) -> bool:
    """Refuse a file that is not ours or of another format; False for an empty one that a store may be made of."""
    try:
        is_empty = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0
        owner = connection.execute("PRAGMA application_id").fetchone()[0]
        version = format_of(connection)
    except _UNCONVERTIBLE as error:
        raise translated(path, error) from error
    if is_empty and may_be_empty:
        return False
    if is_empty:
        raise StoreError(message("store-damaged", path=str(path), why="it is empty"))
    if owner != APPLICATION_ID:
        raise StoreError(message("store-damaged", path=str(path), why="it is an SQLite file but not one of salva's"))
    if version != FORMAT:
        raise StoreError(message("run-format", path=str(path), found=version, known=FORMAT))
    return True


def check_schema(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse a store that defines anything but our tables and indexes, or lacks one."""
    try:
        foreign = foreign_objects(connection)
    except _UNCONVERTIBLE as error:
        raise translated(path, error) from error
    if foreign:
        raise StoreError(message("store-damaged", path=str(path), why=f"it {', '.join(foreign[:3])}"))


def write_copy(connection: sqlite3.Connection, source: Path, out: Path) -> None:
    """A database as it is at one moment as a file of its own; source: where it is, to be named if it cannot be read.

    Without tickets: the URLs of images that are not fetched yet are often secrets, and the copy may go anywhere.
    """
    try:
        connection.execute("VACUUM INTO ?", (str(out),))
        _drop_tickets(out)
    except sqlite3.Error as error:
        is_full = getattr(error, "sqlite_errorname", "") == "SQLITE_FULL"
        raise translated(out if is_full else source, error) from error


def _drop_tickets(path: Path) -> None:
    copy = sqlite3.connect(path, isolation_level=None)
    try:
        is_run = copy.execute("SELECT 1 FROM sqlite_master WHERE name = 'tickets'").fetchone()
        if is_run and copy.execute("SELECT 1 FROM tickets LIMIT 1").fetchone():
            copy.execute("DELETE FROM tickets")
            copy.execute("VACUUM")
    finally:
        copy.close()


def translated(path: Path, error: Exception) -> StoreError:
    """The error of our tree for one of SQLite's, or for what is no row of ours."""
    if isinstance(error, SlowStatementError):
        return StoreError(message("store-slow", path=str(path), seconds=f"{error.seconds:g}"))
    name = getattr(error, "sqlite_errorname", "")
    otherwise = "check the disk and run the same command again" if isinstance(error, sqlite3.Error) else _DAMAGED
    advice = _ADVICE.get("_".join(name.split("_")[:2]), otherwise)
    return StoreError(message("disk-error", path=str(path), why=error, advice=advice))
