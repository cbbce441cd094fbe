"""Work waiting for components: one queue a component, cut into batches when the component is free."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Generic, TypeVar

from salva.core.protocols import Executor, Lane, LookRequest, RenderRequest
from salva.engine.actors import Actor

_Job = TypeVar("_Job")


class Station(Generic[_Job]):
    """A component and the jobs in front of it; the component is put to work with the first batch."""

    def __init__(self, actor: Actor, executor: Executor) -> None:
        self.actor = actor
        self.waiting: deque[_Job] = deque()
        self.n_under_way = 0
        self._executor = executor
        self._lane: Lane | None = None

    @property
    def lane(self) -> Lane:
        """The component at work; loads it the first time."""
        if self._lane is None:
            assert self.actor.binding is not None, "only components with a binding are given work"
            self._lane = self._executor.open(self.actor.binding)
        return self._lane

    def opened(self) -> Station[_Job]:
        """Itself, with its component at work: one that cannot start says so before anything else is paid for."""
        assert self.lane is not None
        return self

    @property
    def n_at_once(self) -> int:
        """How many jobs the component can have under way."""
        return self.lane.batch_size * self.lane.depth

    def next_batch(self, is_last: bool, n_room: int, n_allowed: int) -> list[_Job]:
        """The jobs to submit now, if any.

        A batch that is not full waits for company while another is under way, unless no more will come.
        """
        if not self.waiting or n_allowed < 1 or self.n_under_way >= self.lane.depth:
            return []
        size = min(self.lane.batch_size, len(self.waiting), n_allowed)
        if size < self.lane.batch_size and self.n_under_way and not is_last:
            return []
        if size > n_room:
            return []
        return [self.waiting.popleft() for _ in range(size)]

    def submit(
        self,
        requests: Sequence[RenderRequest] | Sequence[LookRequest],
        done: Callable[[Future[Sequence[object]]], None],
    ) -> None:
        """Start a batch; done is told from whichever thread ends it."""
        self.n_under_way += 1
        self.lane.submit(requests).add_done_callback(done)
