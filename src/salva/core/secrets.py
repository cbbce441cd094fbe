"""Keys kept out of stored text.

What counts as a key is told by the environment: variables named like one, and what stands for a password in an
address. Text is redacted before it is cut, since half a key is half a secret.
"""

from __future__ import annotations

import base64
import functools
import json
import os
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple
from urllib.parse import parse_qsl, quote, urlsplit

from salva.core.fingerprint import Json

_NAMES = ("KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL", "CREDENTIALS")
_ADDRESSES = ("URL", "HOST", "ENDPOINT", "PROXY")
_TELLING = (*_NAMES, *_ADDRESSES)
"""How the name of a variable ends that may hold a key."""
_SHORTEST = 6
_PIECE = 8
"""So many characters of a key in a row are redacted too, where the key is at least twice as long."""
_NAMED: Iterable[str | bytes] = getattr(os, "environb", os.environ)
"""The names of all variables, as they are where that can be had: reading them as text takes longer than the rest."""
SECRET_PARAMETER = re.compile(r"key|token|secret|passw|auth|credential|sig", re.IGNORECASE)
"""What a parameter of an address is called that holds a key."""


class _Secret(NamedTuple):
    """A form in which a key may stand in a text."""

    name: str
    """The variable it is in."""
    text: str
    pieces: frozenset[str]
    """Parts that are redacted too; none of a short key."""


class _Secrets(NamedTuple):
    """All of them, and what tells at one glance that a text holds none."""

    every: tuple[_Secret, ...] = ()
    """The longest first."""
    short: tuple[str, ...] = ()
    """The texts of those without pieces."""
    pieces: frozenset[str] = frozenset()

    def less(self, text: str) -> str:
        """A text without them."""
        # Nearly every text that is stored is innocent.
        for secret in self.every if self._are_in(text) else ():
            text = _less_pieces(text.replace(secret.text, f"[{secret.name}]"), secret)
        return text

    def _are_in(self, text: str) -> bool:
        if not self.every or any(secret in text for secret in self.short):
            return bool(self.every)
        # Whichever are fewer: the pieces, or the places where one could stand.
        if len(self.pieces) < len(text):
            return any(piece in text for piece in self.pieces)
        return any(text[start : start + _PIECE] in self.pieces for start in range(len(text) - _PIECE + 1))


def redact(text: str) -> str:
    """The text without any key, and without any long enough part of one."""
    return _secrets(_variables()).less(text) if text else text


def redacted(value: Json) -> Json:
    """The same value with every text in it redacted."""
    secrets = _secrets(_variables()) if value else _Secrets()
    return _redacted(value, secrets) if secrets.every else value


def _redacted(value: Json, secrets: _Secrets) -> Json:
    if isinstance(value, str):
        return secrets.less(value)
    if isinstance(value, dict):
        return {secrets.less(name): _redacted(part, secrets) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [part if isinstance(part, int | float) else _redacted(part, secrets) for part in value]
    return value


def cut(value: object, most: int) -> str:
    """A value as text without keys, at most so long."""
    return redact(str(value))[:most]


def _less_pieces(text: str, secret: _Secret) -> str:
    if not any(piece in text for piece in secret.pieces):
        return text
    parts, at = [], 0
    while at < len(text):
        end = at
        while text[end : end + _PIECE] in secret.pieces:
            end += 1
        if end > at:
            parts.append(f"[{secret.name}]")
            at = end + _PIECE - 1
        else:
            parts.append(text[at])
            at += 1
    return "".join(parts)


def _variables() -> tuple[tuple[str, str], ...]:
    # Asked for every row that is stored: most variables tell by their names that they hold no key.
    return tuple((name, value) for name in _telling(tuple(_NAMED)) if (value := os.environ.get(name)))


@functools.lru_cache(maxsize=8)
def _telling(names: tuple[str | bytes, ...]) -> tuple[str, ...]:
    return tuple(name for name in map(os.fsdecode, names) if name.upper().endswith(_TELLING))


@functools.lru_cache(maxsize=8)
def _secrets(variables: tuple[tuple[str, str], ...]) -> _Secrets:
    """Every form of every key with the name of its variable."""
    held = [
        (name, secret)
        for name, value in variables
        for secret in (_in_address(value) if name.upper().endswith(_ADDRESSES) else _in_key(value))
    ]
    forms = {(name, form): _pieces(form) for name, secret in held for form in _forms(secret)}
    # Whole ones alone: their pieces would be four times as many again, and every text is searched for them.
    encoded = {(name, form): frozenset[str]() for name, secret in held for form in _in_base64(secret)}
    longest_first = sorted((encoded | forms).items(), key=lambda item: (-len(item[0][1]), item[0]))
    every = tuple(_Secret(name, form, pieces) for (name, form), pieces in longest_first if len(form) >= _SHORTEST)
    return _Secrets(
        every=every,
        short=tuple(secret.text for secret in every if not secret.pieces),
        pieces=frozenset().union(*(secret.pieces for secret in every)),
    )


def _pieces(secret: str) -> frozenset[str]:
    n_pieces = len(secret) - _PIECE + 1 if len(secret) >= 2 * _PIECE else 0
    return frozenset(secret[start : start + _PIECE] for start in range(n_pieces))


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


_URL_SAFE = str.maketrans("+/", "-_")


def _in_base64(secret: str) -> Iterator[str]:
    """What base64 makes of a secret wherever it stands in a text: three characters of four hang on its neighbours."""
    content = secret.encode("utf-8", "surrogateescape")
    for n_before in range(3):
        text = base64.b64encode(bytes(n_before) + content).decode()
        whole = text[-(-n_before * 4 // 3) : (n_before + len(content)) * 4 // 3]
        yield from (whole, whole.translate(_URL_SAFE))
