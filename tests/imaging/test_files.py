"""Strangers' files to pixels: what kinds of pixels a file may have, and what becomes of them."""

from __future__ import annotations

import io
import pickle

import numpy as np
import pytest
from PIL import Image

from salva.imaging.files import ImageError, decode_picture


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


@pytest.mark.parametrize(
    ("data", "why"),
    [(b"", "empty"), (b"<html>", "web page"), (b'{"error": 1}', "JSON"), (b"\x89PNG", "4 bytes")],
)
def test_data_that_are_no_image_are_named(data: bytes, why: str) -> None:
    with pytest.raises(ImageError, match=rf"{why}.*\[image-invalid\]") as caught:
        decode_picture(data)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_an_image_of_too_many_pixels_is_not_decoded() -> None:
    with pytest.raises(ImageError, match="20 x 10"):
        decode_picture(png(Image.new("RGB", (20, 10))), max_pixels=199)
    assert decode_picture(png(Image.new("RGB", (20, 10))), max_pixels=200).width == 20
