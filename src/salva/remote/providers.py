"""The kits of OpenAI, Anthropic and Google, each set up for its own or a compatible endpoint.

Retries belong to the executor, which sees every component's failures and the run's limits: the kits make none. Their
errors leave as ours.
"""

from __future__ import annotations

import json
import os
import re
import weakref
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

from salva.core.addresses import KeyUse, plain_address
from salva.core.foreign_errors import translate_errors
from salva.core.secrets import cut
from salva.errors import MissingExtraError, SalvaError, UsageError
from salva.messages import message
from salva.remote.endpoint import Hooks, guarding
from salva.remote.errors import busy, failed, http_error, invalid, unreachable
from salva.remote.keys import key_for
from salva.remote.urls import server_of

if TYPE_CHECKING:
    from anthropic import Anthropic as AnthropicKit
    from google.genai import Client as GoogleKit
    from openai import OpenAI as OpenAiKit

_N_SHOWN = 100
_RETRY_DELAY = re.compile(r"'retryDelay': '(\d+(?:\.\d+)?)s'")


class Provider(ABC):
    """A maker of models and its kit; the key comes from the environment alone."""

    name: ClassVar[str]
    keys: ClassVar[tuple[str, ...]]
    """The variables that may hold the key."""
    url_variable: ClassVar[str]
    """The variable that may name another endpoint."""
    own_url: ClassVar[str]
    key_headers: ClassVar[tuple[str, ...]]
    """The headers that may carry the key."""
    other_headers: ClassVar[tuple[str, ...]] = ()
    """Headers that the kit fills from the environment, for the provider's own server alone."""

    def address(self, base_url: str, label: str) -> str:
        """Where a client connects to, as keys know it: the user's label, or the address in use."""
        return label or plain_address(self.url(base_url))

    def url(self, base_url: str) -> str:
        """Where a client connects to: the address given, the variable's, or the provider's own."""
        return base_url or os.environ.get(self.url_variable, "") or self.own_url

    def key_use(self, base_url: str, key_env: str, option: str = "key_env") -> KeyUse:
        """The key that a client would send, and where."""
        url = self.url(base_url)
        return KeyUse(url=url, defaults=self.keys, own_url=self.own_url, variable=key_env, option=option)

    def connect(self, name: str, base_url: str, timeout_s: float, key_env: str = "") -> Any:
        """A client of an endpoint; base_url: empty for the variable's, and without that the provider's own.

        name: the component, for messages. key_env: the variable that holds its key. Only the provider's own server
        needs one.
        """
        url = self.url(base_url)
        key = key_for(name, url, key_env, self.keys, self.own_url)
        is_own = server_of(url) == server_of(self.own_url)
        if not key and not key_env and is_own:
            values = {"component": name, "variable": " or ".join(self.keys), "url_variable": self.url_variable}
            raise UsageError(message("key-missing", **values))
        unsent = () if is_own else (*self.other_headers, *_custom_headers(self.name))
        hooks = guarding(name, unsent if key else (*unsent, *self.key_headers))
        try:
            return self._open(key or "none", url, timeout_s, hooks)
        except ImportError as error:
            raise MissingExtraError(name, "api") from error

    def calling(self, name: str) -> translate_errors:
        """Around a call of the kit, which lets the exceptions of parsers and HTTP libraries through."""
        return translate_errors(lambda error: self.translate(name, error))

    @abstractmethod
    def translate(self, name: str, error: Exception) -> SalvaError:
        """An exception of the kit as one of ours."""

    @abstractmethod
    def _open(self, key: str, url: str, timeout_s: float, hooks: Hooks) -> Any:
        """The kit's client."""


class OpenAi(Provider):
    """OpenAI, and every endpoint that speaks its API."""

    name = "openai"
    keys = ("OPENAI_API_KEY",)
    url_variable = "OPENAI_BASE_URL"
    own_url = "https://api.openai.com/v1"
    key_headers = ("authorization",)
    other_headers = ("openai-organization", "openai-project")

    def _open(self, key: str, url: str, timeout_s: float, hooks: Hooks) -> OpenAiKit:
        # The kit looks for this module by name and would use one that another thread is still importing.
        import httpx  # noqa: F401
        from openai import DefaultHttpxClient, OpenAI

        client = DefaultHttpxClient(timeout=timeout_s, event_hooks=hooks)
        kit = OpenAI(api_key=key, base_url=url, timeout=timeout_s, max_retries=0, http_client=client)
        # A kit that nobody closed closes only the connections it made itself, and these are ours.
        weakref.finalize(kit, client.close)
        return kit

    def translate(self, name: str, error: Exception) -> SalvaError:
        """An exception of the kit as one of ours."""
        import openai

        if isinstance(error, openai.APIStatusError):
            # The code often says more than the message: "moderation_blocked", "insufficient_quota".
            words = f"{error.message} ({error.code})" if error.code else error.message
            return http_error(name, error.status_code, words, error.response.headers.get("retry-after"))
        if isinstance(error, openai.APIConnectionError):
            return _no_connection(name, error)
        if isinstance(error, json.JSONDecodeError):
            wanted = "JSON as OpenAI's API does; check the base URL"
            return invalid(name, repr(cut(error.doc.strip(), _N_SHOWN)), wanted)
        return failed(name, error)


