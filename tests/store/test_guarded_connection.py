"""Statements over a stranger's database end in time, and Ctrl-C is heard meanwhile."""

from __future__ import annotations

import os
import signal
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from salva.store.connection import connect_for_reading, connect_for_writing
from salva.store.guarded_connection import GuardedConnection, SlowStatementError

ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"


@pytest.fixture
def reading(tmp_path: Path) -> Iterator[GuardedConnection]:
    connect_for_writing(tmp_path / "salva.db").close()
    connection = connect_for_reading(tmp_path / "salva.db")
    assert isinstance(connection, GuardedConnection)
    with closing(connection):
        yield connection


@pytest.mark.parametrize("is_fetched", [True, False])
def test_a_statement_without_end_ends(reading: GuardedConnection, is_fetched: bool) -> None:
    reading.limit_s = 0.05
    with pytest.raises(SlowStatementError):
        # A count is made before the first row is fetched; rows are made one by one.
        reading.execute(ENDLESS if not is_fetched else f"SELECT * FROM ({ENDLESS}) LIMIT 5").fetchall()
    assert reading.execute("SELECT 1").fetchone()[0] == 1


def test_ctrl_c_is_heard_while_sqlite_works(reading: GuardedConnection) -> None:
    timer = threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        reading.execute(ENDLESS).fetchall()
    timer.join()


def test_nothing_in_the_schema_is_trusted_and_lengths_are_limited(reading: GuardedConnection) -> None:
    assert reading.execute("PRAGMA trusted_schema").fetchone()[0] == 0
    with pytest.raises(sqlite3.DataError):
        reading.execute("SELECT zeroblob(?)", (2**28,)).fetchone()


def test_what_is_written_is_never_interrupted(tmp_path: Path) -> None:
    """SQLite would roll back the whole group of rows."""
    with closing(connect_for_writing(tmp_path / "salva.db")) as connection:
        assert isinstance(connection, GuardedConnection)
        connection.limit_s = 0.0
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(ENDLESS.replace("FROM n)", "FROM n WHERE i < 200000)")).fetchall()
        connection.execute("INSERT INTO meta VALUES ('a', '1', '')")
        connection.execute("COMMIT")
        assert connection.execute("SELECT count(*) FROM meta").fetchone()[0] == 1
