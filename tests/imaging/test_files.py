"""Strangers' files to pixels: what kinds of pixels a file may have, and what becomes of them."""

from __future__ import annotations

import io
import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from PIL import Image
from PIL.JpegImagePlugin import JpegImageFile

from salva.core import memory
from salva.core.fingerprint import fingerprint
from salva.core.image import Picture
from salva.errors import StoreError
from salva.imaging.files import (
    DECODING,
    ENCODING,
    FORMATS,
    MAX_PIXELS,
    SUFFIXES,
    ImageError,
    as_image,
    decode_picture,
    encode_picture,
    png_of,
    scaled,
    side_by_side,
    stored_picture,
)
from salva.imaging.palette import PALETTE
from salva.messages import code_of


def png(image: Image.Image) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return buffer.getvalue()


def test_grey_of_sixteen_bits_is_as_bright_as_it_was() -> None:
    grey = np.arange(256, dtype=np.uint8).reshape(16, 16)
    deep = decode_picture(png(Image.fromarray(grey.astype(np.uint16) * 257)))
    assert deep == decode_picture(png(Image.fromarray(grey)))
    assert np.frombuffer(deep.rgb, np.uint8).reshape(16, 16, 3)[:, :, 1].tolist() == grey.tolist()


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "CMYK"])
def test_a_picture_of_any_mode_is_the_same_picture(mode: str) -> None:
    image = Image.new("RGB", (5, 3), "white").convert(mode)
    buffer = io.BytesIO()
    image.save(buffer, "JPEG" if mode == "CMYK" else "PNG")
    picture = decode_picture(buffer.getvalue())
    assert (picture.width, picture.height) == (5, 3)
    assert min(picture.rgb) >= 254


NOISE = Picture(rgb=np.random.default_rng(3).integers(0, 256, 3 * 7 * 5, np.uint8).tobytes(), width=7, height=5)


@pytest.mark.parametrize("file_format", ["PNG", "WEBP"])
def test_an_exact_format_gives_the_same_pixels(file_format: str) -> None:
    assert decode_picture(encode_picture(NOISE, file_format)) == NOISE
    assert encode_picture(NOISE) == encode_picture(NOISE, "PNG")
    assert as_image(NOISE).getpixel((1, 2)) == tuple(NOISE.rgb[3 * (2 * 7 + 1) :][:3])


