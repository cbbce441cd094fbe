"""The colours of charts on white; a page has its own in report.css, by the same names."""

from __future__ import annotations

from salva.charts.scene import Colour

_ROLES = {
    "ink": 0x22201C,
    "soft": 0x6D675C,
    "line": 0xDDD6C8,
    "panel": 0xFFFFFF,
    "on-strong": 0xFFFAF6,
    "bad": 0xC2391F,
    "accent": 0x2D5D8C,
    "good": 0x1D7A70,
    "ochre": 0xB07A12,
    "violet": 0x8A5BB0,
    "rose": 0xB05C88,
    "moss": 0x5A7D3C,
}


def rgb(colour: Colour) -> tuple[int, int, int]:
    """Red, green and blue from 0 to 255."""
    full = _ROLES[colour.role]
    red, green, blue = (round(255 + ((full >> shift & 255) - 255) * colour.share) for shift in (16, 8, 0))
    return red, green, blue


def hex_colour(colour: Colour) -> str:
    """The colour in SVG."""
    return "#{:02x}{:02x}{:02x}".format(*rgb(colour))
