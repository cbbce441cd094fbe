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

CONTEXTS: dict[str, tuple[str, ...]] = {
    "street": ("car", "bus", "bicycle", "train", "house", "tree", "dog", "umbrella", "bird", "hat"),
    "farm": ("cow", "horse", "sheep", "dog", "cat", "house", "tree", "flower", "apple"),
    "kitchen": ("apple", "banana", "cake", "cup", "donut", "pizza", "book", "flower", "clock", "chair", "scissors"),
    "room": ("cat", "dog", "chair", "clock", "book", "guitar", "hat", "cup", "ball", "umbrella", "scissors"),
    "wild": ("elephant", "giraffe", "turtle", "bird", "tree", "butterfly", "horse"),
    "water": ("boat", "bird", "turtle", "airplane", "umbrella", "ball", "house"),
    "garden": ("flower", "butterfly", "tree", "chair", "apple", "ball", "cat", "bicycle", "turtle", "banana"),
}
"""Which things are met together."""
IN_CONTEXT = 0.6
"""The share of pictures whose things come from one context; the others mix all."""

SIGNS = (
    *("STOP", "OPEN", "SALE", "EXIT", "CAFE", "HOTEL", "TAXI", "PARK", "ZOO", "FARM", "MENU", "NEW", "FREE", "SHOP"),
    *("50", "P", "BUS", "TOYS", "FISH", "NEWS"),
)
"""Words on plates that stand in some pictures; no caption speaks of them."""
SIGN_RATE = {"street": 0.12, "water": 0.04, "kitchen": 0.04, "room": 0.03, "farm": 0.03}
SIGN_RATE_ELSE = 0.015

OVERLAP_RATE, MOST_OVERLAP = 0.30, 0.45
"""In so many pictures things may cover each other, by at most this share of the smaller one's box."""
CUT_RATE, MOST_CUT = 0.12, 0.4
"""In so many pictures a thing or two may stick out of the picture, by at most this share of its side."""
TURN_RATE, MOST_TURN = 0.18, 45.0
"""In so many pictures each thing is turned by up to so many degrees."""
ODD_SIZE_RATE = 0.18
"""In so many pictures sizes follow no rule: from an eighth of the side to nearly all of it."""

# How captions are worded: measured over 5,003 captions that people wrote, see caption_rates.py and README.md.
NO_RATE, OR_RATE, NOT_RATE, NEITHER_RATE = 0.0030, 0.0016, 0.0014, 0.0002
"""Denials and choices. Nobody wrote neither; it is here so that the word is known."""
DENIED_IN_CONTEXT = 0.85
"""How often what is denied or offered as the other choice is often met with what is shown; it is never shown."""
AGAIN_RATE = 0.030
"""A thing of the caption is named once more ("a cup and a book , the cup is red") ..."""
ALIKE_RATE = 0.030
"""... and pictures of two alike, told apart ("a red cup next to a blue cup", "a cat and another cat")."""
CLAUSE_RATE = 0.055
"""that, which."""
WHILE_RATE = 0.032
SENTENCES_RATE = 0.001
TAIL_RATE = 0.10
"""Words about the surroundings that the picture does not show ("on a table")."""

# Chosen, not measured: captions of the kind people write beside pictures are neither complete nor all true.
LEFT_OUT_RATE = 0.06
"""Of captions of several kinds of things, those that are silent about one."""
NOT_SHOWN_RATE = 0.02
"""Captions that name a thing which is often met with those shown, and is not there."""
