"""Executor: components work in threads of this process.

A lane is one component and as many threads as it can use. Nothing here knows what is painted or
looked at, or where it goes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from typing import ClassVar

from salva.core.options import NoOptions
from salva.core.protocols import LookRequest, RenderRequest
from salva.core.spec import Binding
from salva.engine.guard import Guard, Requests, build
from salva.engine.limiter import MOST_AT_ONCE, Limiter
from salva.engine.workers import Workers
from salva.hardware.cores import n_cores


class LocalLane:
    """A component at work in threads.

    The component may say how it likes to be called: `batch_size` (1), `depth` (how many calls at
    once; as many as there are cores, since most components are one-threaded) and `timeout_s` (none).
    One that says `is_remote` waits for an endpoint and not for a core: how many calls it has under
    way is found by a limiter, up to its `max_at_once`, and `depth` follows.
    """

    def __init__(self, binding: Binding) -> None:
        component = build(binding)
        is_remote = bool(getattr(component, "is_remote", False))
        self.batch_size = 1 if is_remote else max(1, int(getattr(component, "batch_size", 1)))
        self._limiter: Limiter | None = None
        self._close: Callable[[], None] = getattr(component, "close", _nothing)
        if is_remote:
            most = max(1, int(getattr(component, "max_at_once", 0) or MOST_AT_ONCE))
            # Calls that wait for a place or rest before they try again keep a thread each.
            self._workers = Workers(3 * most)
            self._limiter = Limiter(most, self._workers.stopping)
            self.depth = self._limiter.depth
        else:
            self.depth = max(1, int(getattr(component, "depth", 0) or max(2, n_cores())))
            self._workers = Workers(self.depth)
        call: Callable[[Requests], object] = getattr(component, "render" if binding.role == "model" else "look")
        timeout_s: float | None = getattr(component, "timeout_s", None)
        self._guard = Guard(binding, call, timeout_s=timeout_s, stopping=self._workers.stopping, limiter=self._limiter)

    def submit(self, requests: Sequence[RenderRequest] | Sequence[LookRequest]) -> Future[Sequence[object]]:
        """Start a batch."""
        return self._workers.submit(self._work, requests)

    def close(self) -> None:
        """Stop the threads, then let the component put away what it holds."""
        self._workers.close()
        # The run is over and stored; a component that cannot tidy up must not change how it ended.
        with suppress(Exception):
            self._close()

    def _work(self, requests: Requests) -> Sequence[object]:
        try:
            return self._guard(requests)
        finally:
            if self._limiter is not None:
                self.depth = self._limiter.depth


def _nothing() -> None:
    """For components that hold nothing."""


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

    def close(self) -> None:
        """Stop everything; safe to call twice."""
        while self._lanes:
            self._lanes.pop().close()
