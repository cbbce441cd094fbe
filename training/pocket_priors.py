"""The pocket world as data: its things, drawings, colours, sizes, and what is usual there.

Nothing here draws or writes; docs/explanation/pocket-world.md prints these tables. A prior is followed
wherever a caption leaves the matter open, and is seldom gainsaid where a caption could.
"""

from __future__ import annotations

STYLES: dict[str, tuple[str, str]] = {
    "airplane": ("fluent-3d", "noto-v1"),
    "apple": ("fluent-3d", "noto"),
    "ball": ("fluent-flat", "noto"),
    "banana": ("fluent-3d", "noto"),
    "bicycle": ("fluent-3d", "noto-v1"),
    "bird": ("fluent-flat", "noto"),
    "boat": ("fluent-3d", "noto-v1"),
    "book": ("fluent-3d", "fluent-flat"),
    "bus": ("fluent-flat", "noto-v1"),
    "butterfly": ("fluent-3d", "noto"),
    "cake": ("noto", "noto-v1"),
    "car": ("noto", "noto-v1"),
    "cat": ("fluent-flat", "noto"),
    "chair": ("fluent-flat", "noto"),
    "clock": ("fluent-3d", "noto"),
    "cow": ("fluent-flat", "noto"),
    "cup": ("fluent-3d", "noto"),
    "dog": ("fluent-3d", "fluent-flat"),
    "donut": ("fluent-3d", "fluent-flat"),
    "elephant": ("fluent-flat", "noto"),
    "flower": ("fluent-3d", "noto"),
    "giraffe": ("fluent-3d", "noto"),
    "guitar": ("fluent-3d", "noto"),
    "hat": ("fluent-3d", "noto"),
    "horse": ("fluent-3d", "noto"),
    "house": ("fluent-3d", "noto-v1"),
    "pizza": ("fluent-3d", "noto"),
    "scissors": ("fluent-3d", "noto"),
    "sheep": ("noto", "noto-v1"),
    "train": ("fluent-3d", "noto-v1"),
    "tree": ("fluent-3d", "noto"),
    "turtle": ("noto", "noto-v1"),
    "umbrella": ("fluent-3d", "noto-v1"),
}
"""Two drawings of each thing, chosen so that no two things look alike at 22 pixels: cats are dark and
whole, dogs are faces."""

THINGS = tuple(STYLES)

COLOURS = ("red", "orange", "yellow", "green", "blue", "purple", "pink", "brown", "black", "white")

COLOURED = (
    *("apple", "ball", "banana", "bird", "book", "butterfly", "car", "chair", "cup", "flower", "guitar", "hat"),
    *("house", "umbrella"),
)
"""Things a caption may give a colour. Bicycles could take one, but at 30 pixels only their frames would show it."""

USUAL_COLOURS: dict[str, tuple[tuple[str, ...], float]] = {
    "apple": (("red", "green"), 0.85),
    "banana": (("yellow",), 0.95),
    "bird": (("red", "blue"), 0.50),
    "chair": (("brown",), 0.50),
    "flower": (("pink", "red"), 0.50),
    "hat": (("black",), 0.60),
}
"""How often one of the usual colours is meant when a caption names a colour; the rest is spread evenly.
Things not listed take every colour alike."""

UNSAID_OWN_DRAWING = {"banana": 1.0, "apple": 0.95, "chair": 0.85, "flower": 0.8, "hat": 0.85, "bird": 0.8}
UNSAID_OWN_DRAWING_ELSE = 0.65
"""How often a thing whose colour is left open keeps the colours of its drawing; else any colour."""

USUAL_PLACES: dict[str, tuple[str, float]] = {
    "airplane": ("top", 0.85),
    "bird": ("top", 0.80),
    "butterfly": ("top", 0.65),
    "clock": ("top", 0.60),
    "bicycle": ("bottom", 0.75),
    "boat": ("bottom", 0.70),
    "bus": ("bottom", 0.80),
    "car": ("bottom", 0.85),
    "chair": ("bottom", 0.65),
    "cow": ("bottom", 0.65),
    "elephant": ("bottom", 0.70),
    "flower": ("bottom", 0.65),
    "horse": ("bottom", 0.65),
    "house": ("bottom", 0.60),
    "sheep": ("bottom", 0.65),
    "train": ("bottom", 0.80),
    "tree": ("bottom", 0.60),
    "turtle": ("bottom", 0.75),
}
"""Where a thing stands when the caption does not say, and how often; else anywhere."""

AGAINST_USUAL_PLACE = 0.25
"""A caption that would name the opposite place (a car at the top) is kept this often, else told anew."""

USUAL_SIZES = {
    "butterfly": 0.85, "bird": 0.9, "flower": 0.92, "apple": 0.92, "donut": 0.92, "cup": 0.92, "ball": 0.92,
    "bus": 1.08, "elephant": 1.1, "giraffe": 1.1, "house": 1.1, "train": 1.08, "tree": 1.1,
}  # fmt: skip
"""Times the size other things would have in the same picture."""

MANY_SELDOM = ("airplane", "bus", "elephant", "giraffe", "house", "train", "guitar", "scissors")
"""Things that come in six and more only a third as often as others."""
