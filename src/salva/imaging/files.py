"""Image files to pixels and back.

A file from an endpoint or a folder may be HTML, truncated or a decompression bomb: size and format are checked before
a pixel is decoded. Knows no store and no model.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING

from salva.core import memory
from salva.core.image import Picture, bytes_of_size
from salva.errors import StoreError
from salva.messages import message

if TYPE_CHECKING:
    from PIL.Image import Image as PilImage

    from salva.core.source import ImageSource

MAX_PIXELS = 64_000_000
"""8,000 x 8,000: more than any model generates, less than fills the memory."""
SUFFIXES = {".png": "PNG", ".jpg": "JPEG", ".jpeg": "JPEG", ".webp": "WEBP"}
"""Files that are read as images, and the format of each. To read another, add it here."""
DECODING, ENCODING = 17, 25
"""Bytes a pixel beyond its three, as measured: transparent PNG to pixels, noise to lossless WebP."""
_BROKEN = (OSError, SyntaxError, EOFError, ValueError)
"""What Pillow raises for a file that it cannot read."""
FORMATS = tuple(dict.fromkeys(SUFFIXES.values()))


class ImageError(ValueError):
    """Data or an object that is no usable image; `why` says what it is instead."""

    def __init__(self, why: str) -> None:
        super().__init__(message("image-invalid", why=why))
        self.why = why

    def __reduce__(self) -> tuple[type[ImageError], tuple[str]]:
        return type(self), (self.why,)


def decode_picture(data: bytes, formats: tuple[str, ...] = FORMATS, max_pixels: int = MAX_PIXELS) -> Picture:
    """The pixels of an image file; ImageError for anything else."""
    from PIL import Image, ImageOps

    try:
        with Image.open(io.BytesIO(data), formats=formats) as image:
            width, height = image.size
            if width * height > max_pixels:
                raise ImageError(f"{width} x {height} pixels large; at most {max_pixels:,} are read")
            held = memory.take_pixels(bytes_of_size(width, height))
            with memory.BUDGET.working(DECODING * width * height):
                ImageOps.exif_transpose(image, in_place=True)
                rgb = as_rgb(image)
                return Picture(rgb=rgb.tobytes(), width=rgb.width, height=rgb.height, held=held)
    except ImageError:
        raise
    except (*_BROKEN, Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise ImageError(_described(data, formats, error)) from error


def stored_picture(images: ImageSource, image_id: str) -> Picture:
    """The pixels of a run's image; StoreError where its file is damaged."""
    try:
        return decode_picture(images.file_bytes(image_id))
    except ValueError as error:
        raise StoreError(message("image-damaged", path=image_id)) from error


def png_of(images: ImageSource, image_id: str) -> bytes:
    """A run's image as a PNG file."""
    return encode_picture(stored_picture(images, image_id))


def encode_picture(picture: Picture, file_format: str = "PNG") -> bytes:
    """The image as a file: PNG, JPEG or WEBP; all but JPEG are exact."""
    buffer = io.BytesIO()
    image = as_image(picture)
    settings: dict[str, dict[str, object]] = {
        "PNG": {"compress_level": 1},
        "JPEG": {"quality": 92},
        # Method 0, quality 0 only set how hard the encoder tries; the pixels are exact either way.
        "WEBP": {"lossless": True, "method": 0, "quality": 0},
    }
    with memory.BUDGET.working(ENCODING * picture.width * picture.height):
        image.save(buffer, file_format, **settings[file_format])
    return buffer.getvalue()


def as_image(picture: Picture) -> PilImage:
    """The image as an object of PIL; pixels are copied, since PIL stores four bytes where `Picture` has three."""
    from PIL import Image

    return Image.frombuffer("RGB", (picture.width, picture.height), picture.rgb, "raw", "RGB", 0, 1)


def as_rgb(image: PilImage) -> PilImage:
    """An image of PIL in RGB; what is transparent becomes white, and sixteen bits of grey become eight."""
    from PIL import Image

    if image.mode.startswith("I"):
        # PNG's own: 65535 is white, and PIL would make white of everything from 255 on.
        image = image.convert("I").point(lambda value: value * (1 / 257) + 0.5).convert("L")
        image.info.pop("transparency", None)
    if image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info:
        clear = image.convert("RGBA")
        image = Image.alpha_composite(Image.new("RGBA", clear.size, "white"), clear)
    return image if image.mode == "RGB" else image.convert("RGB")


def scaled(picture: Picture, side: int) -> Picture:
    """The image resized to a square of `side` pixels."""
    from PIL import Image

    if (picture.width, picture.height) == (side, side):
        return picture
    square = as_image(picture).resize((side, side), Image.Resampling.BICUBIC)
    return Picture(rgb=square.tobytes(), width=side, height=side)


def side_by_side(pictures: Sequence[Picture], gap: int = 16) -> Picture:
    """The images in a row on white, a gap between two of them; one alone as it is."""
    from PIL import Image

    if len(pictures) == 1:
        return pictures[0]
    width = sum(picture.width for picture in pictures) + gap * (len(pictures) - 1)
    row = Image.new("RGB", (width, max(picture.height for picture in pictures)), "white")
    left = 0
    for picture in pictures:
        row.paste(as_image(picture), (left, 0))
        left += picture.width + gap
    return Picture(rgb=row.tobytes(), width=row.width, height=row.height)


def _described(data: bytes, formats: tuple[str, ...], error: Exception) -> str:
    from PIL import UnidentifiedImageError

    # Pillow would name the object in memory that it could not identify.
    why = data[:120] if isinstance(error, UnidentifiedImageError) else str(error)[:200]
    return f"not a whole {', '.join(formats)} file ({len(data)} bytes): {why!r}"
