"""Concurrent requests to an endpoint.

It begins with a few and grows with every clean answer. When the endpoint says "too many" the limit falls
by a fifth, once an episode: answers to requests sent before the fall tell nothing new. From then on it stays
just under the number that was too many, and probes above it only after a long clean stretch. An endpoint that turns
one in a hundred away, however many are under way, has reasons of its own: the limit falls and grows back, and no number
counts as too many. A Retry-After holds every request of the lane. Knows no component and no HTTP.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeGuard

from salva.errors import BackendError, BusyError

FIRST_LIMIT = 4
MOST_AT_ONCE = 128
EASE = 0.8
"""What is left of the limit after an episode."""
START_GROWTH = 8.0
"""Added per clean answer until the first episode: nine times as many each round trip."""
REGROWTH = 1.0
"""Added per clean answer while below what was too many."""
ROUNDS_BEFORE_PROBE = 24
"""So many clean answers per place before a number that was too many is tried again; doubles each time in vain."""
HOLDS_BEFORE_PROBE = 150
"""And so many times as long as the endpoint made everyone wait when it last was our number: three such waits show that
a number is still too many, so that probing costs about a fiftieth."""
RARE = 0.04
"""Where no larger share of those that were sent with as many under way is turned away, it is not their number."""
_MOST_ROUNDS = 384
_FEWEST_TURNED_AWAY = 3
"""So many make a share."""
_LATEST = 8
"""So many answers per place are remembered."""
_CHECK_S = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Permit:
    """Leave to send one request."""

    episode: int
    """How often the limit had fallen when it was sent."""
    n_under_way: int
    """It and the others."""


class _Waiter:
    """Somebody at the door; handed over one to one, because waking everyone for each place takes longer than a
    request is allowed to."""

    __slots__ = ("is_given", "permit")

    def __init__(self) -> None:
        self.is_given = threading.Event()
        self.permit: Permit | None = None


class Limiter:
    """The limit of one lane; safe to use from many threads."""

    def __init__(self, most: int = MOST_AT_ONCE, stopping: threading.Event | None = None) -> None:
        self._most = max(1, most)
        self._limit = float(min(FIRST_LIMIT, self._most))
        self._too_many: int | None = None
        """The smallest number known to be too many; None before the first episode."""
        self._n_episodes = 0
        self._is_ours = False
        """Whether the latest episode came from our number."""
        self._fewest = 0
        """The smallest number under way with which one of that episode was sent."""
        self._latest: deque[tuple[int, bool]] = deque(maxlen=_LATEST * self._most)
        """Of the latest answers: how many were under way when each was asked for, and whether it was turned away."""
        self._n_clean = 0
        self._n_rounds = ROUNDS_BEFORE_PROBE
        self._probe = 0
        self._probes_at = 0.0
        self._n_then = self._n_accepted = 0
        self._n_under_way = 0
        self._n_resting = 0
        self._again: deque[_Waiter] = deque()
        self._waiting: deque[_Waiter] = deque()
        self._resumes_at = 0.0
        self._stopping = stopping or threading.Event()
        self._lock = threading.Lock()

    @property
    def limit(self) -> int:
        """How many requests may be under way now."""
        return int(self._limit)

    @property
    def depth(self) -> int:
        """How many requests the lane should be given: those under way, those that rest, and as many again at the
        door, since answers come in bursts and the flow needs a moment to fetch the next."""
        return 2 * self.limit + self._n_resting

    def begin(self, is_again: bool = False) -> Permit | None:
        """Wait for a place; None when everything stops. Repeated requests go first."""
        waiter = _Waiter()
        with self._lock:
            (self._again if is_again else self._waiting).append(waiter)
            self._admit()
        while waiter.permit is None:
            waiter.is_given.wait(_CHECK_S)
            with self._lock:
                if waiter.permit is None and self._stopping.is_set():
                    (self._again if is_again else self._waiting).remove(waiter)
                    return None
                # The end of a wait that the endpoint asked for wakes nobody by itself.
                self._admit()
        return waiter.permit

    def end(self, permit: Permit, outcomes: Sequence[object]) -> None:
        """A request came back."""
        waits = [o.retry_after_s or 0.0 for o in outcomes if is_busy(o)]
        with self._lock:
            self._n_under_way -= 1
            self._latest.append((permit.n_under_way, bool(waits)))
            if waits:
                now, wait_s = time.monotonic(), max(waits)
                self._ease(permit)
                self._resumes_at = max(self._resumes_at, now + wait_s)
                if self._is_ours:
                    self._probes_at = max(self._probes_at, now + HOLDS_BEFORE_PROBE * wait_s)
            elif permit.episode == self._n_episodes and not any(isinstance(o, BackendError) for o in outcomes):
                self._grow()
            self._admit()

    def rest(self, seconds: float) -> bool:
        """Wait before asking again, without taking a place; whether everything stops meanwhile."""
        with self._lock:
            self._n_resting += 1
        try:
            return self._stopping.wait(seconds)
        finally:
            with self._lock:
                self._n_resting -= 1

    def _admit(self) -> None:
        while self._n_under_way < self.limit and (self._again or self._waiting):
            if time.monotonic() < self._resumes_at:
                return
            waiter = (self._again or self._waiting).popleft()
            self._n_under_way += 1
            waiter.permit = Permit(episode=self._n_episodes, n_under_way=self._n_under_way)
            waiter.is_given.set()

    def _ease(self, permit: Permit) -> None:
        """One was turned away, of those that were under way when it came back."""
        if permit.episode == self._n_episodes:
            self._n_episodes += 1
            self._is_ours, self._fewest = False, permit.n_under_way
            self._limit = max(1.0, EASE * self._limit)
            self._n_then = self._n_accepted = self._n_under_way + 1
        elif permit.episode < self._n_episodes - 1:
            return
        self._n_accepted -= 1
        self._fewest = min(self._fewest, permit.n_under_way)
        if not self._is_ours:
            if not self._is_too_many(self._fewest):
                return
            self._is_ours = True
            self._n_rounds = min(_MOST_ROUNDS, 2 * self._n_rounds) if self._probe else ROUNDS_BEFORE_PROBE
            self._n_clean = self._probe = 0
        # What is left when all who are turned away have come back is what the endpoint takes. Where hardly any is
        # left it counts requests a minute and not at once, and that number says nothing.
        taken = max(self._n_accepted, self._n_then // 2, 1)
        self._too_many = taken + 1
        self._limit = min(self._limit, max(1.0, EASE * taken))

    def _is_too_many(self, n: int) -> bool:
        told = [is_turned_away for n_then, is_turned_away in self._latest if n_then >= n]
        return sum(told) >= _FEWEST_TURNED_AWAY and sum(told) > RARE * len(told)

    def _grow(self) -> None:
        if self._too_many is None:
            self._limit = min(self._limit + (REGROWTH if self._n_episodes else START_GROWTH), self._most)
            return
        self._n_clean += 1
        if self._n_clean >= self._n_rounds * self.limit and time.monotonic() >= self._probes_at:
            # A long clean stretch: the endpoint may take more by now, and more again when that goes well.
            self._probe = max(1, 2 * self._probe)
            self._too_many += self._probe
            self._n_clean = 0
        self._limit = max(1.0, min(self._limit + REGROWTH, self._too_many - 1, self._most))


def is_busy(outcome: object) -> TypeGuard[BackendError]:
    """Whether an outcome asks for fewer requests."""
    if not isinstance(outcome, BackendError):
        return False
    return isinstance(outcome, BusyError) or outcome.retry_after_s is not None
