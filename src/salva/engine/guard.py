"""Contains components that misbehave: the one broad except.

A batch goes in, one outcome per element comes out: what was asked for, or a BackendError. What
can be tried again is tried again, within bounds. What no element can survive (a component that
is broken, unusable or misused, an endpoint that is down) is raised and stops the run. No message
keeps a secret's value.
"""

from __future__ import annotations

import math
import random
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import TypeVar

from salva.core.foreign_errors import describe_error, plugin_errors
from salva.core.image import AnyPicture
from salva.core.memory import Reservation
from salva.core.observation import Answer, Detections, Reading, Vector
from salva.core.plan import Binding
from salva.core.protocols import ObserveRequest, Rendered, RenderRequest, Ticket
from salva.core.secrets import redact
from salva.core.threads import start_thread
from salva.engine.budget import COST, is_free, usage_of
from salva.engine.endpoint_health import EndpointHealth
from salva.engine.limiter import Limiter, Permit, is_busy
from salva.errors import (
    BackendError,
    DownError,
    LostError,
    PluginError,
    RefusedError,
    SalvaError,
    UnknownError,
    UnreachableError,
    UnusableError,
    UsageError,
)
from salva.messages import Message, message, text_of

N_RETRIES = 4
N_UNKNOWN_RETRIES = 2
"""Of a request that may have been served, where that costs nothing."""
N_BUSY_RETRIES = 12
"""More than for other failures: a busy endpoint is healthy, and its lane eases off meanwhile."""
TOTAL_RETRY_S = 120.0
FIRST_DELAY_S = 0.5
LONGEST_DELAY_S = 15.0

MOST_BOXES = 10_000
"""Of one image: checks compare each box with each other."""
_OVER = 0.02
"""By so much of the image a box may stick out: networks guess edges, and one over the rim is no other unit."""
_NO_GROWTH = BackendError("no answer")
_SHORTEST_JOIN_S = 0.05

Requests = Sequence[RenderRequest] | Sequence[ObserveRequest]
_T = TypeVar("_T")


def build(binding: Binding) -> object:
    """The working component; whatever its constructor raises leaves as one of our errors."""
    try:
        with plugin_errors(f"the {binding.role} {binding.label!r}", "cannot be built"):
            return binding.build()
    except SalvaError as error:
        raise _clean(error) from None


