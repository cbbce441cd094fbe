"""An image before it is stored."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

from salva.core.memory import Held


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """RGB pixels, row by row from the top left, 8 bits a channel."""

    rgb: bytes
    width: int
    height: int
    webp: bytes | None = field(default=None, compare=False)
    """The same pixels as a lossless WebP file, when the maker has one already; saves encoding them."""
    held: Held | None = field(default=None, compare=False, repr=False)
    """Its bytes in the budget of the process."""

    def __post_init__(self) -> None:
        n_bytes = 3 * self.width * self.height
        if len(self.rgb) != n_bytes:
            raise ValueError(f"a {self.width} x {self.height} picture needs {n_bytes} bytes, got {len(self.rgb)}")

    def image_id(self) -> str:
        """The hash of the pixels; the file format plays no part in it."""
        digest = hashlib.sha256(f"{self.width}x{self.height}:".encode())
        digest.update(self.rgb)
        return digest.hexdigest()[:40]


@dataclass(frozen=True, slots=True, kw_only=True)
class PictureFile:
    """An image as it is stored, and as it travels between processes."""

    image_id: str
    width: int
    height: int
    webp: bytes
    """All its pixels as a lossless WebP file."""
    held: Held | None = field(default=None, compare=False, repr=False)


AnyPicture = Picture | PictureFile
_RGB = 3
"""Bytes a pixel."""


def bytes_of(picture: AnyPicture) -> int:
    """The memory that an image takes."""
    return len(picture.webp or b"") + (len(picture.rgb) if isinstance(picture, Picture) else 0)


def bytes_of_size(width: int, height: int) -> int:
    """The memory that an image of this size takes when loaded."""
    return _RGB * width * height


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageRef:
    """An image in the store."""

    image_id: str
    width: int
    height: int
