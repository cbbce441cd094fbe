"""One format: the tables are those the code reads, and a file of another format is refused."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from salva.core.run_file import FORMAT
from salva.errors import StoreError
from salva.store.schema import COLUMNS, create_tables, format_of, missing_columns
from salva.store.sqlite import open_run


def test_an_empty_file_gets_every_table_and_column_in_order() -> None:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    assert missing_columns(connection) == [
        f"{table}.{column}" for table, columns in COLUMNS.items() for column in columns
    ]
    create_tables(connection)
    assert format_of(connection) == FORMAT
    assert missing_columns(connection) == []
    for table, columns in COLUMNS.items():
        assert tuple(row[1] for row in connection.execute(f"PRAGMA table_info({table})")) == columns
    create_tables(connection)
    connection.close()


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
