"""Threads that salva starts by itself, and whether one of them is still at work when everything else is over.

They are daemons, because a call that never returns must not keep the process from ending.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

_NAME = "salva: "


def start_thread(target: Callable[[], None], name: str) -> threading.Thread:
    """A thread at work."""
    thread = threading.Thread(target=target, daemon=True, name=f"{_NAME}{name}")
    thread.start()
    return thread


def any_left_behind() -> bool:
    """Whether somebody is still at work."""
    return any(thread.name.startswith(_NAME) for thread in threading.enumerate())