def test_an_encoder_has_room_for_every_pixel(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[float] = []

    @contextmanager
    def take(n_bytes: float) -> Iterator[None]:
        taken.append(n_bytes)
        yield

    monkeypatch.setattr(memory.BUDGET, "working", take)
    file = encode_picture(NOISE)
    decode_picture(file)
    assert taken == [ENCODING * 35, DECODING * 35]


def test_jpeg_is_close() -> None:
    grey = Picture(rgb=bytes(range(64)) * 3, width=8, height=8)
    flat = Picture(rgb=bytes([90, 120, 200]) * 64, width=8, height=8)
    read = decode_picture(encode_picture(flat, "JPEG"))
    assert max(abs(a - b) for a, b in zip(read.rgb, flat.rgb, strict=True)) <= 2
    with Image.open(io.BytesIO(encode_picture(grey, "JPEG"))) as image:
        assert isinstance(image, JpegImageFile)
        assert image.quantization[0][0] == 3, "quality 92"


def test_a_file_is_turned_as_its_camera_says() -> None:
    image = Image.new("RGB", (4, 2))
    image.putpixel((0, 0), (255, 0, 0))
    exif = Image.Exif()
    exif[0x0112] = 6
    buffer = io.BytesIO()
    image.save(buffer, "PNG", exif=exif)
    turned = decode_picture(buffer.getvalue())
    assert (turned.width, turned.height) == (2, 4)
    assert turned.rgb[3:6] == b"\xff\x00\x00"


def test_what_is_transparent_is_white() -> None:
    for mode, colour in (("RGBA", (9, 9, 9, 0)), ("LA", (9, 0))):
        assert decode_picture(png(Image.new(mode, (1, 1), colour))).rgb == b"\xff" * 3
    paletted = Image.new("P", (2, 1), 0)
    paletted.putpalette([10, 20, 30, 40, 50, 60])
    paletted.putpixel((1, 0), 1)
    paletted.info["transparency"] = 0
    assert decode_picture(png(paletted)).rgb == b"\xff\xff\xff\x28\x32\x3c"


def test_a_picture_has_at_most_so_many_pixels() -> None:
    file = encode_picture(NOISE)
    assert decode_picture(file, max_pixels=35) == NOISE
    with pytest.raises(ValueError, match="7 x 5"):
        decode_picture(file, max_pixels=34)
    assert MAX_PIXELS == 8000 * 8000


@pytest.mark.filterwarnings("error")
def test_a_bomb_is_refused_before_it_is_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    for limit in (10, 30):
        monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", limit)
        with pytest.raises(ValueError, match="exceeds limit"):
            decode_picture(encode_picture(NOISE))


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"", r"\(0 bytes\)"),
        (b"<html>", "<html>"),
        (b'{"error": 1}', "error"),
        (b"\xff\xfe", rf"{', '.join(FORMATS)} .*\(2 bytes\)"),
        (encode_picture(NOISE)[:60], r"not a whole .*\(60 bytes\): ."),
    ],
)
def test_what_is_no_image_is_named(data: bytes, told: str) -> None:
    with pytest.raises(ImageError, match=told) as caught:
        decode_picture(data)
    assert code_of(caught.value) == "image-invalid"
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_only_the_formats_asked_for_are_read() -> None:
    assert tuple(dict.fromkeys(SUFFIXES.values())) == FORMATS
    with pytest.raises(ValueError, match="not a whole WEBP"):
        decode_picture(encode_picture(NOISE), formats=("WEBP",))


def test_a_picture_is_scaled_to_a_square() -> None:
    square = scaled(NOISE, 4)
    assert (square.width, square.height) == (4, 4)
    assert scaled(square, 4) is square
    assert scaled(Picture(rgb=NOISE.rgb[:84], width=4, height=7), 4).height == 4


def test_painted_colours_stay_as_they_are() -> None:
    """Another colour makes other images of every painted run: the painter's version changes with it."""
    assert fingerprint({name: list(colour) for name, colour in PALETTE.items()})[:12] == "1486342ba14d"


def test_colour_words_are_told_apart() -> None:
    assert all(0 <= channel <= 255 for colour in PALETTE.values() for channel in colour)
    distances = [
        max(abs(a - b) for a, b in zip(one, other, strict=True))
        for name, one in PALETTE.items()
        for second, other in PALETTE.items()
        if name < second
    ]
    assert min(distances) > 30


class OneFile:
    """A run with one image file."""

    def __init__(self, data: bytes) -> None:
        self.file_bytes = lambda _: data


def test_a_run_s_image_is_read_from_its_file() -> None:
    images: Any = OneFile(encode_picture(NOISE, "WEBP"))
    assert stored_picture(images, "id") == NOISE
    assert png_of(images, "id") == encode_picture(NOISE)
    damaged: Any = OneFile(b"no image")
    with pytest.raises(StoreError) as refused:
        png_of(damaged, "id")
    assert refused.value.code == "image-damaged"


def test_images_stand_side_by_side_on_white() -> None:
    red, blue = (
        Picture(rgb=bytes(colour) * n * 4, width=n, height=4) for colour, n in (((255, 0, 0), 3), ((0, 0, 255), 2))
    )
    low = Picture(rgb=bytes((0, 0, 255)) * 4, width=2, height=2)
    assert side_by_side([red]) == red
    row = np.frombuffer(side_by_side([red, low, blue], gap=1).rgb, np.uint8).reshape(4, 9, 3).tolist()
    white, ink, sea = [255] * 3, [255, 0, 0], [0, 0, 255]
    assert row[:2] == [[*[ink] * 3, white, sea, sea, white, sea, sea]] * 2
    assert row[2:] == [[*[ink] * 3, white, white, white, white, sea, sea]] * 2
