"""Ctrl-C while answers are under way: heeded where nothing can be lost by it, and at once when pressed again.

Only the main thread hears Ctrl-C, and somebody else's way of hearing it is left alone; then Python's own exception
comes wherever it comes.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class CtrlC:
    """While entered, the first Ctrl-C waits for `heed`; a second one is a KeyboardInterrupt on the spot."""

    def __init__(self) -> None:
        self._is_pressed = False
        self._is_exposed = False
        self._is_heard_here = False

    def __enter__(self) -> CtrlC:
        is_main = threading.current_thread() is threading.main_thread()
        self._is_heard_here = is_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if self._is_heard_here:
            signal.signal(signal.SIGINT, self._press)
        return self

    def __exit__(self, *_: object) -> None:
        if self._is_heard_here:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def heed(self) -> None:
        """Raise KeyboardInterrupt if Ctrl-C was pressed."""
        if self._is_pressed:
            raise KeyboardInterrupt

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """Heed Ctrl-C on the spot meanwhile: for what takes long and loses nothing, such as loading weights."""
        self.heed()
        self._is_exposed = True
        try:
            yield
        finally:
            self._is_exposed = False

    def _press(self, _signal: int, _frame: FrameType | None) -> None:
        is_again, self._is_pressed = self._is_pressed, True
        if is_again or self._is_exposed:
            raise KeyboardInterrupt
