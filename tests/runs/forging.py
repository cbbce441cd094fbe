"""Runs edited behind salva's back, with their digests mended or not."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from contextlib import closing
from pathlib import Path

from salva.store.records import WHOLE
from salva.store.rows import DIGESTED, KEYS, digest_of_row, to_text
from salva.store.runfile import DIGESTS
from salva.store.sqlite import RunStore, open_run


def change(run: Path, *statements: str) -> None:
    """Run SQL on the store."""
    with closing(sqlite3.connect(run / "salva.db")) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()


def mend(run: Path) -> None:
    """Give every row the digest of its content, run.json too, and note that the run is whole as it is now."""
    with closing(sqlite3.connect(run / "salva.db")) as connection:
        connection.row_factory = sqlite3.Row
        digest = hashlib.sha256((run / "run.json").read_bytes()).hexdigest()
        connection.execute("UPDATE meta SET value = ? WHERE key = ?", (json.dumps([digest]), DIGESTS))
        _mend_rows(connection)
        # Without the locks and the writes of a command that opens it.
        store = RunStore(run, connection, None)
        values = (to_text(store.judged_digest()), WHOLE)
        connection.execute("UPDATE meta SET value = ? WHERE key = ?", values)
        _mend_rows(connection)
        connection.commit()


def mend_rows(run: Path) -> None:
    """Give every row the digest of its content, whatever that is."""
    with closing(sqlite3.connect(run / "salva.db")) as connection:
        connection.row_factory = sqlite3.Row
        _mend_rows(connection)
        connection.commit()


def _mend_rows(connection: sqlite3.Connection) -> None:
    for table in DIGESTED:
        where = " AND ".join(f'"{name}" = ?' for name in KEYS[table])
        for row in connection.execute(f"SELECT * FROM {table}").fetchall():
            digest = digest_of_row(table, dict(row))
            values = (digest, *(row[name] for name in KEYS[table]))
            connection.execute(f"UPDATE {table} SET digest = ? WHERE {where}", values)


def edit_run_file(run: Path, old: str, new: str) -> None:
    """Replace text in run.json."""
    text = (run / "run.json").read_text(encoding="utf-8")
    assert old in text
    (run / "run.json").write_text(text.replace(old, new), encoding="utf-8")


def is_whole(run: Path) -> bool:
    """Whether the run counts as finished."""
    with open_run(run) as store:
        return store.is_whole()
