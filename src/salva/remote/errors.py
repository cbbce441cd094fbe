"""Responses to errors: try again, give this one up, or stop.

One table for every endpoint, by HTTP status and the words of the answer. A request that costs nothing is repeated. One
that is paid is repeated only where it was not served: it was not sent, or the endpoint asks to come back later. Knows
no library.
"""

from __future__ import annotations

import email.utils
import math
import time

from salva.core.secrets import cut
from salva.errors import (
    BackendError,
    BusyError,
    RefusedError,
    SalvaError,
    UnknownError,
    UnreachableError,
    UnusableError,
)
from salva.messages import message, text_of
from salva.remote.urls import shown

_N_SHOWN = 300
# "billing" alone would not do: being told to slow down often comes with a link to the page where one can pay for more.
_QUOTA = (
    "insufficient_quota",
    "billing_hard_limit",
    "billing hard limit",
    "exceeded your current quota",
    "credit balance",
    "payment required",
)
_NO_ANSWER = ("ReadTimeout", "WriteTimeout", "TimeoutError", "APITimeoutError")
_UNSENT = frozenset(
    ("ConnectError", "ConnectTimeout", "PoolTimeout", "ProxyError", "UnsupportedProtocol", "LocalProtocolError")
)
"""Exceptions of HTTP libraries that come before a request is sent; httpx and its fork share their names."""
_WRONG_KEY = ("api_key_invalid", "api key not valid", "invalid_api_key")
_POLICY = ("content_policy", "content policy", "moderation", "safety", "responsible ai", "prohibited", "image_policy")
_OVERLOADED = (503, 529)


def http_error(
    name: str,
    status: int,
    said: str,
    retry_after: str | None = None,
    *,
    is_free: bool = False,
    is_unbilled: bool = False,
) -> SalvaError:
    """The error of an answer that is no answer.

    name: how the component is called, such as "openai/gpt-image-1". retry_after: that header's value. is_free: whether
    the request costs nothing, such as a download. is_unbilled: whether the service documents that it does not bill this
    answer.
    """
    words = said.lower()
    values = {"component": name, "status": status, "why": cut(said.strip(), _N_SHOWN) or "nothing"}
    is_key_wrong = status == 400 and any(word in words for word in _WRONG_KEY)
    if is_key_wrong or (status in (401, 403) and not any(word in words for word in _POLICY)):
        return UnusableError(message("key-refused", **values))
    if status == 402 or any(word in words for word in _QUOTA):
        return UnusableError(message("credit-used-up", **values))
    if status == 404:
        return UnusableError(message("model-not-found", **values))
    wait_s = seconds_to_wait(retry_after)
    if status == 429 or (status in _OVERLOADED and (is_free or wait_s is not None)):
        return busy(name, status, said, retry_after)
    if 400 <= status < 500 and any(word in words for word in _POLICY):
        return RefusedError(message("request-refused", **values))
    is_retryable = status >= 500
    failure = BackendError(message("request-failed", **values), is_retryable, wait_s if is_retryable else None)
    return maybe_paid(failure, is_unbilled=is_unbilled) if is_retryable and not is_free else failure


def maybe_paid(failure: BackendError, *, is_answered: bool = True, is_unbilled: bool = False) -> UnknownError:
    """The error of a request that was sent and may be billed for all that is known."""
    error = UnknownError(message("maybe-paid", why=text_of(failure).rstrip(".")), is_retryable=is_unbilled)
    error.is_answered = is_answered
    return error


def busy(name: str, status: int, said: str, retry_after: str | None) -> BusyError:
    """The error of an endpoint that asks for fewer requests."""
    values = {"component": name, "status": status, "why": cut(said.strip(), _N_SHOWN) or "nothing"}
    return BusyError(message("request-failed", **values), retry_after_s=seconds_to_wait(retry_after))


def invalid(name: str, given: str, wanted: str) -> BackendError:
    """The error of an answer that cannot be used."""
    return BackendError(message("output-invalid", component=name, given=given, wanted=wanted), is_retryable=False)


def failed(name: str, error: Exception) -> BackendError:
    """An exception that says nothing about the endpoint."""
    why = f"{type(error).__name__}: {error}"
    return BackendError(message("component-failed", component=name, what="failed", why=why), is_retryable=False)


def unreachable(name: str, where: str, error: Exception, *, is_free: bool = False) -> BackendError:
    """The error of a request that got no answer, or half of one; is_free: as for http_error."""
    kind = type(error).__name__
    if kind in _NO_ANSWER:
        text = message("no-answer", component=f"{name} at {shown(where)}", why=kind)
    else:
        values = {"component": name, "address": shown(where), "why": f"{kind}: {error}"}
        text = message("endpoint-unreachable", **values)
    failure = UnreachableError(text)
    is_unsent = any(parent.__name__ in _UNSENT for parent in type(error).__mro__)
    return failure if is_free or is_unsent else maybe_paid(failure, is_answered=False)


def seconds_to_wait(retry_after: str | None) -> float | None:
    """What a Retry-After header asks for: seconds, or a date; None for anything else."""
    if not retry_after:
        return None
    try:
        seconds = float(retry_after)
    except ValueError:
        try:
            seconds = email.utils.parsedate_to_datetime(retry_after).timestamp() - time.time()
        except (ValueError, TypeError, OverflowError, OSError):
            return None
    return max(0.0, seconds) if math.isfinite(seconds) else None
