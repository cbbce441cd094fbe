"""Imports of slow libraries in a thread, while files are hashed or a detector is tried.

A component plans the import of a library that it will need; code that imports nothing itself begins it. `wait` before
another import: libraries whose files import each other fail in two threads.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress

from salva.core.foreign_errors import plugin_errors
from salva.core.threads import start_thread
from salva.errors import SalvaError


class BackgroundImports:
    """Imports of one process, planned and under way."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._planned: dict[str, Callable[[], object]] = {}
        self._thread: threading.Thread | None = None

    def plan(self, what: str, work: Callable[[], object]) -> None:
        """Have something imported as soon as there is a moment for it; what: known by this, it is planned once."""
        with self._lock:
            self._planned[what] = work

    def begin_planned(self) -> None:
        """Now is such a moment."""
        with self._lock:
            works, self._planned = self._planned, {}
        if works:
            self.begin(*works.values())

    def begin(self, *works: Callable[[], object]) -> None:
        """Import in a thread, after what is under way."""
        with self._lock:
            before = self._thread

            def import_all() -> None:
                if before is not None:
                    before.join()
                for work in works:
                    # The component that needs the library imports it again and reports the error.
                    with suppress(SalvaError), plugin_errors("a library", "cannot be imported"):
                        work()

            self._thread = start_thread(import_all, "imports")

    def wait(self) -> None:
        """Until nothing is imported any more; what is planned and not begun stays so."""
        thread = self._thread
        if thread is not None:
            thread.join()


BACKGROUND_IMPORTS = BackgroundImports()
"""The one of this process."""
