"""A connection to a database that may be a stranger's: what it holds is data, and no statement runs without end.

SQLite calls back every so many steps of its own. There a statement that takes too long ends, and there Ctrl-C is
heard, which otherwise waits until SQLite returns. Whoever writes takes the handler off again.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from typing import Any, TypeVar

LIMIT_S = 60.0
"""The time that SQLite may take until it gives the next rows."""
_STEPS = 20_000
"""Of SQLite's virtual machine between two calls: about a millisecond."""
_LIMITS = {
    sqlite3.SQLITE_LIMIT_LENGTH: 2**27,
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 2**20,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 100,
    sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 1,
    # One for the copy that VACUUM INTO writes.
    sqlite3.SQLITE_LIMIT_ATTACHED: 1,
}
_T = TypeVar("_T")


class SlowStatementError(sqlite3.OperationalError):
    """A statement that took too long."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"a statement took more than {seconds:g} s")
        self.seconds = seconds


class GuardedConnection(sqlite3.Connection):
    """SQLite's connection with limits on what a database can make it do."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.limit_s = LIMIT_S
        self._since = time.monotonic()
        self._is_slow = False
        for category, most in _LIMITS.items():
            self.setlimit(category, most)
        super().execute("PRAGMA trusted_schema=OFF")
        super().execute("PRAGMA cell_size_check=ON")
        self.set_progress_handler(self._is_over, _STEPS)

    def cursor(self, factory: Any = None) -> Any:
        """A cursor whose statements end in time."""
        return super().cursor(factory or _GuardedCursor)

    def execute(self, *args: Any) -> sqlite3.Cursor:
        """A statement on a cursor of its own."""
        cursor: sqlite3.Cursor = self.cursor()
        return cursor.execute(*args)

    def executemany(self, *args: Any) -> sqlite3.Cursor:
        """The same with several rows."""
        cursor: sqlite3.Cursor = self.cursor()
        return cursor.executemany(*args)

    def in_time(self, call: Callable[[], _T]) -> _T:
        """What SQLite is asked; whatever ends it in between is raised as what it is."""
        self._since, self._is_slow = time.monotonic(), False
        try:
            return call()
        except sqlite3.OperationalError as error:
            if self._is_slow:
                raise SlowStatementError(self.limit_s) from error
            if error.sqlite_errorcode == sqlite3.SQLITE_INTERRUPT:
                # Nothing else interrupts: a signal's handler raised inside the call back, and sqlite3 dropped that.
                raise KeyboardInterrupt from error
            raise

    def _is_over(self) -> bool:
        """Whether to end the statement."""
        self._is_slow = time.monotonic() - self._since > self.limit_s
        return self._is_slow


class _GuardedCursor(sqlite3.Cursor):
    connection: GuardedConnection

    def execute(self, *args: Any) -> _GuardedCursor:
        self.connection.in_time(lambda: super(_GuardedCursor, self).execute(*args))
        return self

    def executemany(self, *args: Any) -> _GuardedCursor:
        self.connection.in_time(lambda: super(_GuardedCursor, self).executemany(*args))
        return self

    def fetchone(self) -> Any:
        return self.connection.in_time(super().fetchone)

    def fetchmany(self, *args: Any) -> list[Any]:
        return self.connection.in_time(lambda: super(_GuardedCursor, self).fetchmany(*args))

    def fetchall(self) -> list[Any]:
        return self.connection.in_time(super().fetchall)

    def __next__(self) -> Any:
        return self.connection.in_time(super().__next__)
