"""Plain HTTP for endpoints without a kit: JSON in, JSON or bytes out, their errors in our words.

Nothing larger than a picture could be is ever read, and a redirect never carries a key elsewhere.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeAlias

from salva.core.fingerprint import Json
from salva.core.secrets import cut
from salva.errors import BackendError, MissingExtraError, UnusableError, UsageError
from salva.remote.errors import http_error, unreachable

if TYPE_CHECKING:
    import httpx

MAX_BYTES = 256 * 2**20
"""More than any picture of the largest size that is read, written as text."""

_Query: TypeAlias = Mapping[str, str]


class Endpoint:
    """One server; safe to use from many threads."""

    def __init__(
        self,
        name: str,
        base_url: str,
        timeout_s: float,
        *,
        headers: Mapping[str, str] | None = None,
        auth: tuple[str, str] | None = None,
    ) -> None:
        try:
            import httpx
        except ImportError as error:
            raise MissingExtraError(name, "api") from error
        self.name, self.base_url = name, base_url.rstrip("/")
        if not self.base_url.startswith(("http://", "https://")):
            raise UsageError(f"{name}: the base URL is {base_url!r}; it must begin with http:// or https://")
        self._client = httpx.Client(
            timeout=timeout_s,
            headers=dict(headers or {}),
            auth=auth,
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=None),
        )

    def get_json(self, path: str, query: _Query | None = None) -> Json:
        """The JSON at a path."""
        return self._parsed(path, self._read("GET", path, query, None))

    def post_json(self, path: str, body: Json) -> Json:
        """The JSON a path answers to a JSON body."""
        return self._parsed(path, self._read("POST", path, None, body))

    def get_bytes(self, path: str, query: _Query | None = None) -> bytes:
        """The bytes at a path."""
        return self._read("GET", path, query, None)

    def close(self) -> None:
        """Close the connections; safe to call twice."""
        self._client.close()

    def _read(self, method: str, path: str, query: _Query | None, body: Json) -> bytes:
        import httpx

        url = f"{self.base_url}{path}"
        try:
            with self._client.stream(method, url, params=query, json=body if method == "POST" else None) as answer:
                content = read_at_most(answer, self.name)
                if answer.status_code != 200:
                    raise http_error(self.name, answer.status_code, _said(content), answer.headers.get("retry-after"))
                return content
        except httpx.TransportError as error:
            raise unreachable(self.name, self.base_url, error) from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise BackendError(f"{self.name}: {type(error).__name__}: {error}", is_retryable=False) from error

    def _parsed(self, path: str, content: bytes) -> Json:
        try:
            parsed: Json = json.loads(content)
        except (ValueError, RecursionError) as error:
            raise BackendError(
                f"{self.name} answered {path} with {cut(_said(content), 120)!r}; it should be JSON", is_retryable=False
            ) from error
        return parsed


def download(name: str, url: str, timeout_s: float) -> bytes:
    """The bytes behind a URL that an endpoint named as its answer; sent without any key."""
    try:
        import httpx
    except ImportError as error:
        raise MissingExtraError(name, "api") from error
    if not url.startswith(("http://", "https://")):
        raise BackendError(f"{name} answered with the address {cut(url, 120)!r}, which cannot be fetched", False)
    where = url.partition("?")[0]
    try:
        with httpx.stream("GET", url, timeout=timeout_s, follow_redirects=True) as answer:
            content = read_at_most(answer, name)
            if answer.status_code != 200:
                # Not the endpoint's own answer: 403 or 404 here says nothing about its key or its model.
                said = cut(_said(content), 120)
                raise BackendError(
                    f"{name} painted a picture, but {where} answered {answer.status_code}: {said!r}",
                    is_retryable=answer.status_code >= 500 or answer.status_code == 429,
                )
            return content
    except httpx.TransportError as error:
        raise unreachable(name, where, error) from error
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise BackendError(f"{name}: {type(error).__name__}: {error}", is_retryable=False) from error


def read_at_most(answer: httpx.Response, name: str) -> bytes:
    """The whole answer, or an error before it fills the memory."""
    parts, n_bytes = [], 0
    for part in answer.iter_bytes():
        n_bytes += len(part)
        if n_bytes > MAX_BYTES:
            raise BackendError(f"{name} answered with more than {MAX_BYTES:,} bytes; no picture is that large", False)
        parts.append(part)
    return b"".join(parts)


def guarding(name: str) -> dict[str, list[Callable[[httpx.Response], None]]]:
    """The hooks of a kit's client: no answer fills the memory, and what is posted is not sent on to another host."""

    def check(answer: httpx.Response) -> None:
        where = answer.headers.get("location")
        if answer.is_redirect and where and answer.request.method == "POST":
            host = answer.request.url.join(where).host
            if host != answer.request.url.host:
                raise UnusableError(
                    f"{name} sends what is posted on to {host!r}, where a key and a prompt have no business; if you "
                    "trust that host, name it as the base URL"
                )
        if not answer.is_redirect:
            # As reading it would do; the kit finds it read.
            answer._content = read_at_most(answer, name)

    return {"response": [check]}


def _said(content: bytes) -> str:
    """What an error's body says: the message inside its JSON where there is one."""
    text = cut(content.decode("utf-8", "replace").strip(), 4000)
    try:
        body = json.loads(content)
    except (ValueError, RecursionError):
        return text
    return cut(json.dumps(body), 1000) if isinstance(body, dict | list) else text
