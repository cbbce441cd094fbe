"""Work waiting for components: one queue a component, cut into batches when the component is free."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from functools import cached_property, partial
from typing import Generic, TypeVar

from salva.core.plan import Binding
from salva.core.protocols import Lane, Orders
from salva.engine.actors import Actor

_Job = TypeVar("_Job")


class JobQueue(Generic[_Job]):
    """A component at work and the jobs in front of it; it starts when somebody wants to know how much it can do."""

    def __init__(self, actor: Actor, start: Callable[[Binding], Lane]) -> None:
        assert actor.binding is not None, "only components with a binding are given work"
        self.actor = actor
        self.waiting: deque[_Job] = deque()
        self.paid: deque[_Job] = deque()
        """Those whose image is only to be fetched; no limit on costs keeps them waiting."""
        self.n_under_way = 0
        """Batches that are not back yet."""
        self._start = partial(start, actor.binding)

    @property
    def is_remote(self) -> bool:
        """Whether the component waits for an endpoint."""
        return self.actor.about.is_remote

    @cached_property
    def _lane(self) -> Lane:
        return self._start()

    @property
    def n_at_once(self) -> int:
        """How many jobs the component can have under way."""
        return self._lane.batch_size * self._lane.depth

    def next_batch(self, is_last: bool, n_room: int, n_allowed: int, *, is_patient: bool = False) -> list[_Job]:
        """The jobs to submit now, if any.

        A batch that is not full waits for company while another is under way, and if it is patient also while none is,
        unless no more will come.
        """
        if not self.waiting or n_allowed < 1 or self.n_under_way >= self._lane.depth:
            return []
        size = min(self._lane.batch_size, len(self.waiting), n_allowed)
        if size < self._lane.batch_size and (self.n_under_way or is_patient) and not is_last:
            return []
        if size > n_room:
            return []
        return [self.waiting.popleft() for _ in range(size)]

    def next_paid(self) -> _Job | None:
        """The next image to fetch, if there is any and the component is free."""
        return self.paid.popleft() if self.paid and self.n_under_way < self._lane.depth else None

    def submit(self, orders: Orders) -> Future[Sequence[object]]:
        """Start a batch."""
        self.n_under_way += 1
        return self._lane.submit(orders)
