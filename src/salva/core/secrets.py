"""Keys kept out of stored text.

The environment says what counts as a key: variables named like one or named as one by the user, and what stands
for a password in an address. Text is redacted before it is cut, since half a key is half a secret. Long keys are also
found when they are spelled otherwise: with separators, backwards, as hexadecimal digits, in base64 over lines.
"""

from __future__ import annotations

import base64
import functools
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
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
_LONG = 16
"""Keys of so many characters are found in other spellings too."""
_BLOCK, _STRIDE = 8, 2
"""A text is searched for parts of so many characters, at every second of its own: 15 of a key, less its signs."""
_HEX_BLOCK, _HEX_STRIDE = 12, 4
_SPACED = re.compile(r"[^0-9A-Za-z]+")
_HEX_MARKS = re.compile(r"[^0-9a-f]+|00", re.IGNORECASE)
"""No key holds the byte 0, or two zeros in a row elsewhere: they belong to wide characters."""
_HEX_0X = re.compile(r"0x|[^0-9a-f]+|00(?!x)", re.IGNORECASE)
"""The same where 0x stands before each byte, and no x between the bytes."""
_NOT_ALNUM = bytes(byte for byte in range(128) if not chr(byte).isalnum())
_NOT_HEX = bytes(byte for byte in range(128) if chr(byte) not in "0123456789abcdef")
"""What the same patterns leave out, of lower-case ASCII, where most texts are found innocent."""
_WATCHED: dict[str, None] = {}
"""Variables that hold keys whatever they are called."""
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


class _Spelling(NamedTuple):
    """A long key as it reads without what separates its characters."""

    name: str
    text: str


class _Blocks(NamedTuple):
    """Every part of some length of every spelling."""

    size: int = _BLOCK
    stride: int = _STRIDE
    parts: Mapping[str, tuple[_Spelling, int]] = MappingProxyType({})
    """With its place there."""

    @classmethod
    def of(cls, spellings: Iterable[_Spelling], size: int, stride: int) -> _Blocks:
        """All blocks of some spellings."""
        parts = {
            spelling.text[at : at + size]: (spelling, at)
            for spelling in spellings
            for at in range(len(spelling.text) - size + 1)
        }
        return cls(size, stride, parts)

    def are_in(self, bare: str) -> bool:
        """Whether a text holds one."""
        starts = range(0, len(bare) - self.size + 1, self.stride)
        return not self.parts.keys().isdisjoint([bare[start : start + self.size] for start in starts])

    def next_in(self, bare: str, at: int) -> int | None:
        """Where the next one begins."""
        starts = range(at, len(bare) - self.size + 1, self.stride)
        return next((start for start in starts if bare[start : start + self.size] in self.parts), None)


class _Secrets(NamedTuple):
    """All of them, and what tells at one glance that a text holds none."""

    every: tuple[_Secret, ...] = ()
    """The longest first."""
    short: tuple[str, ...] = ()
    """The texts of those without pieces."""
    pieces: frozenset[str] = frozenset()
    spaced: _Blocks = _Blocks()
    """Of long keys with anything between their characters, forwards, backwards and in base64."""
    as_hex: _Blocks = _Blocks()

    def less(self, text: str) -> str:
        """A text without them."""
        # Nearly every text that is stored is innocent.
        for secret in self.every if self._are_in(text) else ():
            text = _less_pieces(text.replace(secret.text, f"[{secret.name}]"), secret)
        if self.spaced.parts and len(text) >= _BLOCK:
            content = text.encode("ascii", "ignore").lower()
            if self.spaced.are_in(content.translate(None, _NOT_ALNUM).decode()):
                text = _less_spellings(text, self.spaced, _SPACED)
            without_0x = content.replace(b"0x", b"")
            for digits, marks in ((content, _HEX_MARKS), (without_0x, _HEX_0X)):
                is_new = marks is _HEX_MARKS or len(without_0x) < len(content)
                if is_new and self.as_hex.are_in(digits.translate(None, _NOT_HEX).replace(b"00", b"").decode()):
                    text = _less_spellings(text, self.as_hex, marks)
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


