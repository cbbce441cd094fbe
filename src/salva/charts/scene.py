"""A chart as shapes and texts with positions, coloured by role.

Made by drawing.py, written by svg.py and png.py. Roles become colours when they are written, because a page has two
themes and a file has one. Lengths are in pixels of a page, from the upper left.
"""

from __future__ import annotations

from dataclasses import dataclass

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Colour:
    """A role's colour mixed with the paper's; share is that of the role."""

    role: str
    share: float = 1.0


INK, SOFT, LINE, PAPER, ON_STRONG = (Colour(role) for role in ("ink", "soft", "line", "panel", "on-strong"))
TRACK = Colour("line", 0.55)
BAD, FINE = "bad", "accent"
SERIES = (BAD, FINE, "good", "ochre", "violet", "soft", "rose", "moss")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rect:
    """A box; without a fill it only takes the pointer."""

    x: float
    y: float
    width: float
    height: float
    fill: Colour | None = None
    radius: float = 0.0
    edge: Colour | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """Points joined by a line."""

    points: tuple[Point, ...]
    stroke: Colour
    width: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Area:
    """A filled outline."""

    points: tuple[Point, ...]
    fill: Colour
    opacity: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Dots:
    """Round marks of one size and colour."""

    points: tuple[Point, ...]
    radius: float
    fill: Colour
    opacity: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A line of text; y is its baseline."""

    x: float
    y: float
    text: str
    size: float = 12.0
    fill: Colour = INK
    anchor: str = "start"
    is_bold: bool = False


Shape = Rect | Line | Area | Dots | Text


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """The shapes of one row of a chart's table, with a title, and the counterexamples that it selects."""

    parts: tuple[Shape, ...]
    title: str
    chooses: tuple[tuple[str, str], ...] = ()
    """Filters and their values."""


Part = Shape | Mark


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnChart:
    """A complete chart."""

    width: float
    height: float
    parts: tuple[Part, ...]
    label: str
    """What it shows, for screen readers."""
