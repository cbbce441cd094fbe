"""Local servers that answer as the published APIs do, for tests: scripted, counted, on loopback."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from salva.core.case import Prompt
from salva.core.protocols import RenderRequest
from salva.imaging.files import encode_picture
from salva.testing.fakes import painted


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A request as the server got it."""

    method: str
    path: str
    """With its query."""
    headers: dict[str, str]
    body: Any
    """Parsed JSON; None for GET."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """What the server sends back."""

    status: int = 200
    content: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    n_bytes_said: int | None = None
    """A Content-Length that promises more than is sent: half an answer."""
    delay_s: float = 0.0
    """How long it takes."""
    is_dropped: bool = False
    """Whether the line is dropped instead."""
    is_raw: bool = False
    """Whether the content is all that is sent, without a word of HTTP."""
    when_sent: Callable[[], None] | None = None
    """Called when all of it is on its way; not when whoever asked has gone."""


def said(body: object, status: int = 200, **headers: str) -> Answered:
    """A JSON answer."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answered(
        status=status, content=json.dumps(body).encode(), headers={"Content-Type": "application/json", **named}
    )


@dataclass(slots=True)
class Server:
    """A running server and what it was asked."""

    url: str
    asked: list[Asked]
    release: threading.Event
    """Set when the test is over, for handlers that hang."""


@contextmanager
def serving(handle: Callable[[Asked], Answered], *, is_kept: bool = True) -> Iterator[Server]:
    """A server on a free port of loopback; handle is called from many threads. is_kept: whether requests are."""
    asked: list[Asked] = []
    release = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _answer(self) -> None:
            length = int(self.headers.get("Content-Length", 0))
            content = self.rfile.read(length) if length else b""
            request = Asked(
                method=self.command,
                path=self.path,
                headers={name.lower(): value for name, value in self.headers.items()},
                body=json.loads(content) if content else None,
            )
            if is_kept:
                asked.append(request)
            answered = handle(request)
            if answered.delay_s:
                release.wait(answered.delay_s)
            if answered.is_dropped or answered.is_raw:
                self.close_connection = True
                self.wfile.write(answered.content)
                return
            self.send_response(answered.status)
            for name, value in answered.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(answered.n_bytes_said or len(answered.content)))
            self.end_headers()
            self.wfile.write(answered.content)
            if answered.n_bytes_said:
                self.close_connection = True
            elif answered.when_sent is not None:
                self.wfile.flush()
                answered.when_sent()

        do_GET = do_POST = _answer  # noqa: N815  # the library's names

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the library's name
            """Tests are quiet."""

    class Quiet(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 128

        def handle_error(self, request: object, client_address: object) -> None:
            """A client that gave up is part of the tests."""

    server = Quiet(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield Server(f"http://127.0.0.1:{server.server_port}", asked, release)
    finally:
        release.set()
        server.shutdown()
        server.server_close()
        thread.join()


def png(prompt: str = "cat, dog", note: str = "") -> bytes:
    """A small PNG that the fake detector reads the prompt's words from."""
    return encode_picture(painted([word.strip() for word in prompt.split(",")], note))


def png_text(prompt: str = "cat, dog", note: str = "") -> str:
    """The same as base64."""
    return base64.b64encode(png(prompt, note)).decode()


def asked_for(text: str = "cat, dog", seed: int = 7, repeat: int = 0) -> RenderRequest:
    """A request for one picture."""
    return RenderRequest(prompt=Prompt(role="a", text=text), seed=seed, repeat=repeat)
