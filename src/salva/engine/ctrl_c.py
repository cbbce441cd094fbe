"""Ctrl-C while answers are under way: heeded where nothing can be lost by it, and at once when pressed again.

Only the main thread hears Ctrl-C, and somebody else's way of hearing it is left alone; then Python's own exception
comes wherever it comes. That may be where it is lost: Python passes over it in a finaliser, and a module written in C
that is just being imported makes an ImportError of it. So what was pressed is remembered until it is heeded.
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
        self._is_pressed = self._is_heeded = False
        self._is_exposed = False
        self._is_heard_here = False
        self._outer: CtrlC | None = None

    def __enter__(self) -> CtrlC:
        before = signal.getsignal(signal.SIGINT)
        around = getattr(before, "__self__", None)
        self._outer = around if isinstance(around, CtrlC) else None
        is_main = threading.current_thread() is threading.main_thread()
        self._is_heard_here = is_main and (before is signal.default_int_handler or self._outer is not None)
        if self._is_heard_here:
            self._is_pressed = self._outer is not None and self._outer._is_pressed
            signal.signal(signal.SIGINT, self._press)
        return self

    def __exit__(self, _type: object, error: BaseException | None, _traceback: object) -> None:
        if not self._is_heard_here:
            return
        signal.signal(signal.SIGINT, self._outer._press if self._outer else signal.default_int_handler)
        if error is None and not self._is_heeded:
            # Pressed after the last place that heeds it: whoever begins something next must know.
            self.heed()

    def heed(self) -> None:
        """Raise KeyboardInterrupt if Ctrl-C was pressed."""
        if self._is_pressed:
            self._is_heeded = True
            raise KeyboardInterrupt

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """Heed Ctrl-C on the spot meanwhile: for what takes long and loses nothing, such as loading weights."""
        self.heed()
        self._is_exposed = True
        try:
            yield
        except Exception:
            self.heed()
            raise
        finally:
            self._is_exposed = False
        self.heed()

    def _press(self, _signal: int, _frame: FrameType | None) -> None:
        is_again, self._is_pressed = self._is_pressed, True
        if is_again or self._is_exposed:
            raise KeyboardInterrupt
