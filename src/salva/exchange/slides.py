"""A counterexample as one image for a slide: the case's images beside each other, with boxes, prompts and a caption.

Pixels, boxes and texts come in, an image goes out. Text is drawn, so nothing in it can do harm.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from salva.charts.colours import rgb
from salva.charts.png import font_of
from salva.charts.scene import BAD, FINE, INK, PAPER, SOFT, Colour
from salva.core.image import Picture
from salva.core.printable import printable
from salva.core.scene import Box
from salva.imaging.files import as_image

if TYPE_CHECKING:
    from PIL import Image
    from PIL.ImageDraw import ImageDraw
    from PIL.ImageFont import FreeTypeFont

_SIDE, _GAP = 640, 24
_TEXT, _LABEL = 22, 17
_LEADING = 1.35
_MOST_LINES, _MOST_FAILURES = 6, 4
_EDGE = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A box with its name."""

    box: Box
    name: str
    is_blamed: bool = False
    """Whether a failure of this image names it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """One image of a slide."""

    picture: Picture | None
    """None where the image is missing."""
    prompt: str
    marks: tuple[Mark, ...] = ()
    failures: tuple[str, ...] = ()
    """What failed in this image."""


def slide(panels: Sequence[Panel], caption: str) -> Picture:
    """The panels in a row on white, each with its prompt and its failures below, and a caption below all."""
    from PIL import Image, ImageDraw

    width = len(panels) * (_SIDE + _GAP) + _GAP
    below = [
        [*((line, INK) for line in _wrapped(panel.prompt, _SIDE)), *_failure_lines(panel.failures, _SIDE)]
        for panel in panels
    ]
    foot = [(line, SOFT) for line in _wrapped(caption, width - 2 * _GAP)]
    text_height = round(_TEXT * _LEADING)
    top_of_foot = 2 * _GAP + _SIDE + max(map(len, below)) * text_height + _GAP
    image = Image.new("RGB", (width, top_of_foot + len(foot) * text_height + _GAP), rgb(PAPER))
    pen = ImageDraw.Draw(image)
    for number, (panel, lines) in enumerate(zip(panels, below, strict=True)):
        left = _GAP + number * (_SIDE + _GAP)
        _draw_panel(image, pen, panel, left)
        _draw_lines(pen, lines, left, 2 * _GAP + _SIDE)
    _draw_lines(pen, foot, _GAP, top_of_foot)
    return Picture(rgb=image.tobytes(), width=image.width, height=image.height)


def _draw_panel(image: Image.Image, pen: ImageDraw, panel: Panel, left: int) -> None:
    if panel.picture is None:
        pen.rectangle((left, _GAP, left + _SIDE, _GAP + _SIDE), outline=rgb(SOFT))
        _draw_lines(pen, [("no image", SOFT)], left + _GAP, 2 * _GAP)
        return
    scale = _SIDE / max(panel.picture.width, panel.picture.height)
    size = max(1, round(panel.picture.width * scale)), max(1, round(panel.picture.height * scale))
    image.paste(as_image(panel.picture).resize(size), (left, _GAP))
    for mark in panel.marks:
        _draw_mark(pen, mark, (left, _GAP), size)


def _draw_mark(pen: ImageDraw, mark: Mark, corner: tuple[int, int], size: tuple[int, int]) -> None:
    x0, x1 = (corner[0] + min(max(edge, 0.0), 1.0) * size[0] for edge in sorted(mark.box[0::2]))
    y0, y1 = (corner[1] + min(max(edge, 0.0), 1.0) * size[1] for edge in sorted(mark.box[1::2]))
    colour = rgb(Colour(BAD if mark.is_blamed else FINE))
    pen.rectangle((x0, y0, x1, y1), outline=colour, width=_EDGE)
    font = font_of(_LABEL)
    name = _fitted(_one_line(mark.name), font, size[0])
    # The name stands inside the image, whatever the box does.
    x = max(corner[0], min(x0, corner[0] + size[0] - font.getlength(name) - 6))
    pen.rectangle((x, y0, x + font.getlength(name) + 6, y0 + _LABEL + 6), fill=colour)
    pen.text((x + 3, y0 + 2), name, fill=rgb(PAPER), font=font)


def _draw_lines(pen: ImageDraw, lines: Sequence[tuple[str, Colour]], left: int, top: int) -> None:
    for number, (line, colour) in enumerate(lines):
        pen.text((left, top + number * round(_TEXT * _LEADING)), line, fill=rgb(colour), font=font_of(_TEXT))


def _failure_lines(failures: Sequence[str], width: int) -> list[tuple[str, Colour]]:
    return [(line, Colour(BAD)) for text in failures[:_MOST_FAILURES] for line in _wrapped(text, width)]


def _wrapped(text: str, width: int) -> list[str]:
    """A text in lines of a width; what does not fit into the last one is cut."""
    font, lines = font_of(_TEXT), [""]
    for word in _one_line(text).split():
        longer = f"{lines[-1]} {word}".strip()
        if font.getlength(longer) > width and lines[-1]:
            lines.append(word)
        else:
            lines[-1] = longer
    shown = [*lines[: _MOST_LINES - 1], " ".join(lines[_MOST_LINES - 1 :])] if len(lines) > _MOST_LINES else lines
    return [_fitted(line, font, width) for line in shown]


def _fitted(line: str, font: FreeTypeFont, width: float) -> str:
    """A line cut to a width."""
    if font.getlength(line) <= width:
        return line
    n = len(line) * width / font.getlength(line)
    cut = line[: int(n)]
    while cut and font.getlength(f"{cut}…") > width:
        cut = cut[:-1]
    return f"{cut}…"


def _one_line(text: str) -> str:
    return " ".join(printable(text[:4000]).split())
