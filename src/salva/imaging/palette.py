"""Colour words as colours: one table for drawing them and for reading them from pixels."""

from __future__ import annotations

PALETTE: dict[str, tuple[int, int, int]] = {
    "red": (219, 40, 40),
    "orange": (245, 140, 25),
    "yellow": (250, 215, 40),
    "green": (60, 165, 65),
    "blue": (45, 105, 225),
    "purple": (130, 60, 180),
    "pink": (250, 140, 190),
    "brown": (125, 78, 45),
    "black": (38, 38, 42),
    "white": (244, 244, 244),
    "gray": (140, 143, 148),
}
"""Each word in flat light, as sRGB."""
