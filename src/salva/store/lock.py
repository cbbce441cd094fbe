"""The run lock: one writer per run directory.

The kernel drops the lock with the process that holds it, so a killed run never locks itself out.
"""

from __future__ import annotations

import fcntl
import os
from contextlib import suppress
from pathlib import Path

from salva.errors import LockedError
from salva.messages import message
from salva.store.blobs import store_error

LOCK_FILE = ".lock"


class RunLock:
    """Held from construction until release."""

    def __init__(self, directory: Path) -> None:
        path = directory / LOCK_FILE
        try:
            self._handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        except OSError as error:
            raise store_error(path, error) from error
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.read(self._handle, 32).decode("ascii", "replace").strip() or "unknown"
            os.close(self._handle)
            raise LockedError(message("run-locked", path=str(directory), holder=holder)) from None
        try:
            os.ftruncate(self._handle, 0)
            os.pwrite(self._handle, str(os.getpid()).encode(), 0)
        except OSError as error:
            os.close(self._handle)
            raise store_error(path, error) from error

    def release(self) -> None:
        """Let others write; safe to call twice."""
        if self._handle >= 0:
            # A component may have closed it; why the run ends matters more.
            with suppress(OSError):
                os.close(self._handle)
            self._handle = -1