class Guard:
    """A component's one method, made safe to call."""

    def __init__(
        self,
        binding: Binding,
        call: Callable[[Requests], object],
        *,
        timeout_s: float | None = None,
        stopping: threading.Event | None = None,
        limiter: Limiter | None = None,
    ) -> None:
        self._name = f"the {binding.role} {binding.label!r}"
        self._wanted = (Rendered, Ticket) if binding.role == "model" else (Detections, Reading, Answer, Vector)
        self._is_free = is_free(binding)
        self._call = call
        self._timeout_s = timeout_s
        self._stopping = stopping or threading.Event()
        self._limiter = limiter
        self._largest_answer = 0
        """Bytes, with its copies."""
        self._health = EndpointHealth()
        self._end: SalvaError | None = None
        """What stopped an endpoint's lane for good."""
        self._end_again: DownError | None = None
        """Why nothing more is asked that failed before."""

    def __call__(self, requests: Requests) -> Sequence[object]:
        """One outcome per request: the thing itself, or a BackendError."""
        outcomes: list[object] = [None] * len(requests)
        try:
            self._try_all(requests, outcomes)
        except BackendError as error:
            raise _with_costs_of(outcomes, error) from None
        return outcomes

    def _try_all(self, requests: Requests, outcomes: list[object]) -> None:
        """Ask until every request has an outcome in its place, or what no request survives is raised."""
        todo = list(range(len(requests)))
        asked_at = began = time.monotonic()
        attempt = 0
        while True:
            arrived = time.monotonic()
            permit = self._limiter.begin(is_again=attempt > 0) if self._limiter else None
            # Waiting for a place is no trouble with this request and does not count against it.
            began += time.monotonic() - arrived
            asked_at = time.monotonic() if attempt == 0 else asked_at
            for index, outcome in zip(todo, self._with_permit([requests[i] for i in todo], permit), strict=True):
                outcomes[index] = _with_costs_of([outcomes[index]], outcome)
            todo = [i for i in todo if _is_tried_again(outcomes[i], attempt)]
            if not todo or self._stopping.is_set():
                break
            failed = [outcomes[i] for i in todo]
            pause_s, asked_s = _pause(attempt), _asked(failed)
            is_patient = self._limiter is not None and all(is_busy(outcome) for outcome in failed)
            is_late = time.monotonic() - began + max(pause_s, asked_s) > TOTAL_RETRY_S
            if is_late or attempt == (N_BUSY_RETRIES if is_patient else N_RETRIES):
                break
            # What an endpoint asks for, the limiter makes everyone wait.
            stop = self._limiter.rest(pause_s) if self._limiter else self._stopping.wait(max(pause_s, asked_s))
            if stop:
                break
            attempt += 1
        if not self._stopping.is_set():
            self._check_alive(requests, outcomes, asked_at)

    def _with_permit(self, requests: list[RenderRequest | ObserveRequest], permit: Permit | None) -> Sequence[object]:
        """One attempt; at an endpoint, on the place it was given."""
        if self._limiter is None:
            return self._attempt(requests)
        if permit is None:
            return [BackendError(message("not-asked", component=self._name))] * len(requests)
        outcomes: Sequence[object] = [_NO_GROWTH]
        try:
            # Somebody else has learnt that nobody can be served; nothing more is sent, or paid for.
            if self._end is not None:
                raise self._end
            if self._end_again is not None and all(request.failed_before for request in requests):
                raise self._end_again
            with self._health.awaiting():
                outcomes = self._attempt(requests)
        except SalvaError as error:
            if error is not self._end_again:
                # It is raised for others too, and was paid for once.
                self._end = _free(error)
            raise
        finally:
            self._limiter.end(permit, outcomes)
        asked_s = _asked(outcomes)
        if asked_s > TOTAL_RETRY_S:
            busy = next(o for o in outcomes if isinstance(o, BackendError) and o.retry_after_s == asked_s)
            values = {"component": self._name, "seconds": asked_s, "why": text_of(busy)}
            self._end = UnusableError(message("endpoint-busy", **values))
            raise _with_costs_of(outcomes, self._end)
        return outcomes

    def _check_alive(self, requests: Requests, outcomes: Sequence[object], asked_at: float) -> None:
        """Stop when nothing comes back from an endpoint any more, instead of failing case by case."""
        for index, outcome in enumerate(outcomes):
            is_silent = isinstance(outcome, _SilenceError)
            if not isinstance(outcome, BackendError) or isinstance(outcome, RefusedError):
                self._health.served()
            elif self._limiter is None and not is_silent:
                # What is no endpoint may fail for every case, as long as it says so.
                self._health.served()
            elif requests[index].failed_before:
                is_unanswered = isinstance(outcome, UnknownError) and not outcome.is_answered
                is_answered = not (is_silent or is_unanswered or isinstance(outcome, UnreachableError))
                if n := self._health.failed_again(asked_at, is_answered=is_answered):
                    self._end_again = self._end_again or self._down(n, outcome)
            elif n := self._health.failed(
                asked_at, is_lost=outcome.is_retryable, is_tried_once=is_silent or isinstance(outcome, UnknownError)
            ):
                self._end = self._down(n, outcome)
                raise self._end

    def _down(self, n: int, last: BackendError) -> DownError:
        return DownError(message("endpoint-down", component=self._name, n=n, why=text_of(last)))

    def _attempt(self, requests: list[RenderRequest | ObserveRequest]) -> Sequence[object]:
        try:
            answered = self._watched(requests)
        except BackendError as error:
            if isinstance(error, UnusableError):
                raise _clean(error) from None
            return [_clean(error)] * len(requests)
        except SalvaError as error:
            raise _clean(error) from None
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            if len(requests) > 1:
                # Nobody said which element it was: one at a time, the others need not suffer for it.
                return [outcome for request in requests for outcome in self._attempt([request])]
            values = {"component": self._name, "what": "failed", "why": describe_error(error)}
            return [BackendError(message("component-failed", **values), is_retryable=False)]
        return [self._free_of_charge(outcome) for outcome in self._checked(answered, requests)]

    def _free_of_charge(self, outcome: object) -> object:
        """What may have been billed can be asked again where nothing is ever billed."""
        if not self._is_free or not isinstance(outcome, UnknownError) or outcome.is_retryable:
            return outcome
        outcome = copy(outcome)
        outcome.is_retryable = True
        return outcome

    def _checked(self, answered: object, requests: Sequence[RenderRequest | ObserveRequest]) -> Sequence[object]:
        n_wanted = len(requests)
        if not isinstance(answered, Sequence) or len(answered) != n_wanted:
            got = f"{len(answered)} outcomes" if isinstance(answered, Sequence) else f"a {type(answered).__name__}"
            raise PluginError(self._invalid(got, f"{n_wanted} outcomes, one for each request"))
        outcomes: list[object] = []
        for request, outcome in zip(requests, answered, strict=True):
            if isinstance(outcome, UnusableError | UsageError | PluginError):
                raise _clean(outcome)
            if isinstance(outcome, SalvaError):
                outcomes.append(_clean(outcome))
            elif isinstance(outcome, Rendered) and not isinstance(outcome.picture, AnyPicture):
                given = f"a Rendered with a {type(outcome.picture).__name__} as its picture"
                raise PluginError(self._invalid(given, "a Picture"))
            elif isinstance(outcome, Detections) and (odd := _invalid_box(outcome)) is not None:
                outcomes.append(BackendError(self._invalid(*odd), is_retryable=False))
            elif isinstance(outcome, self._wanted) and not (isinstance(outcome, Ticket) and _is_fetch(request)):
                outcomes.append(outcome)
            else:
                wanted = ", ".join(kind.__name__ for kind in self._wanted)
                raise PluginError(self._invalid(f"a {type(outcome).__name__}", f"a SalvaError or one of {wanted}"))
        return outcomes

    def _invalid(self, given: str, wanted: str) -> Message:
        return message("output-invalid", component=self._name, given=given, wanted=wanted)

    def _watched(self, requests: list[RenderRequest | ObserveRequest]) -> object:
        """The call itself; where a time limit is set, in a thread that is left behind when it hangs."""
        reservation = Reservation(is_observing=Rendered not in self._wanted, stopping=self._stopping)

        def call() -> object:
            with reservation.under_way():
                if self._limiter is not None and not reservation.begin(self._largest_answer):
                    raise BackendError(message("not-asked", component=self._name))
                try:
                    return self._call(requests)  # type: ignore[arg-type]  # a list of either kind
                finally:
                    self._largest_answer = max(self._largest_answer, reservation.largest)

        if self._timeout_s is None:
            return call()
        box: list[object] = []
        problem: list[BaseException] = []

        def target() -> None:
            try:
                box.append(call())
            except BaseException as error:
                problem.append(error)

        thread = start_thread(target, f"a call to {self._name}")
        deadline = time.monotonic() + self._timeout_s
        # Waiting for room to put an answer is no fault of whoever gave it.
        while thread.is_alive() and (left_s := deadline + reservation.waited_s() - time.monotonic()) > 0:
            thread.join(max(left_s, _SHORTEST_JOIN_S))
        if problem:
            raise problem[0]
        if not box:
            # Not tried again at once: a call that hangs once would cost the whole time limit again.
            silence = _SilenceError(
                message("no-answer", component=self._name, why=f"{self._timeout_s:g} s"), is_retryable=False
            )
            is_paid = self._limiter is not None and not self._is_free and not any(map(_is_fetch, requests))
            raise _PaidSilenceError(message("maybe-paid", why=text_of(silence).rstrip("."))) if is_paid else silence
        return box[0]


