"""A component in several actors.

What an actor takes with it is asked again of another, and counted: a batch that kills whoever works at it is taken
apart, and a component whose actors die whatever they are asked ends the run. Knows no cluster but by its ActorBackend.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future
from contextlib import ExitStack
from typing import Any, NamedTuple, Protocol

from salva.core.plan import Binding
from salva.core.protocols import Orders
from salva.core.threads import start_thread
from salva.engine.executors.actor_worker import WorkerInfo, WorkerSpec
from salva.engine.executors.shares import Share
from salva.engine.transfer import packed
from salva.engine.workers import Workers
from salva.errors import BackendError, PluginError, SalvaError, UnusableError, UsageError
from salva.messages import Message, message

N_LIVES = 3
"""So many processes may die over one batch, and then over one element of it, before that element has failed."""
N_DEATHS = 8
"""So many deaths in a row, and one more for each actor, with nothing done in between: the component cannot work."""
PLACE_S = 300.0
"""How long a component waits for room for its first actor; a cluster that grows needs minutes."""
MOST_SEATS = 16
"""Batches that one actor has at once, at most."""
_CHECK_S = 0.1


class LostError(Exception):
    """An actor, or what it answered, is gone."""


class UnsentError(Exception):
    """An actor is well, and what it was to be told or to answer cannot travel."""


class ActorBackend(Protocol):
    """Where actors are: a cluster, as a lane needs it."""

    def create_actor(self, share: Share, number: int) -> Any:
        """An actor with a ActorWorker, there as soon as there is room for it; number: which of the lane's it is."""

    def call(self, actor: Any, method: str, *arguments: object) -> Any:
        """What a ActorWorker answers; LostError when it never will, UnsentError when it cannot be told.

        UnusableError when the cluster itself is gone.
        """

    def tell(self, actor: Any, method: str) -> None:
        """The same without waiting, ignoring the result."""

    def kill_actor(self, actor: Any) -> None:
        """End an actor, whatever it is at; one that is gone already is no trouble."""

    def free(self) -> str:
        """What nobody has taken, in words."""


