"""A chart as SVG: inside a page, with the colours of its theme, or as a file.

Text stays text, so that it can be searched, copied and read aloud. All text is escaped, and there are no links or
styles, so a hostile prompt does no harm.
"""

from __future__ import annotations

from collections.abc import Callable
from xml.sax.saxutils import escape, quoteattr

from salva.charts.colours import hex_colour
from salva.charts.scene import Area, Colour, Dots, DrawnChart, Line, Mark, Part, Point, Rect, Text

_FONT = 'font-family="DejaVu Sans, Verdana, Segoe UI, sans-serif"'


def svg_file(scene: DrawnChart) -> bytes:
    """A complete file, on white."""
    width, height = (_n(length + 24) for length in (scene.width, scene.height))
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" {_FONT} '
    box = f'viewBox="-12 -12 {width} {height}"'
    paper = f'<rect x="-12" y="-12" width="{width}" height="{height}" fill="#ffffff"/>'
    title = f"<title>{_words(scene.label)}</title>"
    body = "".join(_part(part, hex_colour, can_choose=False) for part in scene.parts)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{head}{box}>{title}{paper}{body}</svg>\n'.encode()


def svg_markup(scene: DrawnChart, name: str) -> str:
    """Markup for a page: with the class `name`, the page's colour variables, and marks that can be selected."""
    can_choose = any(isinstance(part, Mark) and part.chooses for part in scene.parts)
    role = "group" if can_choose else "img"
    head = f'<svg class="{name}" viewBox="0 0 {_n(scene.width)} {_n(scene.height)}" role="{role}" '
    body = "".join(_part(part, _variable, can_choose=can_choose) for part in scene.parts)
    return f"{head}aria-label={_attribute(scene.label)}>{body}</svg>"


def _part(part: Part, colour: Callable[[Colour], str], *, can_choose: bool) -> str:
    match part:
        case Mark():
            body = "".join(_part(inner, colour, can_choose=can_choose) for inner in part.parts)
            title = f"<title>{_words(part.title)}</title>"
            if not can_choose or not part.chooses:
                return f"<g>{title}{body}</g>"
            tags = _attribute("\n".join(f"{name}\t{' '.join(value.split())}" for name, value in part.chooses))
            label = _attribute(part.title)
            return f'<g class="mark" role="button" tabindex="0" aria-label={label} data-tags={tags}>{title}{body}</g>'
        case Rect():
            edge = f' stroke="{colour(part.edge)}"' if part.edge else ""
            corner = f' rx="{_n(part.radius)}"' if part.radius else ""
            fill = colour(part.fill) if part.fill else "none"
            pointer = "" if part.fill else ' pointer-events="all"'
            size = f'width="{_n(max(part.width, 0))}" height="{_n(part.height)}"'
            return f'<rect x="{_n(part.x)}" y="{_n(part.y)}" {size}{corner} fill="{fill}"{edge}{pointer}/>'
        case Line():
            stroke = f'stroke="{colour(part.stroke)}" stroke-width="{_n(part.width)}"'
            return f'<polyline points="{_points(part.points)}" fill="none" {stroke}/>'
        case Area():
            return f'<polygon points="{_points(part.points)}" fill="{colour(part.fill)}" opacity="{part.opacity}"/>'
        case Dots():
            radius = _n(part.radius)
            dots = "".join(f'<circle cx="{_n(x)}" cy="{_n(y)}" r="{radius}"/>' for x, y in part.points)
            return f'<g fill="{colour(part.fill)}" fill-opacity="{part.opacity}">{dots}</g>'
        case Text():
            bold = ' font-weight="650"' if part.is_bold else ""
            anchor = f' text-anchor="{part.anchor}"' if part.anchor != "start" else ""
            at = f'x="{_n(part.x)}" y="{_n(part.y)}" font-size="{_n(part.size)}" fill="{colour(part.fill)}"'
            return f"<text {at}{anchor}{bold}>{_words(part.text)}</text>" if part.text else ""


def _variable(colour: Colour) -> str:
    full = f"var(--{colour.role})"
    return full if colour.share == 1.0 else f"color-mix(in srgb, {full} {colour.share * 100:.0f}%, var(--panel))"


def _points(points: tuple[Point, ...]) -> str:
    return " ".join(f"{_n(x)},{_n(y)}" for x, y in points)


def _n(length: float) -> str:
    return f"{length:.1f}".removesuffix(".0")


def _words(text: str) -> str:
    return escape(_printable(text))


def _attribute(text: str) -> str:
    return quoteattr(_printable(text))


def _printable(text: str) -> str:
    """The text without characters that XML cannot hold."""
    return "".join(letter for letter in text if letter.isprintable() or letter in "\t\n")
