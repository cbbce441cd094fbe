"""The steps lead to the schema the code reads, and are never rewritten."""

from __future__ import annotations

import hashlib
import sqlite3

from salva.store.migrations import COLUMNS, MIGRATIONS, migrate, missing_columns, schema_version

RELEASED = ("c01dd8c7",)
"""Begin of the hash of each step in the order they were released; add to it, never change it."""


def test_an_empty_file_becomes_the_newest_schema() -> None:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    assert missing_columns(connection) == [
        f"{table}.{column}" for table, columns in COLUMNS.items() for column in columns
    ]
    migrate(connection)
    assert schema_version(connection) == len(MIGRATIONS)
    assert missing_columns(connection) == []
    migrate(connection)
    connection.close()


def test_the_columns_are_read_in_the_order_they_were_made() -> None:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    migrate(connection)
    for table, columns in COLUMNS.items():
        assert tuple(row[1] for row in connection.execute(f"PRAGMA table_info({table})")) == columns
    connection.close()


def test_released_steps_are_never_edited() -> None:
    hashes = tuple(hashlib.sha256(" ".join(step.split()).encode()).hexdigest()[:8] for step in MIGRATIONS)
    assert hashes[: len(RELEASED)] == RELEASED
