"""The body of an answer: read raw, unpacked step by step, counted as it comes.

What it may pack, how large it may be and what its JSON may become in memory is decided here, for every HTTP client.
"""

from __future__ import annotations

import io
import zlib
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from salva.core.memory import COPIES, MIB, largest_answer, take_answer
from salva.core.secrets import cut
from salva.errors import BackendError
from salva.remote.errors import invalid

if TYPE_CHECKING:
    import httpx

PACKED = ("gzip", "deflate")
"""How an answer may be packed, once. Others, and several at once, turn kilobytes into gigabytes within one step."""
_UNPACKED = (*PACKED, "br", "zstd")
"""What the clients would unpack; they pass over all other names, such as aws-chunked."""
_STEP = 64 * 1024
_LARGEST_ERROR = MIB
_SMALL_JSON = 128 * 1024
"""Whatever is in so little, a share has room for it."""
_PER_VALUE = 100
"""Bytes that an empty list or a number takes at most, once parsed."""


def read_body(answer: httpx.Response, name: str, *, is_json: bool) -> bytes:
    """The whole body, or an error before it fills the memory.

    Of an error that cannot be read that is all it says: what to do about it, its status tells.
    """
    most = min(largest_answer(), _LARGEST_ERROR) if answer.is_error else largest_answer()
    try:
        content = _read(answer, name, COPIES if is_json else 1, most)
    except BackendError as error:
        if not answer.is_error:
            raise
        answer.close()
        return str(error).encode()
    # The answer and its stream refer to each other, so the body would stay until the collector comes.
    vars(answer.stream).pop("_response", None)
    return content


def _read(answer: httpx.Response, name: str, copies: int, most: int) -> bytes:
    packed = _packing(answer, name)
    said = answer.headers.get("content-length", "")
    if said.isascii() and said.isdigit():
        _check_size(int(said), most, name)
        take_answer(copies * int(said))
    body = io.BytesIO()  # gives its bytes away without a copy
    try:
        for part in _unpacked(_bounded(answer.iter_raw(), most, name), packed):
            n_bytes = body.tell() + len(part)
            _check_size(n_bytes, most, name)
            take_answer(copies * n_bytes)
            body.write(part)
    except zlib.error as error:
        raise invalid(name, f"a broken {packed} stream ({error})", "a whole one") from error
    content = body.getvalue()
    if copies > 1 and len(content) > _SMALL_JSON:
        n_bytes = _parsed_size(content)
        _check_size(n_bytes // copies, most, name)
        take_answer(n_bytes)
    return content


def _check_size(n_bytes: int, most: int, name: str) -> None:
    if n_bytes > most:
        raise invalid(name, f"more than {most:,} bytes", "fewer (SALVA_ANSWER_MIB)")


def _packing(answer: httpx.Response, name: str) -> str:
    """How the body is packed; empty for not at all."""
    named = answer.headers.get_list("content-encoding", split_commas=True)
    packed = [coding for text in named if (coding := text.strip().lower()) in _UNPACKED]
    if len(packed) > 1 or not {*packed} <= {*PACKED}:
        raise invalid(name, f"an answer packed as {cut(', '.join(packed), 60)!r}", " or ".join(PACKED))
    return packed[0] if packed else ""


def _bounded(parts: Iterator[bytes], most: int, name: str) -> Iterator[bytes]:
    """The parts as they were sent: what unpacks to nothing is bounded too."""
    n_bytes = 0
    for part in parts:
        n_bytes += len(part)
        _check_size(n_bytes, most, name)
        yield part


def _unpacked(parts: Iterator[bytes], packed: str) -> Iterator[bytes]:
    """The parts unpacked, never more than a step at once."""
    if not packed:
        yield from parts
        return
    unpacker = zlib.decompressobj(zlib.MAX_WBITS | (16 if packed == "gzip" else 0))
    is_first = packed == "deflate"
    for part in parts:
        if is_first and part:
            with suppress(zlib.error):
                zlib.decompressobj().decompress(part, 1)
                is_first = False
            # Some servers leave the header of deflate out.
            unpacker = zlib.decompressobj(-zlib.MAX_WBITS) if is_first else unpacker
            is_first = False
        rest = part
        while rest and not unpacker.eof:
            yield unpacker.decompress(rest, _STEP)
            rest = unpacker.unconsumed_tail
    yield unpacker.flush()


def _parsed_size(content: bytes) -> int:
    """What a JSON text takes at most while it is parsed: a text with other than ASCII may take four bytes a letter."""
    n_values = sum(map(content.count, (b"[", b"{", b",")))
    return COPIES * len(content) * (1 if content.isascii() else 2) + _PER_VALUE * n_values
