"""A chart laid out: shapes and words at places, coloured by role.

Made by drawing.py, written by svg.py and png.py. A role becomes a colour only when it is written, because a page has
two themes and a file has one. Lengths are pixels of a page at its usual size, from the upper left.
"""

from __future__ import annotations

from dataclasses import dataclass

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Colour:
    """A role's colour, mixed with the paper: at share 1 all of it, at 0 the paper's."""

    role: str
    share: float = 1.0


INK, SOFT, LINE, PAPER, ON_STRONG = (Colour(role) for role in ("ink", "soft", "line", "panel", "on-strong"))
TRACK = Colour("line", 0.55)
BAD, FINE = "bad", "accent"
SERIES = (BAD, FINE, "good", "ochre", "violet", "soft", "rose", "moss")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rect:
    """A box; without a fill it is only a place to point at."""

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
    """Words on a line; y is the line they stand on."""

    x: float
    y: float
    text: str
    size: float = 12.0
    fill: Colour = INK
    anchor: str = "start"
    is_bold: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """The shapes of one row of a chart's table, with what it says and what choosing it shows."""

    parts: tuple[Rect | Line | Area | Dots | Text, ...]
    title: str
    chooses: tuple[tuple[str, str], ...] = ()
    """Filter and value, for the counterexamples it stands for."""


Part = Rect | Line | Area | Dots | Text | Mark


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnChart:
    """A whole chart."""

    width: float
    height: float
    parts: tuple[Part, ...]
    label: str
    """What it shows, for those who cannot see it."""
