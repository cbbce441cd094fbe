"""Masks: nothing is lost on the way through the store, what is stored is short, and damage is told."""

from __future__ import annotations

import json
import math
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from salva.core.masks import Mask, mask_of, rows_of, runs_of
from salva.core.observation import Detection, Detections, observation_from_json, observation_to_json


@st.composite
def _rows(draw: st.DrawFn) -> tuple[bytes, ...]:
    width, height = draw(st.integers(1, 12)), draw(st.integers(1, 12))
    row = st.lists(st.integers(0, 1), min_size=width, max_size=width).map(bytes)
    return tuple(draw(st.lists(row, min_size=height, max_size=height)))


def _runs(rows: tuple[bytes, ...]) -> list[int]:
    """Counted one pixel after the other."""
    runs, now = [0], 0
    for pixel in b"".join(rows):
        if pixel != now:
            runs.append(0)
            now = pixel
        runs[-1] += 1
    return runs


def _masked(rows: tuple[bytes, ...], left: int = 0, top: int = 0) -> Mask:
    return mask_of(_runs(rows), left=left, top=top, width=len(rows[0]), height=len(rows))


@given(_rows(), st.integers(0, 9000), st.integers(0, 9000))
def test_rows_come_back_as_they_were_also_through_the_store(rows: tuple[bytes, ...], left: int, top: int) -> None:
    mask = _masked(rows, left, top)
    seen = Detections(boxes=(Detection(label="cat", score=0.5, box=(0.0, 0.0, 1.0, 1.0), mask=mask),))
    stored = observation_from_json(json.loads(json.dumps(observation_to_json(seen))))
    assert stored == seen
    assert isinstance(stored, Detections)
    assert stored.boxes[0].mask is not None
    assert tuple(rows_of(stored.boxes[0].mask)) == rows
    assert list(runs_of(mask)) == _runs(rows)


def test_a_box_without_a_mask_is_stored_as_before() -> None:
    seen = Detections(boxes=(Detection(label="cat", score=0.5, box=(0.0, 0.0, 1.0, 1.0)),))
    assert observation_to_json(seen) == {
        "kind": "detections",
        "boxes": [{"label": "cat", "score": 0.5, "box": [0.0, 0.0, 1.0, 1.0]}],
    }


def _wobbly(side: int, phase: float) -> tuple[bytes, ...]:
    """A thing with a wavy outline, half as wide as the square around it."""
    rows = []
    for y in range(side):
        half = side / 4 * (1 + 0.5 * math.sin(9 * y / side + phase) + 0.1 * math.sin(97 * y / side))
        rows.append(bytes(1 if abs(x - side / 2) < half else 0 for x in range(side)))
    return tuple(rows)


def test_a_hundred_masks_take_less_room_than_their_picture() -> None:
    sizes = [len(_masked(_wobbly(side, phase=side)).packed) for side in range(50, 250, 2)]
    assert sum(sizes) < 50_000, "a picture of 512 pixels takes some 300,000 bytes"


@pytest.mark.parametrize(
    "runs", [[], [3], [5, 1], [2, 0, 2], [-1, 5]], ids=["none", "too few", "too many", "an empty run", "negative"]
)
def test_runs_that_are_no_mask_are_refused(runs: list[int]) -> None:
    with pytest.raises(ValueError, match="runs of"):
        mask_of(runs, left=0, top=0, width=2, height=2)


@pytest.mark.parametrize(
    "fields",
    [{"left": -1}, {"top": -1}, {"width": 0}, {"height": 0}, {"width": 10_000, "height": 10_000}],
    ids=["left", "top", "no width", "no height", "huge"],
)
def test_rectangles_that_are_none_are_refused(fields: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="a mask of"):
        Mask(**{"left": 0, "top": 0, "width": 2, "height": 2, "packed": "", **fields})  # type: ignore[arg-type]  # numbers but for the text


@pytest.mark.parametrize("packed", ["", "~~~", "~", "hello", "\N{GREEK SMALL LETTER PI}"])
def test_a_damaged_text_is_told(packed: str) -> None:
    with pytest.raises(ValueError, match="mask"):
        list(rows_of(Mask(left=0, top=0, width=2, height=2, packed=packed)))


def test_a_mask_under_another_rectangle_is_told() -> None:
    whole = mask_of([0, 4], left=0, top=0, width=2, height=2)
    for width in (1, 3):
        with pytest.raises(ValueError, match="damaged"):
            list(rows_of(Mask(left=0, top=0, width=width, height=2, packed=whole.packed)))


def test_a_short_text_that_stands_for_millions_of_runs_takes_no_memory() -> None:
    bomb = mask_of([1] * 1_000_000, left=0, top=0, width=1000, height=1000)
    assert len(bomb.packed) < 50_000
    small = Mask(left=0, top=0, width=2, height=2, packed=bomb.packed)
    tracemalloc.start()
    with pytest.raises(ValueError, match="damaged"):
        list(rows_of(small))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 1_000_000


def test_whether_it_fits_a_picture() -> None:
    mask = mask_of([0, 6], left=3, top=4, width=3, height=2)
    assert mask.fits(6, 6)
    assert not mask.fits(5, 6)
    assert not mask.fits(6, 5)