class _Slot:
    """An actor's place, whoever stands there: one that dies is followed by another."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.actor: Any = None
        self.is_placed = self.is_up = False
        self.n_seats = self.n_busy = 0
        self.n_failed_starts = 0


class _Lease(NamedTuple):
    slot: _Slot
    actor: Any
    n: int
    """Seats taken: one, or all."""


class ActorPool:
    """A lane; each actor has one batch more than it works at, so that it never waits for the next."""

    def __init__(self, backend: ActorBackend, binding: Binding, share: Share) -> None:
        self.batch_size = 1
        self._backend, self._share = backend, share
        self._worker_spec = WorkerSpec.of(binding, share.n_cpus)
        self._name = self._worker_spec.name
        self._slots = [_Slot(number) for number in range(share.n_actors)]
        self._change = threading.Condition()
        self._end: SalvaError | None = None
        self._n_deaths = self._n_alone = 0
        self._placed_at = time.monotonic()
        self._is_closed = False
        self._workers = Workers(MOST_SEATS * share.n_actors)
        with ExitStack() as undo:
            undo.callback(self.close)
            for slot in self._slots:
                self._staff(slot)
            self._await_first()
            undo.pop_all()

    @property
    def depth(self) -> int:
        """How many batches its actors have seats for now."""
        return max(1, sum(slot.n_seats for slot in self._slots if slot.is_up))

    def submit(self, orders: Orders) -> Future[Sequence[object]]:
        """Start a batch."""
        return self._workers.submit(self._work, orders)

    def stop(self) -> None:
        """Begin no more calls."""
        self._workers.stop()
        for actor in self._actors():
            self._backend.tell(actor, "stop")

    def close(self) -> None:
        """End the actors, whatever they are at."""
        with self._change:
            self._is_closed = True
            self._change.notify_all()
        self._workers.stop()
        for actor in self._actors():
            self._backend.kill_actor(actor)
        self._workers.close()

    def _actors(self) -> list[Any]:
        return [slot.actor for slot in self._slots if slot.actor is not None]

    # Batches

    def _work(self, orders: Orders) -> Sequence[object]:
        return self._ask(packed(orders))

    def _ask(self, orders: Orders) -> Sequence[object]:
        why = ""
        for n_deaths in range(N_LIVES):
            # An actor may have died over the other batch it had; from the second time on this one has it to itself.
            lease = self._take(is_alone=n_deaths > 0)
            if lease is None:
                return [BackendError(message("not-asked", component=self._name))] * len(orders)
            try:
                reply = self._backend.call(lease.actor, "work", orders)
            except LostError as error:
                why = str(error)
                self._lose(lease.slot, lease.actor, why)
            except UnsentError as error:
                self._end = self._unsent(error)
                raise self._end from None
            except UnusableError as error:
                self._end = error
                raise
            else:
                self._n_deaths = 0
                if isinstance(reply, SalvaError):
                    self._end = reply
                    raise reply
                answered: Sequence[object] = reply
                return answered
            finally:
                self._leave(lease)
        if len(orders) > 1:
            # Nobody knows which element it was: one at a time, the others need not suffer for it.
            return [outcome for at in range(len(orders)) for outcome in self._ask(orders[at : at + 1])]
        return [BackendError(self._lost(N_LIVES, why), is_retryable=False)]

    def _take(self, *, is_alone: bool) -> _Lease | None:
        """A lease at the actor with the least to do; alone, all of its seats. None when everything stops."""
        with self._change:
            self._n_alone += is_alone
            try:
                while True:
                    if self._end is not None:
                        raise self._end
                    if self._workers.stopping.is_set():
                        return None
                    # Others let one pass that must be alone, or it would wait forever.
                    most = 0 if is_alone else -1 if self._n_alone else MOST_SEATS
                    free = [p for p in self._slots if p.is_up and p.n_busy <= min(most, p.n_seats - 1)]
                    if free:
                        slot = min(free, key=lambda slot: slot.n_busy)
                        lease = _Lease(slot, slot.actor, slot.n_seats if is_alone else 1)
                        slot.n_busy += lease.n
                        return lease
                    self._check_place()
                    self._change.wait(_CHECK_S)
            finally:
                self._n_alone -= is_alone

    def _leave(self, lease: _Lease) -> None:
        with self._change:
            if lease.slot.actor is lease.actor:
                lease.slot.n_busy -= lease.n
            self._change.notify_all()

    # Actors

    def _staff(self, slot: _Slot) -> None:
        """Have an actor stand at a slot, as soon as there is room for it."""
        slot.is_placed = slot.is_up = False
        slot.n_busy = 0
        slot.actor = actor = self._backend.create_actor(self._share, slot.number)
        start_thread(lambda: self._start(slot, actor), f"an actor of {self._name}")

    def _start(self, slot: _Slot, actor: Any) -> None:
        try:
            self._backend.call(actor, "greet")
            slot.is_placed = True
            reply = self._backend.call(actor, "start", self._worker_spec)
        except LostError as error:
            # One that is gone before it was told anything went with its node, and says nothing about the component.
            slot.n_failed_starts += slot.is_placed
            if slot.n_failed_starts < N_LIVES:
                self._lose(slot, actor, str(error))
                return
            reply = UnusableError(self._lost(N_LIVES, error))
        except UnsentError as error:
            reply = self._unsent(error)
        except UnusableError as error:
            reply = error
        with self._change:
            if isinstance(reply, WorkerInfo):
                self.batch_size = reply.batch_size
                slot.n_seats = min(reply.depth + 1, MOST_SEATS)
                slot.is_up, slot.n_failed_starts = True, 0
            else:
                self._end = self._end or reply
            self._change.notify_all()

    def _unsent(self, error: UnsentError) -> PluginError:
        return PluginError(message("not-sendable", component=self._name, why=error))

    def _lost(self, n: int, why: object) -> Message:
        return message("processes-lost", component=self._name, n=n, why=why)

    def _lose(self, slot: _Slot, actor: Any, why: str) -> None:
        """An actor is gone: another takes its slot, unless they go as fast as they come."""
        with self._change:
            if self._is_closed or slot.actor is not actor:
                return
            self._n_deaths += 1
            if self._n_deaths >= N_DEATHS + len(self._slots):
                slot.is_up = False
                self._end = self._end or UnusableError(self._lost(self._n_deaths, why))
            else:
                self._staff(slot)
            self._change.notify_all()
        self._backend.kill_actor(actor)

    def _await_first(self) -> None:
        with self._change:
            while not any(slot.is_up for slot in self._slots):
                if self._end is not None:
                    raise self._end
                self._check_place()
                self._change.wait(_CHECK_S)

    def _check_place(self) -> None:
        """Give up when there was no room for any actor for too long."""
        now = time.monotonic()
        if any(slot.is_placed for slot in self._slots):
            self._placed_at = now
        elif now - self._placed_at > PLACE_S:
            wanted = f"{self._share.n_cpus:g} cores and {self._share.n_gpus:g} GPUs"
            values = {"component": self._name, "seconds": PLACE_S, "wanted": wanted, "free": self._backend.free()}
            raise UsageError(message("room-missing", **values))
