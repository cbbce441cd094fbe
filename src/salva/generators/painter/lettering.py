"""Text on a strip: by a font, or for a few Chinese characters, which no shipped font has, stroke by stroke."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from PIL import Image, ImageDraw, ImageFont

from salva.assets.files import asset_path

OTHER_SCRIPTS = (
    *("κόκκινο ποδήλατο", "μικρός ελέφαντας", "σκύλος και γάτα"),
    *("красная машина", "большой слон", "кошка и собака"),
    *("中日土木", "王田山口", "工人日土"),
)
"""Texts in other scripts."""

_FONT_SHARE = 0.075
"""Height of text as a share of the side: 19 px at 256."""
_Stroke = tuple[int, int, int, int]
# On a square of 10 by 10, each stroke from one point to another.
_STROKES: Mapping[str, tuple[_Stroke, ...]] = {
    "口": ((2, 2, 8, 2), (8, 2, 8, 8), (8, 8, 2, 8), (2, 8, 2, 2)),
    "日": ((2, 1, 8, 1), (8, 1, 8, 9), (8, 9, 2, 9), (2, 9, 2, 1), (2, 5, 8, 5)),
    "田": ((1, 1, 9, 1), (9, 1, 9, 9), (9, 9, 1, 9), (1, 9, 1, 1), (1, 5, 9, 5), (5, 1, 5, 9)),
    "中": ((1, 3, 9, 3), (9, 3, 9, 6), (9, 6, 1, 6), (1, 6, 1, 3), (5, 0, 5, 10)),
    "王": ((1, 1, 9, 1), (2, 5, 8, 5), (0, 9, 10, 9), (5, 1, 5, 9)),
    "土": ((2, 4, 8, 4), (0, 9, 10, 9), (5, 0, 5, 9)),
    "工": ((1, 1, 9, 1), (0, 9, 10, 9), (5, 1, 5, 9)),
    "山": ((5, 0, 5, 9), (1, 3, 1, 9), (9, 3, 9, 9), (1, 9, 9, 9)),
    "木": ((0, 3, 10, 3), (5, 0, 5, 10), (5, 3, 0, 8), (5, 3, 10, 8)),
    "人": ((5, 0, 4, 4), (4, 4, 0, 10), (4, 4, 10, 10)),
}


def strip_size(text: str, side: int) -> tuple[int, int]:
    """Width and height of the strip in pixels."""
    margin = _margin(side)
    if _is_drawn(text):
        cell = _cell(side)
        return len(text) * cell + 2 * margin, cell + 2 * margin
    left, top, right, bottom = _font(side, text.isascii()).getbbox(text)
    return round(right - left) + 2 * margin, round(bottom - top) + 2 * margin


def draw_strip(text: str, side: int, *, is_dark: bool) -> Image.Image:
    """The strip with its text."""
    ground, ink = ((28, 30, 40), (250, 250, 245)) if is_dark else ((250, 250, 245), (25, 25, 35))
    strip = Image.new("RGBA", strip_size(text, side), (*ground, 255))
    pen = ImageDraw.Draw(strip)
    margin = _margin(side)
    if _is_drawn(text):
        _draw_strokes(pen, text, side, ink)
    else:
        font = _font(side, text.isascii())
        left, top, _, _ = font.getbbox(text)
        pen.text((margin - left, margin - top), text, font=font, fill=ink)
    return strip


def _draw_strokes(pen: ImageDraw.ImageDraw, text: str, side: int, ink: tuple[int, int, int]) -> None:
    cell, margin = _cell(side), _margin(side)
    # A tenth of a character stays free on each side.
    unit = 0.08 * cell
    for number, character in enumerate(text):
        x, y = margin + number * cell + 0.1 * cell, margin + 0.1 * cell
        for x0, y0, x1, y1 in _STROKES[character]:
            pen.line((x + x0 * unit, y + y0 * unit, x + x1 * unit, y + y1 * unit), fill=ink, width=max(2, cell // 11))


def _is_drawn(text: str) -> bool:
    return all(character in _STROKES for character in text)


def _cell(side: int) -> int:
    return max(22, round(1.3 * _FONT_SHARE * side))


def _margin(side: int) -> int:
    return max(4, side // 48)


@lru_cache(maxsize=8)
def _font(side: int, is_ascii: bool) -> ImageFont.FreeTypeFont:
    size = max(16, round(_FONT_SHARE * side))
    # The default has plain Latin letters only.
    font = ImageFont.load_default(size) if is_ascii else ImageFont.truetype(asset_path("fonts/DejaVuSans.ttf"), size)
    assert isinstance(font, ImageFont.FreeTypeFont), "Pillow's wheels come with FreeType"
    return font
