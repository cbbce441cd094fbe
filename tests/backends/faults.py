"""Twenty-three ways for an endpoint to misbehave, each as an answer of `endpoints.serving`.

Thirteen that any endpoint knows, five that spoil a picture and five that spoil a judge's reply. Some pass when the
request is made again; the others stay, whatever is asked.
"""

from __future__ import annotations

import base64
import json
import struct
import zlib
from collections.abc import Callable
from dataclasses import dataclass

from backends.endpoints import Answered, png, said

_PAGE = Answered(content=b"<!DOCTYPE html><p>Please log in", headers={"Content-Type": "text/html"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One way to misbehave."""

    name: str
    answer: Callable[[], Answered]
    passes: bool = False
    """Whether the same request is served when it is made again."""
    is_reply: bool = False
    """Whether it is a whole answer with a reply that cannot be read: no failure, but nothing is decided by it."""


def _error(status: int, message: str, code: str = "", **headers: str) -> Answered:
    return said({"error": {"message": message, "type": "error", "param": None, "code": code}}, status, **headers)


def _picture(content: bytes) -> Answered:
    return said({"created": 1, "data": [{"b64_json": base64.b64encode(content).decode()}]})


def reply(text: str, finish: str = "stop") -> Answered:
    """What a judge says, as chat completions have it."""
    message = {"role": "assistant", "content": text, "refusal": None}
    choice = {"index": 0, "finish_reason": finish, "message": message, "logprobs": None}
    usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
    made = {"id": "1", "object": "chat.completion", "created": 1, "model": "judge-1", "choices": [choice]}
    return said({**made, "usage": usage})


def huge_png() -> bytes:
    """A PNG that says it is 30,000 x 30,000, in a few kilobytes."""

    def chunk(name: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))

    header = struct.pack(">IIBBBBB", 30_000, 30_000, 8, 2, 0, 0, 0)
    body = zlib.compress(b"\0" * 100_000)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", body) + chunk(b"IEND", b"")


ANYWHERE = (
    Fault(name="500 once", answer=lambda: _error(500, "try again"), passes=True),
    Fault(name="500 always", answer=lambda: _error(500, "never")),
    Fault(
        name="502 page", answer=lambda: Answered(status=502, content=_PAGE.content, headers=_PAGE.headers), passes=True
    ),
    Fault(name="503 with Retry-After", answer=lambda: _error(503, "later", Retry_After="1"), passes=True),
    Fault(name="429", answer=lambda: _error(429, "Rate limit reached"), passes=True),
    Fault(name="dropped line", answer=lambda: Answered(is_dropped=True), passes=True),
    Fault(
        name="half an answer", answer=lambda: Answered(content=b'{"created": 1, "da', n_bytes_said=5000), passes=True
    ),
    Fault(name="no HTTP", answer=lambda: Answered(content=b"\x00\x01\x02 hello\r\n\r\n", is_raw=True), passes=True),
    Fault(name="hangs", answer=lambda: Answered(delay_s=40.0, is_dropped=True), passes=True),
    Fault(name="empty body", answer=lambda: Answered(headers={"Content-Type": "application/json"})),
    Fault(name="login page", answer=lambda: _PAGE),
    Fault(name="another shape", answer=lambda: said({"ok": True, "result": [1, 2, {"three": None}]})),
    Fault(name="refused", answer=lambda: _error(400, "rejected by our safety system", "content_policy_violation")),
)
IN_PICTURES = (
    Fault(name="no base64", answer=lambda: said({"created": 1, "data": [{"b64_json": "%%%"}]})),
    Fault(name="half a PNG", answer=lambda: _picture(png()[:-30])),
    Fault(name="a page for a picture", answer=lambda: _picture(_PAGE.content)),
    Fault(name="900 megapixels", answer=lambda: _picture(huge_png())),
    Fault(name="no picture", answer=lambda: said({"created": 1, "data": []})),
)
IN_REPLIES = (
    Fault(name="prose", answer=lambda: reply("It looks fine to me."), is_reply=True),
    Fault(name="two answers", answer=lambda: reply('{"answer": "yes"} {"answer": "no"}'), is_reply=True),
    Fault(name="no choice", answer=lambda: reply(json.dumps({"answer": "perhaps"})), is_reply=True),
    Fault(name="cut off", answer=lambda: reply('{"answer": "y', "length"), is_reply=True),
    Fault(name="empty reply", answer=lambda: reply(""), is_reply=True),
)
N_KINDS = len(ANYWHERE) + len(IN_PICTURES) + len(IN_REPLIES)
assert N_KINDS == 23
