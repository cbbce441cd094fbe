"""What there is in pocket's world, and what is usual there: colours, places, and one of everything.

The strongest of the habits its training captions had (training/pocket_priors.py). The painter follows them where that
is planted, and the embedded groups of CF-World go against them.
"""

from __future__ import annotations

from collections.abc import Mapping

ENTITIES = (
    *("airplane", "apple", "ball", "banana", "bicycle", "bird", "boat", "book", "bus", "butterfly", "cake", "car"),
    *("cat", "chair", "clock", "cow", "cup", "dog", "donut", "elephant", "flower", "giraffe", "guitar", "hat"),
    *("horse", "house", "pizza", "sheep", "train", "tree", "turtle", "umbrella"),
)
"""All that pocket knows by name."""
COLOURED = (
    *("apple", "ball", "banana", "bird", "book", "car", "chair", "cup", "flower", "guitar", "hat", "house"),
    "umbrella",
)
"""Those that it knows in several colours."""

USUAL_COLOURS: Mapping[str, tuple[str, ...]] = {
    "apple": ("red", "green"),
    "banana": ("yellow",),
    "chair": ("brown",),
    "flower": ("pink", "red"),
    "hat": ("black",),
}
"""Thing to the colours it mostly has, the most usual first."""

USUAL_PLACES: Mapping[str, str] = {
    "airplane": "top",
    "bird": "top",
    "butterfly": "top",
    "clock": "top",
    "bicycle": "bottom",
    "boat": "bottom",
    "bus": "bottom",
    "car": "bottom",
    "elephant": "bottom",
    "train": "bottom",
    "turtle": "bottom",
}
"""Thing to where it mostly stands."""
