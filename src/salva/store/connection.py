"""Opening salva.db: is it ours, is it whole, can this version read it.

Every exception of SQLite leaves as a StoreError that says what to do.
"""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

from salva.errors import StoreError
from salva.store.migrations import APPLICATION_ID, MIGRATIONS, migrate, missing_columns, schema_version


def connect_for_writing(path: Path) -> sqlite3.Connection:
    """A connection that can write, at the newest schema; the caller holds the run lock."""
    try:
        connection = sqlite3.connect(path, isolation_level=None, timeout=10, cached_statements=64)
    except sqlite3.Error as error:
        raise translated(path, error) from error
    try:
        checked_version(connection, path)
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("PRAGMA wal_autocheckpoint=4000")
        migrate(connection)
        check_columns(connection, path)
    except sqlite3.Error as error:
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
    error: sqlite3.Error | None = None
    for flags in ("mode=ro",) if has_log else ("mode=ro", "mode=ro&immutable=1"):
        connection = sqlite3.connect(f"{uri}?{flags}", uri=True, isolation_level=None, timeout=10)
        try:
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except sqlite3.Error as problem:
            connection.close()
            error = error or problem
        else:
            return connection
    assert error is not None
    raise translated(path, error) from error


def checked_version(connection: sqlite3.Connection, path: Path) -> int:
    """The schema version of a store that is ours and not from the future."""
    try:
        is_empty = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0
        owner = connection.execute("PRAGMA application_id").fetchone()[0]
        version = schema_version(connection)
        if not is_empty and owner != APPLICATION_ID:
            raise StoreError(
                f"{str(path)!r} is an SQLite file but not one of salva's; choose another directory with --out"
            )
        if version > len(MIGRATIONS):
            row = connection.execute("SELECT value FROM meta WHERE key = 'salva_version'").fetchone()
            maker = f"salva {json.loads(row[0])}" if row else "a newer salva"
            raise StoreError(
                f"{str(path)!r} has schema {version}, this salva knows schemas up to {len(MIGRATIONS)}; "
                f"it was written by {maker}: install that version or a newer one"
            )
    except sqlite3.Error as error:
        raise translated(path, error) from error
    return version


def check_columns(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse a store that lacks a table or a column."""
    missing = missing_columns(connection)
    if missing:
        raise StoreError(
            f"{str(path)!r} lacks {', '.join(missing)}: somebody edited it; restore it from a copy, "
            "or start anew with another --out"
        )


def translated(path: Path, error: sqlite3.Error) -> StoreError:
    """The error of our tree for one of SQLite's."""
    text = str(error)
    if "full" in text:
        advice = "the disk is full; free some space and run the same command again"
    elif "readonly" in text or "unable to open" in text:
        advice = "it cannot be written; make the directory writable or choose another one with --out"
    elif "not a database" in text or "malformed" in text:
        advice = "the file is damaged or not salva's; restore it from a copy, or start anew with another --out"
    elif "locked" in text:
        advice = "another program holds it; close that and try again"
    elif "no such" in text:
        advice = "somebody edited it; restore it from a copy, or start anew with another --out"
    else:
        advice = "check the disk and run the same command again; committed rows are kept"
    return StoreError(f"cannot use {str(path)!r} ({text}): {advice}")
