"""Parts of pictures: the box to the pixel, grey outside the mask, and the middle square at the asked size."""

from __future__ import annotations

from itertools import groupby

import pytest
from hypothesis import given
from hypothesis import strategies as st

from salva.core.image import Picture
from salva.core.masks import Mask, mask_of
from salva.imaging.parts import GREY, part_of

WIDTH, HEIGHT = 8, 6
PICTURE = Picture(
    rgb=bytes(v for y in range(HEIGHT) for x in range(WIDTH) for v in (x, y, 200)), width=WIDTH, height=HEIGHT
)


def _pixel(picture: Picture, x: int, y: int) -> tuple[int, ...]:
    start = 3 * (y * picture.width + x)
    return tuple(picture.rgb[start : start + 3])


def _mask(rows: list[str], left: int, top: int) -> Mask:
    pixels = "".join(rows)
    runs = [len(list(group)) for _, group in groupby(pixels)]
    return mask_of(runs if pixels[0] == "." else [0, *runs], left=left, top=top, width=len(rows[0]), height=len(rows))


def test_a_box_is_cut_out_to_the_pixel() -> None:
    part = part_of(PICTURE, (2 / WIDTH, 1 / HEIGHT, 5 / WIDTH, 4 / HEIGHT))
    assert (part.width, part.height) == (3, 3)
    assert _pixel(part, 0, 0) == (2, 1, 200)
    assert _pixel(part, 2, 2) == (4, 3, 200)


def test_outside_the_mask_it_is_grey() -> None:
    mask = _mask([".#", "##"], left=3, top=2)
    cut = (mask.left, mask.top, mask.width, mask.height, mask.packed)
    whole = part_of(PICTURE, (), cut)
    inside = {(4, 2), (3, 3), (4, 3)}
    for x in range(WIDTH):
        for y in range(HEIGHT):
            assert _pixel(whole, x, y) == ((x, y, 200) if (x, y) in inside else GREY)
    part = part_of(PICTURE, (2 / WIDTH, 2 / HEIGHT, 5 / WIDTH, 4 / HEIGHT), cut)
    assert [_pixel(part, x, 0) for x in range(3)] == [GREY, GREY, (4, 2, 200)]


@pytest.mark.parametrize("box", [(0.0, 0.0, 1.0, 0.5), (0.0, 0.0, 0.2, 1.0), (0.0, 0.0, 1.0, 1.0)])
def test_of_an_oblong_part_the_middle_square(box: tuple[float, float, float, float]) -> None:
    part = part_of(PICTURE, box, (), 16)
    assert (part.width, part.height) == (16, 16)


@pytest.mark.parametrize(("width", "height"), [(9, 3), (3, 9), (10, 3), (3, 10)])
def test_the_middle_square_is_as_far_from_both_ends(width: int, height: int) -> None:
    pixels = (bytes((10 * x, 10 * y, 0)) for y in range(height) for x in range(width))
    part = part_of(Picture(rgb=b"".join(pixels), width=width, height=height), (), (), 3)
    assert (part.width, part.height) == (3, 3)
    assert _pixel(part, 0, 0) == (10 * ((width - 3) // 2), 10 * ((height - 3) // 2), 0)


def test_the_shorter_side_gets_the_length_and_the_other_in_proportion() -> None:
    pixels = (bytes((0 if x < 12 else 255, 0, 0)) for _ in range(8) for x in range(24))
    part = part_of(Picture(rgb=b"".join(pixels), width=24, height=8), (), (), 4)
    assert _pixel(part, 0, 0)[0] < 20
    assert _pixel(part, 3, 0)[0] > 235


def test_a_box_out_of_the_picture_is_its_nearest_pixel() -> None:
    assert _pixel(part_of(PICTURE, (2.0, 2.0, 3.0, 3.0)), 0, 0) == (WIDTH - 1, HEIGHT - 1, 200)
    assert _pixel(part_of(PICTURE, (-2.0, -1.0, -1.0, -0.5)), 0, 0) == (0, 0, 200)
    empty = part_of(PICTURE, (0.5, 0.5, 0.5, 0.5))
    assert (empty.width, empty.height, _pixel(empty, 0, 0)) == (1, 1, (4, 3, 200))


@given(st.tuples(*(st.floats(-2, 3) for _ in range(4))))
def test_whatever_the_box_there_is_a_pixel_within_the_picture(box: tuple[float, float, float, float]) -> None:
    part = part_of(PICTURE, box)
    assert 1 <= part.width <= WIDTH
    assert 1 <= part.height <= HEIGHT
