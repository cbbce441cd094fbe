"""Plain HTTP requests: JSON in, JSON or bytes out, their errors in our words.

Nothing larger than an image could be is ever read, and a redirect never carries a key elsewhere.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from salva.core.fingerprint import Json
from salva.core.secrets import cut
from salva.errors import BackendError, LostError, MissingExtraError, UnusableError, invalid_option
from salva.messages import message
from salva.remote.bodies import PACKED, read_body
from salva.remote.errors import failed, http_error, invalid, seconds_to_wait, unreachable
from salva.remote.urls import shown, strange_network

if TYPE_CHECKING:
    import httpx

_ASKED = {"Accept-Encoding": ", ".join(PACKED)}

_LONGEST_URL = 2**16
_MOST_HOPS = 9
"""Redirects of one download; with the first request it is ten."""
_MOST_IN_A_ROW = 6
"""Redirects in a row, whichever of a client's requests they answer: four are sent at first, so a loop costs ten."""

_Query: TypeAlias = Mapping[str, str]
Hooks: TypeAlias = dict[str, list[Callable[[Any], None]]]
"""What an HTTP client calls before a request and after an answer."""


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
            raise invalid_option(f"the base URL of {name}", base_url, "one that begins with http:// or https://")
        self._client = httpx.Client(
            timeout=timeout_s,
            headers={**_ASKED, **(headers or {})},
            auth=auth,
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=None),
        )

    def get_json(self, path: str, query: _Query | None = None) -> Json:
        """The JSON at a path."""
        return self._parsed(path, self._read("GET", path, query, None, is_json=True))

    def post_json(self, path: str, body: Json) -> Json:
        """The JSON a path answers to a JSON body."""
        return self._parsed(path, self._read("POST", path, None, body, is_json=True))

    def get_bytes(self, path: str, query: _Query | None = None) -> bytes:
        """The bytes at a path."""
        return self._read("GET", path, query, None, is_json=False)

    def close(self) -> None:
        """Close the connections; safe to call twice."""
        self._client.close()

    def _read(self, method: str, path: str, query: _Query | None, body: Json, *, is_json: bool) -> bytes:
        import httpx

        url, is_free = f"{self.base_url}{path}", method == "GET"
        try:
            with self._client.stream(method, url, params=query, json=None if is_free else body) as answer:
                if answer.has_redirect_location:
                    there = shown(str(answer.request.url.join(answer.headers["location"])))
                    raise UnusableError(message("redirect-refused", component=self.name, address=there))
                content = read_body(answer, self.name, is_json=is_json)
                if answer.status_code != 200:
                    again = answer.headers.get("retry-after")
                    raise http_error(self.name, answer.status_code, _said(content), again, is_free=is_free)
                return content
        except httpx.TransportError as error:
            raise unreachable(self.name, self.base_url, error, is_free=is_free) from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise failed(self.name, error) from error

    def _parsed(self, path: str, content: bytes) -> Json:
        try:
            parsed: Json = json.loads(content)
        except (ValueError, RecursionError) as error:
            raise invalid(self.name, f"{cut(_said(content), 120)!r} for {path}", "JSON") from error
        return parsed


def download(name: str, url: str, timeout_s: float, endpoint: str) -> bytes:
    """The bytes behind a URL that an endpoint named as its answer; sent without any key, and free to repeat.

    endpoint: its own address. Neither the URL nor a redirect leads to a network that it has no business naming.
    LostError where the URL leads to nothing.
    """
    try:
        import httpx
    except ImportError as error:
        raise MissingExtraError(name, "api") from error

    where = url.partition("?")[0]
    try:
        # Whatever is fetched on the way is bounded too.
        hooks: Hooks = {
            "request": [lambda request: check_address(name, str(request.url), endpoint)],
            "response": [lambda answer: _read(answer, name, is_json=False)],
        }
        with httpx.Client(
            timeout=timeout_s, headers=_ASKED, follow_redirects=True, max_redirects=_MOST_HOPS, event_hooks=hooks
        ) as client:
            answer = client.get(url)
            if answer.status_code != 200:
                raise _no_download(f"{name}'s image at {where}", answer)
            return answer.content
    except httpx.TransportError as error:
        raise unreachable(name, where, error, is_free=True) from error
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise failed(name, error) from error


def check_address(name: str, url: str, endpoint: str) -> None:
    """UnusableError where an endpoint has no business naming a URL, LostError where it is none that can be fetched."""
    if not url.startswith(("http://", "https://")) or len(url) > _LONGEST_URL:
        problem = invalid(name, f"the address {cut(url, 120)!r}", "one that begins with http:// or https://")
        raise LostError(problem.args[0])
    if network := strange_network(url, endpoint):
        values = {"component": name, "address": repr(cut(shown(url), 120)), "network": network}
        raise UnusableError(message("address-private", **values))


def _no_download(what: str, answer: httpx.Response) -> BackendError:
    """The error of an image's server; 403 or 404 here says nothing about the endpoint's key or model."""
    status, why = answer.status_code, cut(_said(answer.content), 120)
    if status >= 500 or status == 429:
        text = message("request-failed", component=what, status=status, why=why)
        return BackendError(text, is_retryable=True, retry_after_s=seconds_to_wait(answer.headers.get("retry-after")))
    return LostError(message("image-lost", component=what, why=f"status {status}: {why}"))


def guarding(name: str, unsent: Collection[str] = ()) -> Hooks:
    """The hooks of a kit's client: no answer fills the memory, none is sent on to another server or in circles.

    unsent: headers that no request may carry, wherever the kit has them from.
    """
    n_in_a_row, lock = 0, threading.Lock()

    def count(*, is_redirect: bool) -> int:
        nonlocal n_in_a_row
        with lock:
            n_in_a_row = n_in_a_row + 1 if is_redirect else 0
            return n_in_a_row

    def check(answer: httpx.Response) -> None:
        n = count(is_redirect=answer.has_redirect_location)
        if answer.has_redirect_location:
            here, there = answer.request.url, answer.request.url.join(answer.headers["location"])
            if there.host != here.host or not _is_same_server(here, there):
                where = there.host if there.host != here.host else f"{there.scheme}://{there.netloc.decode('ascii')}"
                raise UnusableError(message("redirect-refused", component=name, address=where))
            if n > _MOST_IN_A_ROW:
                raise UnusableError(message("redirect-loop", component=name, address=shown(str(there)), n=n))
        _read(answer, name, is_json=True)

    def prepare(request: httpx.Request) -> None:
        request.headers.update(_ASKED)
        for header in unsent:
            request.headers.pop(header, None)

    return {"request": [prepare], "response": [check]}


def _is_same_server(here: httpx.URL, there: httpx.URL) -> bool:
    """Whether two addresses of one host are one server; the same under https is, where neither names a port."""
    ways = (here.scheme, here.port), (there.scheme, there.port)
    return ways[0] == ways[1] or ways == (("http", None), ("https", None))


def _read(answer: httpx.Response, name: str, *, is_json: bool) -> None:
    # As reading it would do; whoever reads it finds it read, the client itself before it follows a redirect.
    answer._content = read_body(answer, name, is_json=is_json)


def _said(content: bytes) -> str:
    """What an error's body says: the message inside its JSON where there is one."""
    text = cut(content.decode("utf-8", "replace").strip(), 4000)
    try:
        body = json.loads(content)
    except (ValueError, RecursionError):
        return text
    return cut(json.dumps(body), 1000) if isinstance(body, dict | list) else text
