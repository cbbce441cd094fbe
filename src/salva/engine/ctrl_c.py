"""Ctrl-C while answers are under way: heeded where nothing can be lost by it, and at once when pressed again.

SIGTERM and SIGHUP are the same where the command line hears them. Only the main thread hears signals, and somebody
else's way of hearing them is left alone; then Python's own exception comes wherever it comes. That may be where it is
lost: Python passes over it in a finaliser, and a module written in C that is just being imported makes an ImportError
of it. So what was pressed is remembered until it is heeded.
"""

from __future__ import annotations

import math
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
"""What asks a command to end."""
_ONE_SIGNAL_S = 0.3
"""So soon after another it is the same one, by another way: sent to the group, and passed on by the parent."""
_TIDY_S = 2.0
"""For so long after an interruption another one waits: what was answered is being stored."""


def stop_s() -> float:
    """How many seconds an interrupted run gives what is under way."""
    try:
        asked = float(os.environ.get("SALVA_STOP_SECONDS", "8"))
    except ValueError:
        return 8.0
    return asked if math.isfinite(asked) and asked >= 0 else 8.0


class CtrlC:
    """While entered, the first Ctrl-C waits for `heed`; one that comes long after it is a KeyboardInterrupt at once."""

    def __init__(self) -> None:
        self._is_pressed = self._is_heeded = False
        self._is_exposed = self._is_held = False
        self._pressed_at = self._raised_at = -math.inf
        self._again_at = math.inf
        self._before: dict[int, Callable[[int, FrameType | None], object]] = {}

    def listen(self) -> None:
        """Hear all signals that are not ignored, for the rest of the process."""
        for number in SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._press)

    def __enter__(self) -> CtrlC:
        if threading.current_thread() is threading.main_thread():
            for number in SIGNALS:
                before = signal.getsignal(number)
                if callable(before) and (before is signal.default_int_handler or _owner(before)):
                    self._before[number] = before
            if outer := self._outer:
                self._is_pressed, self._pressed_at = outer._is_pressed, outer._pressed_at
            for number in self._before:
                signal.signal(number, self._press)
        return self

    def __exit__(self, _type: object, error: BaseException | None, _traceback: object) -> None:
        if self._outer and isinstance(error, KeyboardInterrupt):
            self._outer._raised_at = time.monotonic()
        for number, before in self._before.items():
            signal.signal(number, before)
        if self._before and error is None and not self._is_heeded:
            # Pressed after the last place that heeds it: whoever begins something next must know.
            self.heed()

    @property
    def give_up_at(self) -> float:
        """When an interrupted run waits no longer for what is under way, as time.monotonic counts."""
        return min(self._pressed_at + stop_s(), self._again_at) if self._is_pressed else math.inf

    def heed(self) -> None:
        """Raise KeyboardInterrupt if Ctrl-C was pressed."""
        if self._is_pressed:
            self._is_heeded = True
            self._raised_at = time.monotonic()
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

    @contextmanager
    def held(self) -> Iterator[None]:
        """Only remember Ctrl-C meanwhile: for who asks `give_up_at` and ends soon."""
        self._is_held = True
        try:
            yield
        finally:
            self._is_held = False

    @property
    def _outer(self) -> CtrlC | None:
        return next(filter(None, map(_owner, self._before.values())), None)

    def _press(self, _signal: int, _frame: FrameType | None) -> None:
        now = time.monotonic()
        is_again = self._is_pressed
        if is_again and now - self._pressed_at < _ONE_SIGNAL_S:
            return
        if is_again:
            self._again_at = min(self._again_at, now)
        else:
            self._is_pressed, self._pressed_at = True, now
        is_late = is_again and now - self._pressed_at > _TIDY_S
        if (self._is_exposed or is_late) and not self._is_held and now - self._raised_at > _TIDY_S:
            self._raised_at = now
            raise KeyboardInterrupt


def _owner(handler: object) -> CtrlC | None:
    around = getattr(handler, "__self__", None)
    return around if isinstance(around, CtrlC) else None
