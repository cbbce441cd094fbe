"""Responses to images; whatever else it sent is named."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from contextlib import contextmanager

from salva.core.image import Picture
from salva.core.secrets import cut
from salva.errors import BackendError
from salva.imaging.files import ImageError, decode_picture
from salva.remote.errors import invalid


@contextmanager
def paid_for(price_usd: float | None) -> Iterator[None]:
    """While what was generated becomes an image: where that fails, it was paid for all the same."""
    try:
        yield
    except BackendError as error:
        error.usage = {"n_calls": 1.0, "cost_usd": price_usd or 0.0}
        raise


def picture_from_bytes(name: str, content: bytes) -> Picture:
    """The image in an image file an endpoint sent."""
    try:
        return decode_picture(content)
    except ImageError as error:
        raise invalid(name, error.why, "an image") from error


def picture_from_base64(name: str, text: str) -> Picture:
    """The image in an image file an endpoint sent as text, with or without a data: prefix."""
    if text.startswith("data:"):
        text = text.partition(",")[2]
    try:
        content = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise invalid(name, f"{cut(text, 40)!r} ({len(text)} characters)", f"an image as base64 ({error})") from error
    return picture_from_bytes(name, content)
