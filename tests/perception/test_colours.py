"""Colours measured from pixels, held against what the painter painted."""

from __future__ import annotations

import random

import pytest

from salva.core.image import Picture
from salva.generators.painter.component import random_scene
from salva.generators.painter.drawing import sprite_index
from salva.imaging.palette import PALETTE
from salva.logic.words import COLOURS
from salva.perception.colours import colour_of

THINGS = sorted(name for name, facts in sprite_index()["entities"].items() if facts["colourable"])


def test_every_colour_a_formula_can_name_can_be_seen() -> None:
    assert tuple(PALETTE) == COLOURS


@pytest.mark.parametrize("colour", COLOURS)
def test_a_patch_on_another_ground_has_its_own_colour(colour: str) -> None:
    ground, inside = ((90, 160, 90), PALETTE[colour]) if colour != "green" else ((230, 230, 230), PALETTE[colour])
    rows = [bytes(inside if 8 <= x < 24 and 8 <= y < 24 else ground) for y in range(32) for x in range(32)]
    picture = Picture(rgb=b"".join(pixel for pixel in rows), width=32, height=32)
    assert colour_of(picture, (0.25, 0.25, 0.75, 0.75)) == colour


def test_a_box_that_fills_the_picture_is_its_own_ground() -> None:
    picture = Picture(rgb=bytes(PALETTE["purple"]) * 64, width=8, height=8)
    assert colour_of(picture, (0, 0, 1, 1)) == "purple"


def test_a_box_without_pixels_has_no_colour() -> None:
    assert colour_of(Picture(rgb=bytes(3 * 64), width=8, height=8), (0.5, 0.5, 0.5, 0.9)) is None


def test_the_painters_colours_are_told_nineteen_times_in_twenty() -> None:
    rng = random.Random(20_261)
    n_seen = n_right = 0
    while n_seen < 300:
        picture, things = random_scene(rng, THINGS, rng.choice((1, 2, 3)), colour_rate=1.0)
        n_seen += len(things)
        n_right += sum(colour_of(picture, thing.box) == thing.colour for thing in things)
    assert n_right / n_seen >= 0.95
