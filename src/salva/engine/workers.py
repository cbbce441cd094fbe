"""A small thread pool."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any, TypeVar

from salva.core.threads import start_thread

_R = TypeVar("_R")
_PATIENCE_S = 2.0


class Workers:
    """Threads with one queue, started as they are needed; nothing is ever dropped but by close."""

    def __init__(self, n_threads: int, stopping: threading.Event | None = None) -> None:
        self.stopping = stopping or threading.Event()
        self._waiting: SimpleQueue[tuple[Callable[..., Any], tuple[Any, ...], Future[Any]] | None] = SimpleQueue()
        self._n_threads = n_threads
        self._threads: list[threading.Thread] = []
        self._n_unfinished = 0
        self._lock = threading.Lock()

    def submit(self, call: Callable[..., _R], *args: Any) -> Future[_R]:
        """Have a call made."""
        future: Future[_R] = Future()
        with self._lock:
            self._n_unfinished += 1
            if len(self._threads) < min(self._n_threads, self._n_unfinished):
                self._threads.append(start_thread(self._work, "a worker"))
        self._waiting.put((call, args, future))
        return future

    def stop(self) -> None:
        """Begin nothing more: calls under way end as they would, those not begun are cancelled."""
        self.stopping.set()

    def close(self) -> None:
        """Stop; calls under way get a moment to end, those not begun are cancelled. Safe to call twice."""
        self.stop()
        for _ in self._threads:
            self._waiting.put(None)
        deadline = time.monotonic() + _PATIENCE_S
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        self._threads = []

    def _work(self) -> None:
        while (job := self._waiting.get()) is not None:
            call, args, future = job
            if self.stopping.is_set():
                future.cancel()
            else:
                try:
                    outcome = call(*args)
                except BaseException as error:
                    self._finished()
                    future.set_exception(error)
                else:
                    self._finished()
                    future.set_result(outcome)
                    del outcome
            # A thread that waits for its next call must not keep the images of the last one alive.
            del job, call, args, future

    def _finished(self) -> None:
        with self._lock:
            self._n_unfinished -= 1
