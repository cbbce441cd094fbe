"""The Anthropic kit, set up for its own or a compatible endpoint: no retries of its own, its errors in our words."""

from __future__ import annotations

import os
import weakref
from typing import TYPE_CHECKING

from salva.core.addresses import plain_address
from salva.errors import MissingExtraError, SalvaError
from salva.remote.endpoint import guarding
from salva.remote.errors import failed, http_error, key_and_url, unreachable

if TYPE_CHECKING:
    from anthropic import Anthropic

KEY_VARIABLE = "ANTHROPIC_API_KEY"
BASE_URL_VARIABLE = "ANTHROPIC_BASE_URL"
OWN_URL = "https://api.anthropic.com"


def address(base_url: str, label: str) -> str:
    """Where a client connects to, as keys know it: the user's label, or the address in use."""
    return label or plain_address(base_url or os.environ.get(BASE_URL_VARIABLE, "") or OWN_URL)


def connect(name: str, base_url: str, timeout_s: float) -> Anthropic:
    """A client of an endpoint; the key comes from the environment alone.

    name: the component, for messages. base_url: empty for ANTHROPIC_BASE_URL, and without that Anthropic's own.
    """
    try:
        from anthropic import Anthropic, DefaultHttpxClient
    except ImportError as error:
        raise MissingExtraError(name, "api") from error
    key, url = key_and_url(name, [KEY_VARIABLE], BASE_URL_VARIABLE, base_url, OWN_URL)
    # Retries belong to the executor, which sees every component's failures and the run's limits.
    client = DefaultHttpxClient(timeout=timeout_s, event_hooks=guarding(name))
    kit = Anthropic(api_key=key, base_url=url, timeout=timeout_s, max_retries=0, http_client=client)
    # A kit that nobody closed closes only the connections it made itself, and these are ours.
    weakref.finalize(kit, client.close)
    return kit


def translate(name: str, error: Exception) -> SalvaError:
    """An exception of the kit as one of ours."""
    import anthropic

    if isinstance(error, anthropic.APIStatusError):
        return http_error(name, error.status_code, _message(error), error.response.headers.get("retry-after"))
    if isinstance(error, anthropic.APIConnectionError):
        cause = error.__cause__
        if isinstance(cause, SalvaError):
            return cause
        return unreachable(name, str(error.request.url), cause if isinstance(cause, Exception) else error)
    return failed(name, error)


def _message(error: Exception) -> str:
    """The endpoint's own words: {"type": "error", "error": {"type": ..., "message": ...}}."""
    body = getattr(error, "body", None)
    inner = body.get("error") if isinstance(body, dict) else None
    if isinstance(inner, dict) and inner.get("message"):
        return f"{inner.get('type', 'error')}: {inner['message']}"
    return str(error)
