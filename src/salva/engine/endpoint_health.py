"""Whether an endpoint is alive, told from what it was asked lately.

A request that fails says nothing against an endpoint that has served another one since it was first asked: the few
that always fail end together, long after the others. One that failed in an earlier command too, and is asked last, says
nothing against it as long as somebody answers. Knows no HTTP and no component.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager

N_HANGS = 8
"""So many requests in a row without an answer, all asked after the last that was served: nobody is there any more."""
N_FIRST_LOST = 2
"""So many requests in vain, each with all its retries, from an endpoint that has served none yet: it is not there."""
N_FAILURES = 32
"""So many requests in a row answered with errors, and the rest is not worth its price."""


WORKING_S = 1.0
"""An endpoint that keeps a request for so long may be at work on it, where one that is not there turns it away."""


class EndpointHealth:
    """Of one endpoint; told of every request that is over. Safe to use from many threads."""

    def __init__(self) -> None:
        self._served_at = self._answered_at = -math.inf
        self._n_lost = self._n_failed = self._n_unanswered = 0
        self._awaited: dict[object, float] = {}

    @contextmanager
    def awaiting(self) -> Iterator[None]:
        """A request is at the endpoint."""
        request = object()
        self._awaited[request] = time.monotonic()
        try:
            yield
        finally:
            del self._awaited[request]

    def served(self) -> None:
        """A request was answered as it should be."""
        self._served_at = self._answered_at = time.monotonic()
        self._n_lost = self._n_failed = self._n_unanswered = 0

    def failed(self, asked_at: float, *, is_lost: bool, is_tried_once: bool = False) -> int:
        """One was not; how many in a row, when that is enough to give the endpoint up, else 0.

        is_lost: it can be retried and still failed, so that the endpoint is at fault and not the request.
        is_tried_once: the endpoint is at fault, and the request was not tried again.
        """
        if asked_at < self._served_at:
            return 0
        self._n_failed += 1
        self._n_lost = self._n_lost + 1 if is_lost or is_tried_once else 0
        is_first = self._served_at == -math.inf and not is_tried_once and not self._is_working()
        if self._n_lost >= (N_FIRST_LOST if is_first else N_HANGS) or self._n_failed >= N_FAILURES:
            return max(self._n_lost, self._n_failed)
        return 0

    def failed_again(self, asked_at: float, *, is_answered: bool) -> int:
        """One was not that was asked in vain before; how many such in a row got no answer, not even an error, when that
        is enough to ask for no more of them, else 0."""
        if is_answered:
            self._answered_at, self._n_unanswered = time.monotonic(), 0
        elif asked_at >= self._answered_at:
            self._n_unanswered += 1
        n_enough = N_HANGS if self._answered_at == -math.inf else N_FAILURES
        return self._n_unanswered if self._n_unanswered >= n_enough else 0

    def _is_working(self) -> bool:
        latest = time.monotonic() - WORKING_S
        return any(since < latest for since in list(self._awaited.values()))
