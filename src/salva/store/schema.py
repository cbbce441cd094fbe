"""The tables of salva.db, and whether a file has them.

There is one format. A file of another one is refused by whoever opens it; nothing is converted. A file may be a
stranger's: what it defines must be what is defined here, word for word.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from dataclasses import fields
from functools import cache

from salva.core.run_file import FORMAT
from salva.core.verdict import Verdict

APPLICATION_ID = 0x53414C56
"""Marks an SQLite file as ours ("SALV")."""

VERDICT_KEY = ("case_id", "repeat", "arm", "model", "check", "observers")
_VERDICTS = tuple(field.name for field in fields(Verdict))
"""A column for every field, so that a new field needs no change here."""
_TYPES = {"int": "INTEGER", "bool": "INTEGER", "float": "REAL"}

_TABLES = f"""
    CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL, digest TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE components (
        component_id TEXT PRIMARY KEY, role TEXT NOT NULL, label TEXT NOT NULL,
        is_formula_seen INTEGER NOT NULL, identity TEXT NOT NULL, digest TEXT NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE cases (
        ordinal INTEGER PRIMARY KEY, case_id TEXT NOT NULL UNIQUE, record TEXT NOT NULL,
        primary_check TEXT NOT NULL, digest TEXT NOT NULL
    );
    CREATE TABLE images (
        image_id TEXT PRIMARY KEY, width INTEGER NOT NULL, height INTEGER NOT NULL,
        digest TEXT NOT NULL, n_bytes INTEGER NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE renders (
        render_key TEXT PRIMARY KEY, component_id TEXT NOT NULL, text TEXT NOT NULL, formula TEXT,
        seed INTEGER NOT NULL, repeat INTEGER NOT NULL, status TEXT NOT NULL, image_id TEXT,
        provenance TEXT NOT NULL, error TEXT NOT NULL, attempts INTEGER NOT NULL, digest TEXT NOT NULL,
        passes_over INTEGER NOT NULL
    );
    CREATE INDEX renders_by_image ON renders (image_id);
    CREATE TABLE tickets (
        render_key TEXT PRIMARY KEY, component_id TEXT NOT NULL, place TEXT NOT NULL, expires_at REAL,
        provenance TEXT NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE observations (
        observation_key TEXT PRIMARY KEY, component_id TEXT NOT NULL, image_id TEXT NOT NULL, query TEXT NOT NULL,
        given TEXT NOT NULL, status TEXT NOT NULL, observation TEXT, error TEXT NOT NULL, attempts INTEGER NOT NULL,
        digest TEXT NOT NULL
    );
    CREATE INDEX observations_by_image ON observations (image_id);
    CREATE TABLE verdicts (
        {", ".join(f'"{field.name}" {_TYPES.get(str(field.type), "TEXT")} NOT NULL' for field in fields(Verdict))},
        digest TEXT NOT NULL, PRIMARY KEY ({", ".join(f'"{name}"' for name in VERDICT_KEY)})
    ) WITHOUT ROWID;
"""

COLUMNS: Mapping[str, tuple[str, ...]] = {
    "meta": ("key", "value", "digest"),
    "components": ("component_id", "role", "label", "is_formula_seen", "identity", "digest"),
    "cases": ("ordinal", "case_id", "record", "primary_check", "digest"),
    "images": ("image_id", "width", "height", "digest", "n_bytes"),
    "renders": (
        *("render_key", "component_id", "text", "formula", "seed", "repeat"),
        *("status", "image_id", "provenance", "error", "attempts", "digest", "passes_over"),
    ),
    "tickets": ("render_key", "component_id", "place", "expires_at", "provenance"),
    "observations": (
        *("observation_key", "component_id", "image_id", "query", "given"),
        *("status", "observation", "error", "attempts", "digest"),
    ),
    "verdicts": (*_VERDICTS, "digest"),
}
"""In the order of the tables."""


def format_of(connection: sqlite3.Connection) -> int:
    """The format a file says it has; 0 for an empty one."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def create_tables(connection: sqlite3.Connection) -> None:
    """Make the tables in an empty file, in one transaction; a file that has them stays as it is."""
    if format_of(connection) == FORMAT:
        return
    try:
        connection.executescript(f"BEGIN IMMEDIATE; {_TABLES}")
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
