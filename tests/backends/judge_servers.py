"""Endpoints on loopback that speak the three makers' chat APIs, as published, and say what a test tells them to.

A test gives a list of turns; each request takes the next, and the last one stays. What was asked is kept.
"""

from __future__ import annotations

import base64
import io
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Say:
    """A reply in words."""

    text: str = ""
    finish: str = ""
    """How the maker says that it is over; empty for the usual way."""
    refusal: str = ""
    has_usage: bool = True
    model: str = "judge-2026-01-01"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fail:
    """An error, in the maker's own shape unless a body is given."""

    status: int
    message: str = "no"
    kind: str = "invalid_request_error"
    body: bytes | None = None
    headers: dict[str, str] = field(default_factory=dict)


Turn = Say | Fail
Answer = Callable[[dict[str, Any]], Turn]


class Server(ThreadingHTTPServer):
    """Answers every maker's path; keeps what it was asked."""

    daemon_threads = True

    def __init__(self, turns: list[Turn] | Answer) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.turns = turns
        self.asked: list[dict[str, Any]] = []
        self.headers_seen: list[dict[str, str]] = []
        self.lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def next_turn(self, body: dict[str, Any], headers: dict[str, str]) -> Turn:
        with self.lock:
            self.asked.append(body)
            self.headers_seen.append(headers)
            if callable(self.turns):
                return self.turns(body)
            return self.turns.pop(0) if len(self.turns) > 1 else self.turns[0]


class _Handler(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        turn = self.server.next_turn(body, {name.lower(): value for name, value in self.headers.items()})
        maker = next(m for m in _MAKERS if m.path in self.path)
        if isinstance(turn, Fail):
            content = maker.error(turn) if turn.body is None else turn.body
            self._send(turn.status, content, turn.headers)
        else:
            self._send(200, json.dumps(maker.reply(turn)).encode(), {})

    def _send(self, status: int, content: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", "Content-Length": str(len(content)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the base class's name
        """Say nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Maker:
    path: str
    reply: Callable[[Say], dict[str, Any]]
    error: Callable[[Fail], bytes]


def _chat_completion(say: Say) -> dict[str, Any]:
    message = {"role": "assistant", "content": say.text, "refusal": say.refusal or None}
    made = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": say.model,
        "choices": [{"index": 0, "finish_reason": say.finish or "stop", "message": message, "logprobs": None}],
    }
    usage = {"prompt_tokens": 1000, "completion_tokens": 20, "total_tokens": 1020}
    return {**made, "usage": usage} if say.has_usage else made


def _message(say: Say) -> dict[str, Any]:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": say.model,
        "content": [{"type": "text", "text": say.text}] if say.text else [],
        "stop_reason": say.finish or "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 900, "cache_read_input_tokens": 100, "output_tokens": 20},
    }


def _generated(say: Say) -> dict[str, Any]:
    if say.refusal:
        return {"promptFeedback": {"blockReason": say.refusal}, "modelVersion": say.model}
    return {
        "candidates": [
            {
                "content": {"role": "model", "parts": [{"text": say.text}]},
                "finishReason": say.finish or "STOP",
                "index": 0,
            }
        ],
        "usageMetadata": {
            "promptTokenCount": 1000,
            "candidatesTokenCount": 15,
            "thoughtsTokenCount": 5,
            "totalTokenCount": 1020,
        },
        "modelVersion": say.model,
    }


def _openai_error(fail: Fail) -> bytes:
    return json.dumps(
        {"error": {"message": fail.message, "type": fail.kind, "param": None, "code": fail.kind}}
    ).encode()


def _anthropic_error(fail: Fail) -> bytes:
    return json.dumps({"type": "error", "error": {"type": fail.kind, "message": fail.message}}).encode()


def _google_error(fail: Fail) -> bytes:
    details = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "7s"}] if fail.status == 429 else []
    error = {"code": fail.status, "message": fail.message, "status": fail.kind.upper(), "details": details}
    return json.dumps({"error": error}).encode()


_MAKERS = (
    _Maker(path="/chat/completions", reply=_chat_completion, error=_openai_error),
    _Maker(path="/v1/messages", reply=_message, error=_anthropic_error),
    _Maker(path=":generateContent", reply=_generated, error=_google_error),
)


@contextmanager
def serving(turns: list[Turn] | Answer) -> Iterator[Server]:
    """A server at work until the end of the block."""
    server = Server(turns)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def picture_in(body: dict[str, Any]) -> Any:
    """The PIL image that was sent, whichever maker's words it came in."""
    from PIL import Image

    text = json.dumps(body)
    if "data:image/png;base64," in text:
        file = text.split("data:image/png;base64,", 1)[1].split('"', 1)[0]
    else:
        file = text.split('"data": "', 1)[1].split('"', 1)[0]
    # Google's kit writes the other alphabet of base64.
    return Image.open(io.BytesIO(base64.b64decode(file.replace("-", "+").replace("_", "/")))).convert("RGB")
