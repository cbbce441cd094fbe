"""The tables of salva.db, and whether a file has them.

There is one format. A file of another one is refused by whoever opens it; nothing is converted. A file may be a
stranger's: what it defines must be what is defined here, word for word.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import fields
from functools import cache

from salva.core.run_file import FORMAT
from salva.core.verdict import Verdict

APPLICATION_ID = 0x53414C56
"""Marks an SQLite file as ours ("SALV")."""

VERDICT_KEY = ("case_id", "repeat", "arm", "model", "check", "observers")
_TYPES = {"int": "INTEGER", "bool": "INTEGER", "float": "REAL"}
_TEXT, _NUMBER, _KEY = "TEXT NOT NULL", "INTEGER NOT NULL", "TEXT PRIMARY KEY"

_TABLES: Mapping[str, Mapping[str, str]] = {
    "meta": {"key": _KEY, "value": _TEXT, "digest": _TEXT},
    "components": {
        "component_id": _KEY,
        "role": _TEXT,
        "label": _TEXT,
        "is_formula_seen": _NUMBER,
        "identity": _TEXT,
        "digest": _TEXT,
    },
    "cases": {
        "ordinal": "INTEGER PRIMARY KEY",
        "case_id": f"{_TEXT} UNIQUE",
        "record": _TEXT,
        "primary_check": _TEXT,
        "digest": _TEXT,
    },
    "images": {"image_id": _KEY, "width": _NUMBER, "height": _NUMBER, "digest": _TEXT, "n_bytes": _NUMBER},
    "renders": {
        "render_key": _KEY,
        "component_id": _TEXT,
        "text": _TEXT,
        "formula": "TEXT",
        "seed": _NUMBER,
        "repeat": _NUMBER,
        "status": _TEXT,
        "image_id": "TEXT",
        "provenance": _TEXT,
        "error": _TEXT,
        "attempts": _NUMBER,
        "digest": _TEXT,
        "passes_over": _NUMBER,
    },
    "tickets": {
        "render_key": _KEY,
        "component_id": _TEXT,
        "place": _TEXT,
        "expires_at": "REAL",
        "provenance": _TEXT,
    },
    "observations": {
        "observation_key": _KEY,
        "component_id": _TEXT,
        "image_id": _TEXT,
        "query": _TEXT,
        "given": _TEXT,
        "status": _TEXT,
        "observation": "TEXT",
        "error": _TEXT,
        "attempts": _NUMBER,
        "digest": _TEXT,
    },
    # A column for every field, so that a new field needs no change here.
    "verdicts": {
        **{field.name: f"{_TYPES.get(str(field.type), 'TEXT')} NOT NULL" for field in fields(Verdict)},
        "digest": _TEXT,
    },
}
_WITH_ROWID = ("cases", "renders", "observations")
_INDEXED = ("renders", "observations")
"""Tables that are looked up by image."""
COLUMNS: Mapping[str, tuple[str, ...]] = {table: tuple(columns) for table, columns in _TABLES.items()}


def _statements() -> Iterator[str]:
    """The SQL that makes the tables and indexes."""
    for table, columns in _TABLES.items():
        parts = [f'"{name}" {kind}' for name, kind in columns.items()]
        if table == "verdicts":
            parts.append("PRIMARY KEY (" + ", ".join(f'"{name}"' for name in VERDICT_KEY) + ")")
        yield f"CREATE TABLE {table} ({', '.join(parts)}) {'' if table in _WITH_ROWID else 'WITHOUT ROWID'}"
    for table in _INDEXED:
        yield f"CREATE INDEX {table}_by_image ON {table} (image_id)"


def format_of(connection: sqlite3.Connection) -> int:
    """The format a file says it has; 0 for an empty one."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def create_tables(connection: sqlite3.Connection) -> None:
    """Make the tables in an empty file, in one transaction; a file that has them stays as it is."""
    if format_of(connection) == FORMAT:
        return
    try:
        connection.executescript("; ".join(("BEGIN IMMEDIATE", *_statements())))
        connection.execute(f"PRAGMA user_version = {FORMAT}")
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def foreign_objects(connection: sqlite3.Connection) -> list[str]:
    """How the content of sqlite_schema differs from ours, object by object: what is missing, added or made otherwise.

    Views, triggers, virtual tables, computed columns and indexes of expressions would be evaluated by whoever reads.
    """
    found = _objects(connection)
    return [
        f"lacks the {kind} {name}" if (kind, name) not in found else f"has a {kind} {name} of its own"
        for kind, name in sorted({*found, *_ours()})
        if found.get((kind, name)) != _ours().get((kind, name))
    ]


def _objects(connection: sqlite3.Connection) -> dict[tuple[str, str], tuple[str, str | None]]:
    rows = connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema")
    return {(str(kind)[:40], str(name)[:80]): (table, sql) for kind, name, table, sql in rows}


@cache
def _ours() -> dict[tuple[str, str], tuple[str, str | None]]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        create_tables(connection)
        return _objects(connection)