def _less_spellings(text: str, blocks: _Blocks, between: re.Pattern[str]) -> str:
    """A text without what spells a key, whatever stands between its characters."""
    bare = between.sub("", text).lower()
    hit = blocks.next_in(bare, 0)
    places = [at for start, end in _gaps(between, text) for at in range(start, end)]
    parts, done = list[str](), 0
    while hit is not None:
        start, (spelling, offset) = hit, blocks.parts[bare[hit : hit + blocks.size]]
        end, after = start, offset
        while start > 0 and offset > 0 and bare[start - 1] == spelling.text[offset - 1]:
            start, offset = start - 1, offset - 1
        while end < len(bare) and after < len(spelling.text) and bare[end] == spelling.text[after]:
            end, after = end + 1, after + 1
        parts += [text[done : max(done, places[start])], f"[{spelling.name}]"]
        done = places[end - 1] + 1
        hit = blocks.next_in(bare, end)
    return "".join((*parts, text[done:]))


def _gaps(between: re.Pattern[str], text: str) -> Iterator[tuple[int, int]]:
    """Where the parts of a text are that stand between matches."""
    start = 0
    for match in between.finditer(text):
        yield start, match.start()
        start = match.end()
    yield start, len(text)


def watch(variable: str) -> None:
    """Count a variable as one that holds a key, whatever it is called."""
    _WATCHED[variable] = None


def _variables() -> tuple[tuple[str, str], ...]:
    # Asked for every row that is stored: most variables tell by their names that they hold no key.
    names = dict.fromkeys((*_telling(tuple(_NAMED)), *_WATCHED))
    return tuple((name, value) for name in names if (value := os.environ.get(name)))


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
    forms = {
        (name, form): _pieces(form)
        for name, secret in held
        for form in (secret, quote(secret, safe=""), json.dumps(secret)[1:-1])
    }
    # Whole ones alone: their pieces would be four times as many again, and every text is searched for them.
    encoded = {(name, form): frozenset[str]() for name, secret in held for form in _in_base64(secret)}
    longest_first = sorted((encoded | forms).items(), key=lambda item: (-len(item[0][1]), item[0]))
    every = tuple(_Secret(name, form, pieces) for (name, form), pieces in longest_first if len(form) >= _SHORTEST)
    spelled = [(name, text) for name, secret in held if len(secret) >= _LONG for text in (secret, secret[::-1])]
    return _Secrets(
        every=every,
        short=tuple(secret.text for secret in every if not secret.pieces),
        pieces=frozenset().union(*(secret.pieces for secret in every)),
        spaced=_Blocks.of(
            (
                _Spelling(name, _SPACED.sub("", form).lower())
                for name, text in spelled
                for form in (*_in_base64(text), text)
            ),
            *(_BLOCK, _STRIDE),
        ),
        as_hex=_Blocks.of(
            (_Spelling(name, digits) for name, text in spelled for digits in (_as_hex(text), _as_hex(text)[::-1])),
            *(_HEX_BLOCK, _HEX_STRIDE),
        ),
    )


def _as_hex(text: str) -> str:
    return text.encode("utf-8", "surrogateescape").hex()


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


_URL_SAFE = str.maketrans("+/", "-_")


def _in_base64(secret: str) -> Iterator[str]:
    """What base64 makes of a secret wherever it stands in a text: three characters of four hang on its neighbours."""
    content = secret.encode("utf-8", "surrogateescape")
    for n_before in range(3):
        text = base64.b64encode(bytes(n_before) + content).decode()
        whole = text[-(-n_before * 4 // 3) : (n_before + len(content)) * 4 // 3]
        yield from (whole, whole.translate(_URL_SAFE))
