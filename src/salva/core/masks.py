"""Masks as text and back: run lengths in, a short text to store, rows of pixels out.

A mask covers a rectangle of the image and nothing beyond it. A run mostly has the length of the one two places
before it, give or take a pixel, so the differences are what is kept, deflated: some 150 to 850 characters for a
thing in an image of 512 pixels. Knows nothing of labels or scores.
"""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import sub

MAX_PIXELS = 64_000_000
"""No mask is larger than the largest image that is read."""
_NUMBER = struct.Struct("<i")
_CHUNK = 1 << 16
_EFFORT = 3
"""Of deflating: more makes a tenth less and takes several times as long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mask:
    """Part of an image, as mask_of makes it; the rectangle is in pixels of the image, origin top left."""

    left: int
    top: int
    width: int
    height: int
    packed: str
    """The run lengths within the rectangle, row after row, background first; runs_of has them as numbers."""

    def __post_init__(self) -> None:
        if min(self.left, self.top) < 0 or min(self.width, self.height) < 1:
            raise ValueError(f"a mask of {self.width} x {self.height} pixels at ({self.left}, {self.top}) is none")
        if self.width * self.height > MAX_PIXELS:
            raise ValueError(f"a mask of {self.width} x {self.height} pixels; at most {MAX_PIXELS:,} are taken")

    def fits(self, width: int, height: int) -> bool:
        """Whether it lies within an image of this size."""
        return self.left + self.width <= width and self.top + self.height <= height


def mask_of(runs: Sequence[int], *, left: int, top: int, width: int, height: int) -> Mask:
    """The mask with these run lengths: background, thing, background, ...; only the first may be 0."""
    if sum(runs) != width * height or runs[0] < 0 or min(runs[1:], default=1) < 1:
        raise ValueError(
            f"runs of {sum(runs)} pixels for a rectangle of {width} x {height}; they must fill it, each at least 1 "
            "but the first"
        )
    steps = (*runs[:2], *map(sub, runs[2:], runs))
    packed = base64.b85encode(zlib.compress(struct.pack(f"<{len(steps)}i", *steps), _EFFORT)).decode("ascii")
    return Mask(left=left, top=top, width=width, height=height, packed=packed)


def runs_of(mask: Mask) -> Iterator[int]:
    """The run lengths again; a text that no mask_of made is a ValueError at the latest after the last."""
    one = other = total = 0
    for step in _steps(mask.packed):
        one, other = other, one + step
        total += other
        if other < 0 or total > mask.width * mask.height:
            break
        yield other
    if total != mask.width * mask.height:
        raise ValueError(f"a mask of {mask.width} x {mask.height} pixels whose runs do not fill it; it is damaged")


def rows_of(mask: Mask) -> Iterator[bytes]:
    """The rectangle row after row, a byte a pixel: 1 where the thing is, else 0."""
    row = bytearray()
    is_thing = False
    for run in runs_of(mask):
        while run:
            part = min(run, mask.width - len(row))
            row += (b"\x01" if is_thing else b"\x00") * part
            run -= part
            if len(row) == mask.width:
                yield bytes(row)
                row.clear()
        is_thing = not is_thing


def _steps(packed: str) -> Iterator[int]:
    """The stored numbers, a few at a time: a short text may stand for more than fits into memory."""
    try:
        rest = base64.b85decode(packed)
        opened, left_over = zlib.decompressobj(), b""
        while not opened.eof:
            numbers = left_over + opened.decompress(rest, _CHUNK)
            rest = opened.unconsumed_tail
            if not numbers and not rest:
                raise ValueError("it ends too early")
            whole = len(numbers) - len(numbers) % _NUMBER.size
            yield from (number for (number,) in _NUMBER.iter_unpack(numbers[:whole]))
            left_over = numbers[whole:]
    except (ValueError, zlib.error) as error:
        raise ValueError(f"the packed runs of a mask cannot be read: {error}") from error
