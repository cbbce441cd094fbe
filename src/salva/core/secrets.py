"""Keys kept out of whatever is stored, printed or logged: whole, in part, and in the forms they travel in.

What counts as a key is told by the environment: variables named like one, and what stands for a password in an
address. Text is redacted before it is cut, since half a key is half a secret.
"""

from __future__ import annotations

import base64
import functools
import json
import os
import re
from collections.abc import Iterator
from urllib.parse import parse_qsl, quote, urlsplit

from salva.core.fingerprint import Json

_NAMES = ("KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL", "CREDENTIALS")
_ADDRESSES = ("URL", "HOST", "ENDPOINT", "PROXY")
_SHORTEST = 6
_PIECE = 8
"""So many characters of a key in a row are redacted too, where the key is at least twice as long."""
SECRET_PARAMETER = re.compile(r"key|token|secret|passw|auth|credential|sig", re.IGNORECASE)
"""What a parameter of an address is called that holds a key."""


def redact(text: str) -> str:
    """The text without any key, and without any long enough part of one."""
    for name, secret in _secrets(_variables()):
        if secret in text:
            text = text.replace(secret, f"[{name}]")
        if len(secret) >= 2 * _PIECE:
            text = _less_pieces(text, name, secret)
    return text


def redacted(value: Json) -> Json:
    """The same value with every text in it redacted."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, dict):
        return {redact(name): redacted(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [part if isinstance(part, int | float) else redacted(part) for part in value]
    return value


def cut(value: object, most: int) -> str:
    """A value as text without keys, at most so long."""
    return redact(str(value))[:most]


def _less_pieces(text: str, name: str, secret: str) -> str:
    grams = {secret[start : start + _PIECE] for start in range(len(secret) - _PIECE + 1)}
    if not any(gram in text for gram in grams):
        return text
    parts, at = [], 0
    while at < len(text):
        end = at
        while text[end : end + _PIECE] in grams:
            end += 1
        if end > at:
            parts.append(f"[{name}]")
            at = end + _PIECE - 1
        else:
            parts.append(text[at])
            at += 1
    return "".join(parts)


def _variables() -> tuple[tuple[str, str], ...]:
    return tuple(
        (name, value) for name, value in os.environ.items() if value and name.upper().endswith((*_NAMES, *_ADDRESSES))
    )


@functools.lru_cache(maxsize=8)
def _secrets(variables: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    """Every form of every key with the name of its variable, the longest first."""
    found = {
        (name, form)
        for name, value in variables
        for secret in (_in_address(value) if name.upper().endswith(_ADDRESSES) else _in_key(value))
        for form in _forms(secret)
        if len(form) >= _SHORTEST
    }
    return tuple(sorted(found, key=lambda pair: (-len(pair[1]), pair)))


def _in_key(value: str) -> Iterator[str]:
    yield value
    # user:password, as servers with basic authentication take it; a header has it in base64.
    _, colon, password = value.partition(":")
    if colon:
        yield password
        yield base64.b64encode(value.encode()).decode()


def _in_address(value: str) -> Iterator[str]:
    try:
        parts = urlsplit(value)
        password = parts.password
    except ValueError:
        return
    if password:
        yield password
    yield from (part for name, part in parse_qsl(parts.query) if SECRET_PARAMETER.search(name))


def _forms(secret: str) -> set[str]:
    return {secret, quote(secret, safe=""), json.dumps(secret)[1:-1]}
