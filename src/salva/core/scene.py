"""What is where in an image, as the logic sees it."""

from __future__ import annotations

from dataclasses import dataclass

Box = tuple[float, float, float, float]
"""(x0, y0, x1, y1) as fractions of the image's sides, origin top left."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Thing:
    """One thing in a scene."""

    label: str
    box: Box
    colour: str | None = None
    """None when nobody observed the colour, or nobody could tell it."""

    @property
    def x(self) -> float:
        """Centre of the box on the horizontal axis."""
        return (self.box[0] + self.box[2]) / 2

    @property
    def y(self) -> float:
        """Centre of the box on the vertical axis."""
        return (self.box[1] + self.box[3]) / 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """The things of one image, in no particular order."""

    things: tuple[Thing, ...] = ()