class _SilenceError(BackendError):
    """No answer within the time limit."""


class _PaidSilenceError(UnknownError, _SilenceError):
    """No answer within the time limit to what is paid."""

    is_answered = False


def _is_fetch(request: RenderRequest | ObserveRequest) -> bool:
    return isinstance(request, RenderRequest) and request.ticket is not None


def _is_tried_again(outcome: object, attempt: int) -> bool:
    """Whether one more attempt may help; attempt: how many there were before the last."""
    if not isinstance(outcome, BackendError) or not outcome.is_retryable or isinstance(outcome, LostError):
        return False
    return not isinstance(outcome, UnknownError) or attempt < N_UNKNOWN_RETRIES


def _pause(attempt: int) -> float:
    return min(LONGEST_DELAY_S, FIRST_DELAY_S * 2.0**attempt) * random.uniform(0.5, 1.0)


def _invalid_box(seen: Detections) -> tuple[str, str] | None:
    """What no check can use, and what it should be: too many boxes, a score that is no number, a box off the image."""
    if len(seen.boxes) > MOST_BOXES:
        return f"{len(seen.boxes)} boxes", f"at most {MOST_BOXES} of an image"
    for box in seen.boxes:
        if not _is_number(box.score):
            return f"a box {box.label!r} with the score {box.score!r}", "numbers as scores"
        if not _is_inside(box.box):
            return f"a box {box.label!r} with the corners {box.box!r}", "x0, y0, x1, y1 as fractions of the image"
    return None


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)


