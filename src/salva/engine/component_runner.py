"""A component in one process: built, guarded, and handed images it can observe.

The same in a thread of the run and in an actor elsewhere. Knows neither queue nor store.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, cast

from salva.core.about import close, habits_of
from salva.core.memory import return_at_once
from salva.core.plan import Binding
from salva.core.protocols import Orders, RenderRequest, TwoStepGenerator
from salva.engine.guard import Guard, Requests, build
from salva.engine.limiter import MOST_AT_ONCE, Limiter
from salva.engine.transfer import opened


class ComponentRunner:
    """Called with a batch of orders, it gives one outcome each; it begins no new attempts once stopping is set."""

    def __init__(self, binding: Binding, stopping: threading.Event) -> None:
        return_at_once()
        self._component = cast(Any, build(binding))
        self.habits = habits_of(self._component)
        is_remote = binding.about.is_remote
        self.batch_size = 1 if is_remote else max(1, self.habits.batch_size)
        self.limiter: Limiter | None = None
        """How many requests an endpoint takes at once; None for what is no endpoint."""
        if is_remote:
            self.limiter = Limiter(max(1, self.habits.max_at_once or MOST_AT_ONCE), stopping)
        self._guard = Guard(
            binding,
            _call_of(self._component, binding.role),
            timeout_s=self.habits.timeout_s,
            stopping=stopping,
            limiter=self.limiter,
        )

    def __call__(self, orders: Orders) -> Sequence[object]:
        """One outcome per order."""
        return self._guard(cast(Requests, opened(orders)))

    def close(self) -> None:
        """Let the component put away what it holds."""
        # The run is over and stored; a component that cannot tidy up must not change how it ended.
        with suppress(Exception):
            close(self._component)


def _call_of(component: Any, role: str) -> Callable[[Requests], object]:
    """The method that a batch is given to; a batch of tickets goes to the one that fetches."""
    if role != "model":
        return cast("Callable[[Requests], object]", component.observe)
    if not isinstance(component, TwoStepGenerator):
        return cast("Callable[[Requests], object]", component.render)

    def call(requests: Requests) -> object:
        asked = cast("Sequence[RenderRequest]", requests)
        return component.fetch(asked) if any(request.ticket for request in asked) else component.begin(asked)

    return call
