"""The steps lead to the schema the code reads, and are never rewritten."""

from __future__ import annotations

import hashlib
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from store.old_store import SENTENCE, write_old_store

from salva.core.case import Finding
from salva.store.lock import RunLock
from salva.store.migrations import COLUMNS, MIGRATIONS, migrate, missing_columns, schema_version
from salva.store.sqlite import open_run

RELEASED = ("c01dd8c7", "b7166e28")
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


def version_of(directory: Path) -> int:
    connection = sqlite3.connect(directory / "salva.db")
    try:
        return schema_version(connection)
    finally:
        connection.close()


@pytest.mark.parametrize("mode", ["read", "write"])
def test_an_old_store_is_brought_up_to_date_when_it_is_opened(tmp_path: Path, mode: str) -> None:
    write_old_store(tmp_path, labels=(("detector", "pocket"), ("judge", "scene")))
    with open_run(tmp_path, mode) as store:  # type: ignore[arg-type]  # parametrised
        (case,) = store.cases()
        (verdict,) = store.verdicts()
        assert store.meta()["schema"] == len(MIGRATIONS)
        assert [is_right for _, _, is_right in store.digests()] == [None, None], "old rows have no digest"
    assert case.findings == (
        Finding(
            kind="",
            sentence=SENTENCE,
            subject=("cat", "dog"),
            general="without brackets it can also be read as !e1, which e1 and two e2s tells apart",
        ),
    )
    assert verdict.observers == ("pocket", "scene")
    assert version_of(tmp_path) == len(MIGRATIONS)


def test_joined_observers_are_split_by_the_labels_of_the_run(tmp_path: Path) -> None:
    labels = [("detector", "owl+x"), ("detector", "owl"), ("reader", "x"), ("reader", "z")]
    labels += [("judge", "c++"), ("judge", "j"), ("judge", "z+owl")]
    wanted = {
        "owl+x": ("owl+x",),
        "owl+x+j": ("owl+x", "j"),
        "owl+c++": ("owl", "c++"),
        "x+c++": ("x", "c++"),
        "owl+z+owl": ("owl", "z+owl"),
        "owl+renamed": ("owl", "renamed"),
        "": (),
    }
    write_old_store(tmp_path, wanted, labels)
    with open_run(tmp_path) as store:
        assert sorted(verdict.observers for verdict in store.verdicts()) == sorted(wanted.values())


def test_a_person_of_an_imported_run_stays_one(tmp_path: Path) -> None:
    write_old_store(tmp_path, ["ann + bob", "imported"])
    with open_run(tmp_path) as store:
        assert [verdict.observers for verdict in store.verdicts()] == [("ann + bob",), ("imported",)]


def test_an_old_store_that_cannot_be_written_is_read_as_a_copy(tmp_path: Path) -> None:
    write_old_store(tmp_path, labels=(("detector", "pocket"), ("judge", "scene")))
    lock = RunLock(tmp_path)
    try:
        with open_run(tmp_path) as store:
            assert [verdict.observers for verdict in store.verdicts()] == [("pocket", "scene")]
    finally:
        lock.release()
    assert version_of(tmp_path) == 1


def test_a_migration_that_is_killed_leaves_the_old_store(tmp_path: Path) -> None:
    write_old_store(tmp_path, labels=(("detector", "pocket"), ("judge", "scene")))
    killed = """
import os, sys
from pathlib import Path
from salva.store import migrations
from salva.store.sqlite import open_run
migrations._CONVERSIONS = {2: (*migrations._CONVERSIONS[2], lambda connection: os._exit(9))}
open_run(Path(sys.argv[1]), "write")
"""
    assert subprocess.run([sys.executable, "-c", killed, str(tmp_path)]).returncode == 9
    connection = sqlite3.connect(tmp_path / "salva.db")
    assert schema_version(connection) == 1
    assert connection.execute("SELECT observers FROM verdicts").fetchall() == [("pocket+scene",)]
    assert "verdicts.digest" in missing_columns(connection)
    connection.close()
    with open_run(tmp_path) as store:
        assert [verdict.observers for verdict in store.verdicts()] == [("pocket", "scene")]