def _is_inside(corners: Sequence[float]) -> bool:
    if len(corners) != 4 or not all(_is_number(edge) for edge in corners):
        return False
    x0, y0, x1, y1 = corners
    return all(-_OVER <= low < high <= 1 + _OVER for low, high in ((x0, x1), (y0, y1)))


def _with_costs_of(before: Sequence[object], outcome: _T) -> _T:
    """The outcome of an attempt, with what those before it cost: answers without a result were paid for as well."""
    spent: dict[str, float] = {}
    for earlier in before:
        spent = _sum(spent, usage_of(earlier))
    if not spent:
        return outcome
    if isinstance(outcome, Rendered | Ticket):
        said = outcome.provenance.get(COST)
        cost = spent.get(COST, 0.0) + (said if isinstance(said, int | float) else 0.0)
        return replace(outcome, provenance={**outcome.provenance, COST: cost})
    if isinstance(outcome, Answer | Reading):
        return replace(outcome, usage=_sum(outcome.usage, spent))
    if isinstance(outcome, BackendError):
        # The component may hand out one error again and again.
        outcome = copy(outcome)
        outcome.usage = _sum(outcome.usage, spent)
    return outcome


def _free(error: SalvaError) -> SalvaError:
    """The same error for somebody who paid nothing for it."""
    if isinstance(error, BackendError) and error.usage:
        error = copy(error)
        error.usage = {}
    return error


def _sum(one: Mapping[str, float], other: Mapping[str, float]) -> dict[str, float]:
    return {name: one.get(name, 0.0) + other.get(name, 0.0) for name in {**one, **other}}


def _asked(outcomes: Sequence[object]) -> float:
    """How long the endpoint asks to wait."""
    asked = [e.retry_after_s for e in outcomes if isinstance(e, BackendError) and e.retry_after_s is not None]
    return max(asked, default=0.0)


def _clean(error: SalvaError) -> SalvaError:
    """The same error, or one with the same meaning whose message keeps no secret; no answer lives on behind it."""
    # Frames and the errors of parsers refer to the whole answer.
    error.__traceback__ = error.__cause__ = error.__context__ = None
    safe = Message(redact(str(error)), error.code)
    if safe == str(error):
        return error
    if isinstance(error, BackendError):
        fresh = type(error)(safe)
        vars(fresh).update({**vars(error), "message": safe})
        return fresh
    for kind in (UsageError, PluginError):
        if isinstance(error, kind):
            return kind(safe)
    return type(error)(safe)