class Anthropic(Provider):
    """Anthropic, and every endpoint that speaks its messages API."""

    name = "anthropic"
    keys = ("ANTHROPIC_API_KEY",)
    url_variable = "ANTHROPIC_BASE_URL"
    own_url = "https://api.anthropic.com"
    key_headers = ("x-api-key", "authorization")

    def _open(self, key: str, url: str, timeout_s: float, hooks: Hooks) -> AnthropicKit:
        import anthropic

        client = anthropic.DefaultHttpxClient(timeout=timeout_s, event_hooks=hooks)
        kit = anthropic.Anthropic(api_key=key, base_url=url, timeout=timeout_s, max_retries=0, http_client=client)
        weakref.finalize(kit, client.close)  # as above
        # Some versions take it from the environment, and would send it along.
        kit.auth_token = None
        return kit

    def translate(self, name: str, error: Exception) -> SalvaError:
        """An exception of the kit as one of ours."""
        import anthropic

        if isinstance(error, anthropic.APIStatusError):
            status, words, again = error.status_code, _words_of(error), error.response.headers.get("retry-after")
            # Anthropic documents 529 as its API being overloaded: as 429, the request was turned away.
            return busy(name, status, words, again) if status == 529 else http_error(name, status, words, again)
        if isinstance(error, anthropic.APIConnectionError):
            return _no_connection(name, error)
        return failed(name, error)


class Google(Provider):
    """Google, and every endpoint that speaks its generateContent API."""

    name = "google"
    keys = ("GEMINI_API_KEY", "GOOGLE_API_KEY")
    url_variable = "GEMINI_BASE_URL"
    own_url = "https://generativelanguage.googleapis.com"
    key_headers = ("x-goog-api-key",)

    def _open(self, key: str, url: str, timeout_s: float, hooks: Hooks) -> GoogleKit:
        from google.genai import Client
        from google.genai.types import HttpOptions, HttpRetryOptions

        # The base URL is always said, so that nothing else in the environment can redirect the key.
        http = HttpOptions(
            base_url=url,
            timeout=round(timeout_s * 1000),
            retry_options=HttpRetryOptions(attempts=1),
            client_args={"event_hooks": hooks},
        )
        return Client(vertexai=False, api_key=key, http_options=http)

    def translate(self, name: str, error: Exception) -> SalvaError:
        """An exception of the kit as one of ours."""
        from google.genai.errors import APIError

        if not isinstance(error, APIError):
            # The kit sends by httpx or its fork, whichever is installed; their exceptions share names and nothing else.
            is_transport = any(kind.__name__ == "TransportError" for kind in type(error).__mro__)
            return (
                unreachable(name, _address_of(error) or "its endpoint", error) if is_transport else failed(name, error)
            )
        status, details = int(error.code or 500), str(error.details)
        # https://ai.google.dev/gemini-api/docs/billing: "If your request fails with a 400 or 500 error, you won't be
        # charged for the tokens used." That is Google's word, for its own server.
        is_unbilled = status == 500 and server_of(_address_of(error.response)) == server_of(self.own_url)
        words = " ".join(str(part) for part in (error.status, error.message) if part) or details
        delay = _RETRY_DELAY.search(details)
        headers = getattr(error.response, "headers", None) or {}
        retry_after = headers.get("retry-after") or (delay.group(1) if delay else None)
        if status == 429 and retry_after:
            # Requests a minute and an empty account share their words; only the former says when to come back.
            return busy(name, status, words, retry_after)
        return http_error(name, status, words, retry_after, is_unbilled=is_unbilled)


OPENAI, ANTHROPIC, GOOGLE = OpenAi(), Anthropic(), Google()


def _custom_headers(provider: str) -> tuple[str, ...]:
    """The names of headers that a variable of the kit adds to every request, one on a line."""
    lines = os.environ.get(f"{provider.upper()}_CUSTOM_HEADERS", "").splitlines()
    return tuple(line.partition(":")[0].strip() for line in lines)


def _no_connection(name: str, error: Any) -> SalvaError:
    """What an APIConnectionError means; the kits that have one have the same one."""
    cause = error.__cause__
    if isinstance(cause, SalvaError):
        return cause
    return unreachable(name, str(error.request.url), cause if isinstance(cause, Exception) else error)


def _words_of(error: Any) -> str:
    """Anthropic's own words: {"type": "error", "error": {"type": ..., "message": ...}}."""
    inner = error.body.get("error") if isinstance(error.body, dict) else None
    if isinstance(inner, dict) and inner.get("message"):
        return f"{inner.get('type', 'error')}: {inner['message']}"
    return str(error)


def _address_of(sent: object) -> str:
    """Where the request behind an error or an answer went; empty where it never came to one."""
    try:
        return str(getattr(sent, "request", None).url).partition("?")[0]  # type: ignore[union-attr]  # either kit's
    except (AttributeError, RuntimeError):
        return ""
