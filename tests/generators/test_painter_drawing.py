"""Sprites, colours and backgrounds."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from PIL import Image

from salva.assets.files import asset_path
from salva.generators.painter.background import _near, draw_background
from salva.generators.painter.component import BACKGROUNDS
from salva.generators.painter.drawing import _sprite, recolour, sprite_index
from salva.imaging.palette import PALETTE
from salva.logic.formula import COLOURS

ENTITIES = sprite_index()["entities"]


def test_there_are_enough_entities_styles_and_colours() -> None:
    assert len(ENTITIES) >= 24
    assert all(len(entry["styles"]) >= 3 for entry in ENTITIES.values())
    assert sum(entry["colourable"] for entry in ENTITIES.values()) >= 8
    assert set(PALETTE) == set(COLOURS)


def test_sprites_are_cropped_and_of_one_size() -> None:
    for entity, entry in ENTITIES.items():
        for style in entry["styles"]:
            sprite = Image.open(asset_path(f"sprites/{style}/{entity.replace(' ', '-')}.webp"))
            assert max(sprite.size) == 160
            box = sprite.convert("RGBA").getchannel("A").point(lambda a: 255 * (a > 8)).getbbox()
            assert box is not None
            assert min(box[:2]) <= 2
            assert box[2] >= sprite.width - 2
            assert box[3] >= sprite.height - 2


def test_every_style_has_a_source_and_a_licence() -> None:
    for style, entry in sprite_index()["styles"].items():
        assert entry["source"], style
        assert asset_path(f"sprites/LICENSE-{style.split('-')[0]}").stat().st_size > 500


@pytest.mark.parametrize("entity", [name for name, entry in ENTITIES.items() if entry["colourable"]])
def test_a_recoloured_sprite_has_its_colour_and_its_outline(entity: str) -> None:
    for style in ENTITIES[entity]["styles"]:
        plain = np.asarray(_sprite(entity, style))
        for colour, rgb in PALETTE.items():
            painted = np.asarray(_sprite(entity, style, colour)).astype(int)
            assert (painted[..., 3] == plain[..., 3]).all()
            solid = painted[painted[..., 3] > 200][::7, :3]
            nearest = np.abs(solid[:, None, :] - np.array(list(PALETTE.values()))).sum(axis=2).argmin(axis=1)
            share = (nearest == list(PALETTE).index(colour)).mean()
            assert share > 0.2, (style, colour, rgb, share)


def test_recolouring_a_grey_drawing_by_hue_changes_nothing() -> None:
    grey = Image.new("RGBA", (8, 8), (120, 120, 120, 255))
    assert recolour(grey, "red").tobytes() == grey.tobytes()


@pytest.mark.parametrize("kind", BACKGROUNDS)
def test_backgrounds_are_calm_and_reproducible(kind: str) -> None:
    for seed in range(5 if kind == "photo" else 40):
        canvas = draw_background(kind, 128, seed)
        assert canvas.tobytes() == draw_background(kind, 128, seed).tobytes()
        pixels = np.asarray(canvas).astype(int)
        steps = np.abs(np.diff(pixels, axis=0)).max(axis=2)
        # Text and entities have many strong edges, backgrounds other than photographs hardly any.
        assert ((steps > 60).mean() < 0.02) or kind == "photo"
    if kind == "varied":
        assert len({draw_background(kind, 64, seed).tobytes() for seed in range(40)}) == 40


class Extreme(random.Random):
    """Takes the extreme of one-sided ranges and the middle of others."""

    def choice(self, seq: Any) -> Any:
        return min(seq)

    def uniform(self, a: float, b: float) -> float:
        return b if a > 0 else (a + b) / 2


def test_near_colours_have_the_given_distance() -> None:
    assert _near(Extreme(), (255, 200, 100), 0.2) == (204, 149, 49)
    assert _near(Extreme(), (255, 255, 20), 0.5) == (128, 128, 0)
