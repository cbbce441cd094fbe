"""One format: the tables are those the code reads, and a file of another format is refused."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from salva.core.run_file import FORMAT
from salva.errors import StoreError
from salva.store.schema import COLUMNS, create_tables, foreign_objects, format_of
from salva.store.sqlite import open_run


def test_an_empty_file_gets_every_table_and_column_in_order() -> None:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    assert len(foreign_objects(connection)) >= len(COLUMNS)
    create_tables(connection)
    assert format_of(connection) == FORMAT
    assert foreign_objects(connection) == []
    for table, columns in COLUMNS.items():
        assert tuple(row[1] for row in connection.execute(f"PRAGMA table_info({table})")) == columns
    create_tables(connection)
    connection.close()


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE VIEW v AS SELECT 1",
        "CREATE TRIGGER t AFTER INSERT ON meta BEGIN DELETE FROM cases; END",
        "CREATE TABLE more (a)",
        "CREATE VIRTUAL TABLE words USING fts5(a)",
        "CREATE INDEX i ON cases (length(record))",
        "ALTER TABLE meta ADD COLUMN more TEXT AS (upper(value))",
        "DROP INDEX renders_by_image",
        "DROP TABLE meta; CREATE VIEW meta AS SELECT 'a' AS key, 'b' AS value",
        "ANALYZE",
    ],
)
@pytest.mark.parametrize("mode", ["read", "write"])
def test_a_store_that_defines_anything_else_is_refused(tmp_path: Path, mode: str, statement: str) -> None:
    open_run(tmp_path, "write").close()
    connection = sqlite3.connect(tmp_path / "salva.db")
    connection.executescript(statement)
    connection.close()
    with pytest.raises(StoreError) as caught:
        open_run(tmp_path, mode)  # type: ignore[arg-type]  # parametrised
    assert caught.value.code == "store-damaged"


@pytest.mark.parametrize("mode", ["read", "write"])
@pytest.mark.parametrize("version", [FORMAT - 1, FORMAT + 1, -1])
def test_a_store_of_another_format_is_refused_and_left_as_it_is(tmp_path: Path, mode: str, version: int) -> None:
    open_run(tmp_path, "write").close()
    with sqlite3.connect(tmp_path / "salva.db") as connection:
        connection.execute(f"PRAGMA user_version = {version}")
    connection.close()
    with pytest.raises(StoreError):
        open_run(tmp_path, mode)  # type: ignore[arg-type]  # parametrised
    connection = sqlite3.connect(tmp_path / "salva.db")
    assert format_of(connection) == version
    connection.close()
