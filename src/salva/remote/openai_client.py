"""The OpenAI kit, set up for any endpoint that speaks its API: no retries of its own, its errors in our words."""

from __future__ import annotations

import json
import os
import weakref
from typing import TYPE_CHECKING

from salva.core.addresses import plain_address
from salva.core.secrets import cut
from salva.errors import MissingExtraError, SalvaError
from salva.remote.endpoint import guarding
from salva.remote.errors import failed, http_error, invalid, key_and_url, unreachable

if TYPE_CHECKING:
    from openai import OpenAI

KEY_VARIABLE = "OPENAI_API_KEY"
BASE_URL_VARIABLE = "OPENAI_BASE_URL"
OWN_URL = "https://api.openai.com/v1"
_N_SHOWN = 100


def address(base_url: str, label: str) -> str:
    """Where a client connects to, as keys know it: the user's label, or the address in use."""
    return label or plain_address(base_url or os.environ.get(BASE_URL_VARIABLE, "") or OWN_URL)


def connect(name: str, base_url: str, timeout_s: float) -> OpenAI:
    """A client of an endpoint; the key comes from the environment alone.

    name: the component, for messages. base_url: empty for OPENAI_BASE_URL, and without that OpenAI's own.
    """
    try:
        # The kit looks for this module by name and would use one that another thread is still importing.
        import httpx  # noqa: F401
        from openai import DefaultHttpxClient, OpenAI
    except ImportError as error:
        raise MissingExtraError(name, "api") from error
    key, url = key_and_url(name, [KEY_VARIABLE], BASE_URL_VARIABLE, base_url, OWN_URL)
    # Retries belong to the executor, which sees every component's failures and the run's limits.
    client = DefaultHttpxClient(timeout=timeout_s, event_hooks=guarding(name))
    kit = OpenAI(api_key=key, base_url=url, timeout=timeout_s, max_retries=0, http_client=client)
    # A kit that nobody closed closes only the connections it made itself, and these are ours.
    weakref.finalize(kit, client.close)
    return kit


def translate(name: str, error: Exception) -> SalvaError:
    """An exception of the kit as one of ours."""
    import openai

    if isinstance(error, openai.APIStatusError):
        # The code often says more than the message: "moderation_blocked", "insufficient_quota".
        message = f"{error.message} ({error.code})" if error.code else error.message
        return http_error(name, error.status_code, message, error.response.headers.get("retry-after"))
    if isinstance(error, openai.APIConnectionError):
        cause = error.__cause__
        if isinstance(cause, SalvaError):
            return cause
        return unreachable(name, str(error.request.url), cause if isinstance(cause, Exception) else error)
    if isinstance(error, json.JSONDecodeError):
        return invalid(name, repr(cut(error.doc.strip(), _N_SHOWN)), "JSON as OpenAI's API does; check the base URL")
    return failed(name, error)
