"""A chart as a PNG file on white; drawn large and scaled down, so that edges are smooth."""

from __future__ import annotations

from functools import cache
from io import BytesIO
from typing import TYPE_CHECKING

from salva.assets.files import read_asset
from salva.charts.colours import rgb
from salva.charts.scene import Area, Colour, Dots, DrawnChart, Line, Mark, Part, Point, Rect, Text

if TYPE_CHECKING:
    from PIL.ImageDraw import ImageDraw
    from PIL.ImageFont import FreeTypeFont

_SCALE = 4
_SHRINK = 2
_ANCHORS = {"start": "ls", "middle": "ms", "end": "rs"}


def png_file(scene: DrawnChart, margin: int = 12) -> bytes:
    """The bytes of a PNG file at two pixels for each pixel of the page."""
    from PIL import Image, ImageDraw

    size = (round(scene.width + 2 * margin) * _SCALE, round(scene.height + 2 * margin) * _SCALE)
    image = Image.new("RGB", size, "white")
    # In this mode colours can be translucent.
    pen = _Pen(ImageDraw.Draw(image, "RGBA"), margin)
    for part in scene.parts:
        pen.draw(part)
    buffer = BytesIO()
    image.reduce(_SHRINK).save(buffer, "PNG")
    return buffer.getvalue()


class _Pen:
    """Draws parts at a scale, inside a margin."""

    def __init__(self, draw: ImageDraw, margin: int) -> None:
        self._draw = draw
        self._margin = margin

    def draw(self, part: Part) -> None:
        match part:
            case Mark():
                for inner in part.parts:
                    self.draw(inner)
            case Rect():
                self._rect(part)
            case Line():
                places = [self._place(point) for point in part.points]
                self._draw.line(places, _fill(part.stroke), round(part.width * _SCALE), joint="curve")
            case Area():
                self._draw.polygon([self._place(point) for point in part.points], _fill(part.fill, part.opacity))
            case Dots():
                for point in part.points:
                    self._draw.circle(self._place(point), part.radius * _SCALE, _fill(part.fill, part.opacity))
            case Text():
                font = font_of(round(part.size * _SCALE), is_bold=part.is_bold)
                place = self._place((part.x, part.y))
                self._draw.text(place, part.text, _fill(part.fill), font, anchor=_ANCHORS[part.anchor])

    def _rect(self, part: Rect) -> None:
        if part.width <= 0 or not (part.fill or part.edge):
            return
        corners = [self._place((part.x, part.y)), self._place((part.x + part.width, part.y + part.height))]
        fill, edge = (_fill(colour) if colour else None for colour in (part.fill, part.edge))
        radius = min(part.radius, part.width / 2) * _SCALE
        self._draw.rounded_rectangle(corners, radius, fill, edge, _SCALE if edge else 0)

    def _place(self, point: Point) -> Point:
        return (point[0] + self._margin) * _SCALE, (point[1] + self._margin) * _SCALE


def _fill(colour: Colour, opacity: float = 1.0) -> tuple[int, int, int, int]:
    return *rgb(colour), round(255 * opacity)


@cache
def font_of(size: int, *, is_bold: bool = False) -> FreeTypeFont:
    """The font of images."""
    from PIL import ImageFont

    data = BytesIO(read_asset(f"fonts/DejaVuSans{'-Bold' if is_bold else ''}.ttf"))
    return ImageFont.truetype(data, size, layout_engine=ImageFont.Layout.BASIC)
