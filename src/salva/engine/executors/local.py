"""Executor: components work in threads of this process.

A lane is one component and as many threads as it can use. Nothing here knows what is painted or
looked at, or where it goes.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, ClassVar, cast

from salva.core.about import close, habits_of
from salva.core.options import NoOptions
from salva.core.protocols import LookRequest, RenderRequest
from salva.core.spec import Binding
from salva.engine.guard import Guard, Requests, build
from salva.engine.limiter import MOST_AT_ONCE, Limiter
from salva.engine.workers import Workers
from salva.hardware.cores import n_cores


class LocalLane:
    """A component at work in threads, called as its habits say; most are one-threaded, and get a thread a core.

    One that waits for an endpoint waits for no core: how many calls it has under way is found by a limiter, up to
    its `max_at_once`, and `depth` follows.
    """

    def __init__(self, binding: Binding) -> None:
        self._component = cast(Any, build(binding))
        habits = habits_of(self._component)
        self.batch_size = 1 if binding.about.is_remote else max(1, habits.batch_size)
        self._limiter: Limiter | None = None
        if binding.about.is_remote:
            most = max(1, habits.max_at_once or MOST_AT_ONCE)
            # Calls that wait for a place or rest before they try again keep a thread each.
            self._workers = Workers(3 * most)
            self._limiter = Limiter(most, self._workers.stopping)
            self.depth = self._limiter.depth
        else:
            self.depth = max(1, habits.depth or max(2, n_cores()))
            self._workers = Workers(self.depth)
        call = self._component.render if binding.role == "model" else self._component.look
        self._guard = Guard(
            binding, call, timeout_s=habits.timeout_s, stopping=self._workers.stopping, limiter=self._limiter
        )

    def submit(self, requests: Sequence[RenderRequest] | Sequence[LookRequest]) -> Future[Sequence[object]]:
        """Start a batch."""
        return self._workers.submit(self._work, requests)

    def stop(self) -> None:
        """Begin no more calls."""
        self._workers.stop()

    def close(self) -> None:
        """Stop the threads, then let the component put away what it holds."""
        self._workers.close()
        # The run is over and stored; a component that cannot tidy up must not change how it ended.
        with suppress(Exception):
            close(self._component)

    def _work(self, requests: Requests) -> Sequence[object]:
        try:
            return self._guard(requests)
        finally:
            if self._limiter is not None:
                self.depth = self._limiter.depth


class LocalExecutor:
    """Threads of this process."""

    version: ClassVar[str] = "1"
    Options: ClassVar[type[NoOptions]] = NoOptions

    def __init__(self, options: NoOptions | None = None) -> None:
        self.options = options or NoOptions()
        self._lanes: list[LocalLane] = []

    def open(self, binding: Binding) -> LocalLane:
        """Put a component to work."""
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
