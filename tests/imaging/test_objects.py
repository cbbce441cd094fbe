"""Pictures of PIL, numpy and torch become ours to the pixel, or are refused by what they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from PIL import Image

from salva.imaging import objects
from salva.imaging.files import ImageError
from salva.imaging.objects import picture_of

RGB = np.arange(6 * 5 * 3, dtype=np.uint8).reshape(6, 5, 3)


@given(arrays.arrays(np.uint8, st.tuples(st.integers(1, 6), st.integers(1, 6), st.just(3))))
def test_bytes_stay_as_they_are_whoever_holds_them(pixels: np.ndarray[Any, np.dtype[np.uint8]]) -> None:
    expected = pixels.tobytes()
    height, width, _ = pixels.shape
    for held in (pixels, np.asfortranarray(pixels), pixels / 255, (pixels / 255).astype(np.float32)):
        picture = picture_of(held)
        assert (picture.rgb, picture.width, picture.height) == (expected, width, height)
    assert picture_of(Image.fromarray(pixels)).rgb == expected


def test_grey_becomes_rgb_and_what_is_transparent_becomes_white() -> None:
    grey = RGB[:, :, 0]
    for held in (grey, grey[:, :, None], Image.fromarray(grey)):
        assert picture_of(held).rgb == np.repeat(grey[:, :, None], 3, axis=2).tobytes()
    clear = np.dstack([RGB, np.zeros((6, 5), np.uint8)])
    for held in (clear, Image.fromarray(clear)):
        assert set(picture_of(held).rgb) == {255}


@pytest.mark.parametrize(
    ("held", "why"),
    [
        (None, "None"),
        ("a.png", "a str"),
        ([Image.new("RGB", (2, 2))], "a list"),
        (RGB[None], r"shape \(1, 6, 5, 3\)"),
        (RGB.transpose(2, 0, 1), r"shape \(3, 6, 5\)"),
        (RGB.astype(np.int64), "int64"),
        (RGB / 10.0, "from 0 to 8.9"),
        (RGB / 127.5 - 1, "from -1 to"),
        (np.full((2, 2, 3), np.nan), "from nan"),
        (np.full((2, 2, 3), np.inf), "from inf"),
        (np.zeros((0, 2, 3), np.uint8), r"shape \(0, 2, 3\)"),
        (np.zeros((2, 2, 2), np.uint8), r"shape \(2, 2, 2\)"),
        (Image.new("F", (2, 2)), "mode 'F'"),
        (Image.new("I;16", (2, 2)), "mode 'I;16'"),
    ],
)
def test_what_is_no_image_is_named(held: object, why: str) -> None:
    with pytest.raises(ImageError, match=rf"{why}.*\[image-invalid\]"):
        picture_of(held)


def test_an_answer_of_a_pipeline_is_named_with_what_to_give() -> None:
    class Output:
        images = (Image.new("RGB", (2, 2)),)

    with pytest.raises(ImageError, match=r"Output.*\.images\[0\]"):
        picture_of(Output())


def test_tensors_have_their_channels_first() -> None:
    torch = pytest.importorskip("torch", reason="tensors are torch's")
    expected = RGB.tobytes()
    first = torch.from_numpy(RGB.transpose(2, 0, 1).copy())
    for held in (first, first / 255, (first / 255).requires_grad_(), torch.from_numpy(RGB)):
        assert picture_of(held).rgb == expected
    half = picture_of((first / 255).to(torch.bfloat16)).rgb
    assert max(abs(a - b) for a, b in zip(half, expected, strict=True)) <= 1
    with pytest.raises(ImageError, match=r"\(3, 8, 3\)"):
        picture_of(torch.zeros(3, 8, 3))
    with pytest.raises(ImageError, match=r"\(1, 3, 8, 8\)"):
        picture_of(torch.zeros(1, 3, 8, 8))


def test_sizes_and_roundings_are_taken_up_to_their_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(objects, "MAX_PIXELS", 30)
    assert picture_of(RGB).width == 5
    assert picture_of(Image.fromarray(RGB)).height == 6
    for held in (np.zeros((6, 6, 3), np.uint8), Image.new("RGB", (6, 6))):
        with pytest.raises(ImageError, match="6 x 6"):
            picture_of(held)
    near = np.array([[[-0.001, 1.001, 0.5]]])
    assert picture_of(near).rgb == bytes((0, 255, 128))
    for beyond in (near - 0.001, near + 0.001):
        with pytest.raises(ImageError, match="0 to 1"):
            picture_of(beyond)
