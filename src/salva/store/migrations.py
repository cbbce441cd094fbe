"""The schema of salva.db, as the steps that lead to it.

Append only: a step that has been released is never edited, because stores made by it exist.
The number of steps applied is the store's schema version.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping

from salva.store.old_shapes import observers_as_lists_and_findings_as_records, thresholds_as_floors

APPLICATION_ID = 0x53414C56
"""Marks an SQLite file as ours ("SALV")."""

MIGRATIONS: tuple[str, ...] = (
    """
    CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE components (
        component_id TEXT PRIMARY KEY, role TEXT NOT NULL, label TEXT NOT NULL,
        is_formula_seen INTEGER NOT NULL, identity TEXT NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE cases (ordinal INTEGER PRIMARY KEY, case_id TEXT NOT NULL UNIQUE, record TEXT NOT NULL);
    CREATE TABLE images (
        image_id TEXT PRIMARY KEY, width INTEGER NOT NULL, height INTEGER NOT NULL,
        digest TEXT NOT NULL, n_bytes INTEGER NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE renders (
        render_key TEXT PRIMARY KEY, component_id TEXT NOT NULL, text TEXT NOT NULL, formula TEXT,
        seed INTEGER NOT NULL, repeat INTEGER NOT NULL, status TEXT NOT NULL, image_id TEXT,
        provenance TEXT NOT NULL, error TEXT NOT NULL, attempts INTEGER NOT NULL
    );
    CREATE INDEX renders_by_image ON renders (image_id);
    CREATE TABLE looks (
        look_key TEXT PRIMARY KEY, component_id TEXT NOT NULL, image_id TEXT NOT NULL, query TEXT NOT NULL,
        given TEXT NOT NULL, status TEXT NOT NULL, observation TEXT, error TEXT NOT NULL, attempts INTEGER NOT NULL
    );
    CREATE INDEX looks_by_image ON looks (image_id);
    CREATE TABLE verdicts (
        case_id TEXT NOT NULL, repeat INTEGER NOT NULL, arm TEXT NOT NULL, model TEXT NOT NULL,
        relation TEXT NOT NULL, observers TEXT NOT NULL, outcome TEXT NOT NULL, errors TEXT NOT NULL,
        failures TEXT NOT NULL, scores TEXT NOT NULL, images TEXT NOT NULL, reason TEXT NOT NULL,
        PRIMARY KEY (case_id, repeat, arm, model, relation, observers)
    ) WITHOUT ROWID;
    """,
    """
    ALTER TABLE components ADD COLUMN endpoint TEXT;
    ALTER TABLE cases ADD COLUMN digest TEXT;
    ALTER TABLE renders ADD COLUMN digest TEXT;
    ALTER TABLE looks ADD COLUMN digest TEXT;
    ALTER TABLE looks ADD COLUMN box_floor REAL;
    ALTER TABLE verdicts ADD COLUMN digest TEXT;
    INSERT OR REPLACE INTO meta (key, value) VALUES ('schema', '2');
    """,
    """
    ALTER TABLE renders ADD COLUMN passes_over INTEGER;
    INSERT OR REPLACE INTO meta (key, value) VALUES ('schema', '3');
    """,
)

_CONVERSIONS: Mapping[int, tuple[Callable[[sqlite3.Connection], None], ...]] = {
    2: (observers_as_lists_and_findings_as_records, thresholds_as_floors)
}
"""By schema version, what its step does to rows that are there already."""

COLUMNS: Mapping[str, tuple[str, ...]] = {
    "meta": ("key", "value"),
    "components": ("component_id", "role", "label", "is_formula_seen", "identity", "endpoint"),
    "cases": ("ordinal", "case_id", "record", "digest"),
    "images": ("image_id", "width", "height", "digest", "n_bytes"),
    "renders": (
        *("render_key", "component_id", "text", "formula", "seed", "repeat"),
        *("status", "image_id", "provenance", "error", "attempts", "digest", "passes_over"),
    ),
    "looks": (
        *("look_key", "component_id", "image_id", "query", "given"),
        *("status", "observation", "error", "attempts", "digest", "box_floor"),
    ),
    "verdicts": (
        *("case_id", "repeat", "arm", "model", "relation", "observers"),
        *("outcome", "errors", "failures", "scores", "images", "reason", "digest"),
    ),
}
"""What the newest schema looks like; a store that lacks any of it was edited."""


def schema_version(connection: sqlite3.Connection) -> int:
    """How many steps this store has seen."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def migrate(connection: sqlite3.Connection) -> None:
    """Bring a store to the newest schema, one transaction a step: killed in the middle, it is as before the step."""
    for version in range(schema_version(connection) + 1, len(MIGRATIONS) + 1):
        try:
            connection.executescript(f"BEGIN IMMEDIATE; {MIGRATIONS[version - 1]}")
            for convert in _CONVERSIONS.get(version, ()):
                convert(connection)
            connection.execute(f"PRAGMA user_version = {version}")
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
