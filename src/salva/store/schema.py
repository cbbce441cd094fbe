"""The tables of salva.db, and whether a file has them.

There is one format. A file of another one is refused by whoever opens it; nothing is converted.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import fields

from salva.core.run_file import FORMAT
from salva.core.verdict import Verdict

APPLICATION_ID = 0x53414C56
"""Marks an SQLite file as ours ("SALV")."""

VERDICT_KEY = ("case_id", "repeat", "arm", "model", "check", "observers")
_VERDICTS = tuple(field.name for field in fields(Verdict))
"""A column for every field, so that a new field needs no change here."""
_TYPES = {"int": "INTEGER", "bool": "INTEGER", "float": "REAL"}

_TABLES = f"""
    CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE components (
        component_id TEXT PRIMARY KEY, role TEXT NOT NULL, label TEXT NOT NULL,
        is_formula_seen INTEGER NOT NULL, identity TEXT NOT NULL
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
    "meta": ("key", "value"),
    "components": ("component_id", "role", "label", "is_formula_seen", "identity"),
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
"""A store that lacks any of these was edited."""


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


def missing_columns(connection: sqlite3.Connection) -> list[str]:
    """Tables and columns that should be there and are not, as table.column."""
    missing = []
    for table, columns in COLUMNS.items():
        present = {name for (name,) in connection.execute("SELECT name FROM pragma_table_info(?)", (table,))}
        missing += [f"{table}.{column}" for column in columns if column not in present]
    return missing
