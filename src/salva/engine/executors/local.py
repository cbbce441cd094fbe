"""Executor: components work in threads of this process.

A lane is one component and as many threads as it can use. Nothing here knows what is generated or
observed, or where it goes.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import Future
from typing import ClassVar

from salva.core.options import NoOptions
from salva.core.plan import Binding
from salva.core.protocols import Orders
from salva.engine.component_runner import ComponentRunner
from salva.engine.limiter import MOST_AT_ONCE
from salva.engine.workers import Workers
from salva.hardware.cores import n_cores


class LocalLane:
    """A component at work in threads, called as its habits say; most are one-threaded, and get a thread a core.

    One that waits for an endpoint waits for no core: how many calls it has under way is found by a limiter, up to
    its `max_at_once`, and `depth` follows.
    """

    def __init__(self, binding: Binding) -> None:
        stopping = threading.Event()
        self._runner = ComponentRunner(binding, stopping)
        self.batch_size = self._runner.batch_size
        habits, limiter = self._runner.habits, self._runner.limiter
        if limiter is not None:
            # Calls that wait for a place or rest before they try again keep a thread each.
            self._workers = Workers(3 * max(1, habits.max_at_once or MOST_AT_ONCE), stopping)
            self.depth = limiter.depth
        else:
            self.depth = max(1, habits.depth or max(2, n_cores()))
            self._workers = Workers(self.depth, stopping)

    def submit(self, orders: Orders) -> Future[Sequence[object]]:
        """Start a batch."""
        return self._workers.submit(self._work, orders)

    def stop(self) -> None:
        """Begin no more calls."""
        self._workers.stop()

    def close(self) -> None:
        """Stop the threads, then let the component put away what it holds."""
        self._workers.close()
        self._runner.close()

    def _work(self, orders: Orders) -> Sequence[object]:
        try:
            return self._runner(orders)
        finally:
            if self._runner.limiter is not None:
                self.depth = self._runner.limiter.depth


class LocalExecutor:
    """Threads of this process."""

    version: ClassVar[str] = "1"
    Options: ClassVar[type[NoOptions]] = NoOptions

    def __init__(self, options: NoOptions | None = None) -> None:
        self.options = options or NoOptions()
        self._lanes: list[LocalLane] = []

    def open(self, binding: Binding, crowd: Sequence[Binding] = ()) -> LocalLane:
        """Put a component to work; threads share the machine by themselves."""
        lane = LocalLane(binding)
        self._lanes.append(lane)
        return lane

    def stop(self) -> None:
        """Begin no more calls; those under way are still reported."""
        for lane in self._lanes:
            lane.stop()

    def close(self) -> None:
        """Stop everything; safe to call twice."""
        while self._lanes:
            self._lanes.pop().close()
