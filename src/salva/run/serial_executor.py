"""Executor: components work in threads of this process.

A lane is one component and as many threads as it can use. Nothing here knows what is painted or
looked at, or where it goes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import ClassVar

from salva.core.options import NoOptions
from salva.core.protocols import LookRequest, RenderRequest
from salva.core.spec import Binding
from salva.run.environment import n_cores
from salva.run.guard import Guard, Requests, build
from salva.run.workers import Workers


class LocalLane:
    """A component at work in threads.

    The component may say how it likes to be called: `batch_size` (1), `depth` (how many calls at
    once; as many as there are cores, since most components are one-threaded) and `timeout_s` (none).
    """

    def __init__(self, binding: Binding) -> None:
        component = build(binding)
        self.batch_size = max(1, int(getattr(component, "batch_size", 1)))
        self.depth = max(1, int(getattr(component, "depth", 0) or max(2, n_cores())))
        self._workers = Workers(self.depth)
        call: Callable[[Requests], object] = getattr(component, "render" if binding.role == "model" else "look")
        timeout_s: float | None = getattr(component, "timeout_s", None)
        self._guard = Guard(binding, call, timeout_s=timeout_s, stopping=self._workers.stopping)

    def submit(self, requests: Sequence[RenderRequest] | Sequence[LookRequest]) -> Future[Sequence[object]]:
        """Start a batch."""
        return self._workers.submit(self._guard, requests)

    def close(self) -> None:
        """Stop the threads."""
        self._workers.close()


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
