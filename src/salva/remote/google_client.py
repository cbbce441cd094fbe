"""The Google GenAI kit, set up for its own or a compatible endpoint: no retries of its own, its errors in our words."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from salva.core.addresses import plain_address
from salva.errors import MissingExtraError, SalvaError
from salva.remote.endpoint import guarding
from salva.remote.errors import busy, failed, http_error, key_and_url, unreachable

if TYPE_CHECKING:
    from google.genai import Client
    from google.genai.errors import APIError

KEY_VARIABLES = ("GEMINI_API_KEY", "GOOGLE_API_KEY")
BASE_URL_VARIABLE = "GEMINI_BASE_URL"
OWN_URL = "https://generativelanguage.googleapis.com"

_RETRY_DELAY = re.compile(r"'retryDelay': '(\d+(?:\.\d+)?)s'")


def address(base_url: str, label: str) -> str:
    """Where a client connects to, as keys know it: the user's label, or the address in use."""
    return label or plain_address(base_url or os.environ.get(BASE_URL_VARIABLE, "") or OWN_URL)


def connect(name: str, base_url: str, timeout_s: float) -> Client:
    """A client of an endpoint; the key comes from the environment alone.

    name: the component, for messages. base_url: empty for GEMINI_BASE_URL, and without that Google's own.
    """
    try:
        from google.genai import Client
        from google.genai.types import HttpOptions, HttpRetryOptions
    except ImportError as error:
        raise MissingExtraError(name, "api") from error
    key, url = key_and_url(name, KEY_VARIABLES, BASE_URL_VARIABLE, base_url, OWN_URL)
    # Retries belong to the executor, which sees every component's failures and the run's limits.
    # The base URL is always said, so that nothing else in the environment can redirect the key.
    http = HttpOptions(
        base_url=url,
        timeout=round(timeout_s * 1000),
        retry_options=HttpRetryOptions(attempts=1),
        client_args={"event_hooks": guarding(name)},
    )
    return Client(vertexai=False, api_key=key, http_options=http)


def translate(name: str, error: Exception) -> SalvaError:
    """An exception of the kit as one of ours."""
    from google.genai.errors import APIError

    if isinstance(error, APIError):
        return _answered(name, int(error.code or 500), error)
    if any(kind.__name__ == "TransportError" for kind in type(error).__mro__):
        # The kit sends by httpx or its fork, whichever is installed; their exceptions share names and nothing else.
        return unreachable(name, _address(error), error)
    return failed(name, error)


def _answered(name: str, status: int, error: APIError) -> SalvaError:
    words = " ".join(str(part) for part in (error.status, error.message) if part) or str(error.details)
    headers = getattr(error.response, "headers", None) or {}
    retry_after = headers.get("retry-after") or _retry_delay(str(error.details))
    if status == 429 and retry_after:
        # Requests a minute and an empty account share their words; only the former says when to come back.
        return busy(name, status, words, retry_after)
    return http_error(name, status, words, retry_after)


def _retry_delay(details: str) -> str | None:
    delay = _RETRY_DELAY.search(details)
    return delay.group(1) if delay else None


def _address(error: Exception) -> str:
    try:
        return str(getattr(error, "request", None).url).partition("?")[0]  # type: ignore[union-attr]  # either kit's
    except (AttributeError, RuntimeError):  # it never came to a request
        return "its endpoint"
