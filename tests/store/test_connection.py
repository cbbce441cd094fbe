"""How salva.db is opened, and what is said when it cannot be."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from salva.errors import StoreError
from salva.store.connection import connect_for_reading, connect_for_writing, translated, write_copy
from salva.store.sqlite import open_run


@pytest.fixture
def tried(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """How stores were opened, on a disk where none can be shared: only what is called immutable opens."""
    flags: list[str] = []
    connect = sqlite3.connect

    def refuse(uri: str, /, **options: object) -> sqlite3.Connection:
        if "salva.db?" not in uri:  # somebody else's, such as what coverage writes down
            return connect(uri, **options)  # type: ignore[call-overload,no-any-return]  # passed on
        flags.append(uri.partition("?")[2])
        if "immutable" not in uri:
            raise sqlite3.OperationalError("unable to open database file")
        return connect(uri, **options)  # type: ignore[call-overload,no-any-return]  # passed on

    monkeypatch.setattr(sqlite3, "connect", refuse)
    return flags


@pytest.fixture
def store(tmp_path: Path) -> Path:
    open_run(tmp_path, "write").close()
    return tmp_path / "salva.db"


def test_a_store_that_cannot_be_shared_and_has_no_log_is_read_as_it_is(store: Path, tried: list[str]) -> None:
    connect_for_reading(store).close()
    assert tried == ["mode=ro", "mode=ro&immutable=1"]


def test_a_store_with_a_log_beside_it_is_never_called_immutable(store: Path, tried: list[str]) -> None:
    """What the log holds would be missing, and nobody would be told."""
    store.with_name("salva.db-wal").write_bytes(b"x")
    with pytest.raises(StoreError, match="unable to open"):
        connect_for_reading(store)
    assert tried == ["mode=ro"]
    store.with_name("salva.db-wal").write_bytes(b"")
    connect_for_reading(store).close()


def error_of(statement: str, path: Path, flags: str = "mode=rw") -> sqlite3.Error:
    connection = sqlite3.connect(f"{path.absolute().as_uri()}?{flags}", uri=True)
    try:
        with pytest.raises(sqlite3.Error) as caught:
            connection.execute("PRAGMA max_page_count = 1"), connection.execute(statement)
        return caught.value
    finally:
        connection.close()


@pytest.mark.parametrize(
    ("statement", "flags", "advice"),
    [
        ("CREATE TABLE more AS SELECT zeroblob(1000000) AS x", "mode=rw", "free some space"),
        ("DELETE FROM meta", "mode=ro", "make the directory writable"),
        ("SELECT nothing FROM nowhere", "mode=rw", "restore it from a copy"),
    ],
)
def test_what_to_do_follows_from_sqlites_own_code(store: Path, statement: str, flags: str, advice: str) -> None:
    error = error_of(statement, store, flags)
    assert advice in str(translated(store, error))
    # The text is for people, and may be worded otherwise or speak of a full moon.
    renamed = sqlite3.OperationalError("a full, locked and malformed thing")
    renamed.sqlite_errorname = error.sqlite_errorname
    assert advice in str(translated(store, renamed))


def test_an_error_without_a_code_says_what_is_safe(store: Path) -> None:
    assert "check the disk" in str(translated(store, sqlite3.ProgrammingError("closed")))


def test_a_store_for_writing_is_safe_against_a_power_cut(tmp_path: Path) -> None:
    connection = connect_for_writing(tmp_path / "salva.db")
    settings = [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("journal_mode", "synchronous")]
    assert settings == ["wal", 2]
    assert connection.execute("PRAGMA wal_autocheckpoint").fetchone()[0] == 4000
    assert connection.row_factory is sqlite3.Row
    connection.close()


def test_an_empty_file_is_no_store_until_one_is_made_of_it(tmp_path: Path) -> None:
    path = tmp_path / "salva.db"
    path.write_bytes(b"")
    with pytest.raises(StoreError) as refused:
        open_run(tmp_path)
    assert refused.value.code == "store-damaged"
    open_run(tmp_path, "write").close()
    open_run(tmp_path).close()


def test_a_place_that_is_no_file_is_an_error(tmp_path: Path) -> None:
    for connect in (connect_for_reading, connect_for_writing):
        with pytest.raises(StoreError) as refused:
            connect(tmp_path)
        assert refused.value.code == "disk-error"


def test_a_copy_goes_where_there_is_nothing(store: Path, tmp_path: Path) -> None:
    connection = connect_for_reading(store)
    write_copy(connection, store, tmp_path / "copy.db")
    assert open_run(store.parent).meta() == {}
    with pytest.raises(StoreError, match=r"salva\.db"):
        write_copy(connection, store, tmp_path / "copy.db")
    connection.close()


def test_rows_that_are_none_of_ours_are_damage(store: Path) -> None:
    assert translated(store, ValueError("odd")).code == "disk-error"
