"""Plain HTTP requests: JSON in, JSON or bytes out, their errors in our words.

Nothing larger than a picture could be is ever read, and a redirect never carries a key elsewhere.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from salva.core.fingerprint import Json
from salva.core.secrets import cut
from salva.errors import BackendError, MissingExtraError, UnusableError, UsageError
from salva.remote.errors import http_error, unreachable
from salva.remote.urls import shown, strange_network

if TYPE_CHECKING:
    import httpx

MAX_BYTES = 256 * 2**20
"""More than any picture of the largest size that is read, written as text."""

_PACKED = ("gzip", "deflate")
"""How an answer may be packed, once. Others, and several at once, turn kilobytes into gigabytes within one step."""
_UNPACKED = (*_PACKED, "br", "zstd")
"""What the client would unpack; it passes over all other names, such as aws-chunked."""
_ASKED = {"Accept-Encoding": ", ".join(_PACKED)}

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
            headers={**_ASKED, **(headers or {})},
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


def download(name: str, url: str, timeout_s: float, endpoint: str) -> bytes:
    """The bytes behind a URL that an endpoint named as its answer; sent without any key.

    endpoint: its own address. Neither the URL nor a redirect leads to a network that it has no business naming.
    """
    try:
        import httpx
    except ImportError as error:
        raise MissingExtraError(name, "api") from error

    def check(there: str) -> None:
        if not there.startswith(("http://", "https://")):
            raise BackendError(f"{name} answered with the address {cut(there, 120)!r}, which cannot be fetched", False)
        if network := strange_network(there, endpoint):
            raise UnusableError(
                f"{name} says that its picture is at {cut(shown(there), 120)!r}, which is a {network} address as seen "
                "from here and none of its own; nothing was fetched. If it is the endpoint's own, give that address as "
                "base_url; if it can send the picture itself, ask for that with --set model.answer=b64_json"
            )

    where = url.partition("?")[0]
    try:
        # Whatever is fetched on the way is bounded too.
        hooks: dict[str, list[Callable[[Any], None]]] = {
            "request": [lambda request: check(str(request.url))],
            "response": [lambda answer: _read(answer, name)],
        }
        with httpx.Client(timeout=timeout_s, headers=_ASKED, follow_redirects=True, event_hooks=hooks) as client:
            answer = client.get(url)
            content = answer.content
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
    """The whole answer, or an error before it fills the memory.

    Of an error that is packed otherwise than was asked, that is all it says: what to do about it, its status tells.
    """
    named = answer.headers.get_list("content-encoding", split_commas=True)
    packed = [coding for text in named if (coding := text.strip().lower()) in _UNPACKED]
    if len(packed) > 1 or not {*packed} <= {*_PACKED}:
        said = f"packed its answer as {cut(', '.join(packed), 60)!r}; asked for was {' or '.join(_PACKED)}"
        if not answer.is_error:
            raise BackendError(f"{name} {said}", False)
        answer.close()
        return said.encode()
    parts, n_bytes = [], 0
    for part in answer.iter_bytes():
        n_bytes += len(part)
        if n_bytes > MAX_BYTES:
            raise BackendError(f"{name} answered with more than {MAX_BYTES:,} bytes; no picture is that large", False)
        parts.append(part)
    return b"".join(parts)


def guarding(name: str) -> dict[str, list[Callable[[Any], None]]]:
    """The hooks of a kit's client: no answer fills the memory, and nothing is sent on to another server."""

    def check(answer: httpx.Response) -> None:
        if answer.has_redirect_location:
            here, there = answer.request.url, answer.request.url.join(answer.headers["location"])
            if there.host != here.host or not _is_same_server(here, there):
                where = there.host if there.host != here.host else f"{there.scheme}://{there.netloc.decode('ascii')}"
                raise UnusableError(
                    f"{name} sends what is posted on to {where!r}, where a key and a prompt have no business; if you "
                    "trust that host, name it as the base URL"
                )
        _read(answer, name)

    return {"request": [_ask_for_what_is_read], "response": [check]}


def _is_same_server(here: httpx.URL, there: httpx.URL) -> bool:
    """Whether two addresses of one host are one server; the same under https is, where neither names a port."""
    ways = (here.scheme, here.port), (there.scheme, there.port)
    return ways[0] == ways[1] or ways == (("http", None), ("https", None))


def _ask_for_what_is_read(request: httpx.Request) -> None:
    request.headers.update(_ASKED)


def _read(answer: httpx.Response, name: str) -> None:
    # As reading it would do; whoever reads it finds it read, the client itself before it follows a redirect.
    answer._content = read_at_most(answer, name)


def _said(content: bytes) -> str:
    """What an error's body says: the message inside its JSON where there is one."""
    text = cut(content.decode("utf-8", "replace").strip(), 4000)
    try:
        body = json.loads(content)
    except (ValueError, RecursionError):
        return text
    return cut(json.dumps(body), 1000) if isinstance(body, dict | list) else text
