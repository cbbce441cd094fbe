"""Colours of entities from pixels."""

from __future__ import annotations

import random
from dataclasses import replace
from math import nan

import pytest

from salva.core.image import Picture
from salva.core.observation import Detection, Detections, observation_from_json, observation_to_json
from salva.core.options import NoOptions
from salva.core.protocols import ObserveRequest, Query
from salva.core.scene import Box
from salva.errors import PluginError
from salva.generators.painter.component import random_scene
from salva.generators.painter.drawing import sprite_index
from salva.imaging.palette import PALETTE
from salva.logic.formula import COLOURS
from salva.observers.colours import PixelColours, colour_of

ENTITIES = sorted(name for name, facts in sprite_index()["entities"].items() if facts["colourable"])


def test_the_palette_has_every_colour_of_formulas() -> None:
    assert tuple(PALETTE) == COLOURS


@pytest.mark.parametrize("colour", COLOURS)
def test_a_patch_on_a_background_has_its_colour(colour: str) -> None:
    ground, inside = ((90, 160, 90), PALETTE[colour]) if colour != "green" else ((230, 230, 230), PALETTE[colour])
    rows = [bytes(inside if 8 <= x < 24 and 8 <= y < 24 else ground) for y in range(32) for x in range(32)]
    picture = Picture(rgb=b"".join(pixel for pixel in rows), width=32, height=32)
    assert colour_of(picture, (0.25, 0.25, 0.75, 0.75)) == colour


@pytest.mark.parametrize(("shade", "word"), [((15, 40, 15), "green"), ((0, 20, 0), "black")])
def test_a_dark_entity_keeps_its_hue_until_it_is_black(shade: tuple[int, int, int], word: str) -> None:
    assert colour_of(patch(shade, (230, 230, 230)), (0.25, 0.25, 0.75, 0.75)) == word


def test_a_box_may_fill_the_image() -> None:
    picture = Picture(rgb=bytes(PALETTE["purple"]) * 64, width=8, height=8)
    assert colour_of(picture, (0, 0, 1, 1)) == "purple"


@pytest.mark.parametrize(
    "box",
    [
        (0.5, 0.5, 0.5, 0.9),
        (0.4, 0.4, 0.42, 0.42),
        (1.2, 1.2, 1.6, 1.6),
        (-0.5, -0.5, -0.1, -0.1),
        (0.9, 0.9, 0.1, 0.1),
        (0, 0, nan, 1),
    ],
    ids=["no area", "one pixel", "right of it", "left of it", "inside out", "no numbers"],
)
def test_a_box_with_hardly_any_pixels_has_no_colour(box: Box) -> None:
    assert colour_of(Picture(rgb=bytes(PALETTE["red"]) * 4096, width=64, height=64), box) is None


def test_a_box_beyond_the_edge_is_clipped() -> None:
    picture = patch(PALETTE["red"], (90, 160, 90))
    assert colour_of(picture, (0.25, 0.25, 0.75, 0.75)) == "red"
    assert colour_of(Picture(rgb=bytes(PALETTE["red"]) * 4096, width=64, height=64), (-1, -1, 2, 2)) == "red"


def test_gray_and_inverted_images() -> None:
    gray = Picture(rgb=bytes((128, 128, 128)) * 4096, width=64, height=64)
    assert colour_of(gray, (0.25, 0.25, 0.75, 0.75)) == "gray"
    ground = (90, 160, 90)
    for colour in ("red", "yellow", "blue", "green", "white", "black"):
        picture = patch(PALETTE[colour], ground if colour != "green" else (230, 230, 230))
        inverted = replace(picture, rgb=bytes(255 - value for value in picture.rgb))
        assert colour_of(inverted, (0.25, 0.25, 0.75, 0.75)) != colour


def test_noise_and_mixtures_are_undecided() -> None:
    rng = random.Random(3)
    noise = Picture(rgb=rng.randbytes(3 * 4096), width=64, height=64)
    assert colour_of(noise, (0.2, 0.2, 0.8, 0.8)) is None
    halves = [PALETTE["red"] if (x // 2 + y // 2) % 2 else PALETTE["green"] for y in range(64) for x in range(64)]
    assert colour_of(Picture(rgb=b"".join(map(bytes, halves)), width=64, height=64), (0, 0, 1, 1)) is None


def test_boxes_of_requested_names_get_colours() -> None:
    picture = patch(PALETTE["red"], (90, 160, 90))
    box = (0.25, 0.25, 0.75, 0.75)
    given = Detections(
        boxes=(
            Detection(label="person", raw="man", score=0.9, box=box),
            Detection(label="dog", score=0.4, box=box),
            Detection(label="cat", score=0.2, box=(2, 2, 3, 3)),
        ),
        floor=0.1,
        threshold=0.3,
    )
    request = ObserveRequest(
        picture=picture, query=Query(role="colour_reader", labels=("cat", "man")), given={"detector": given}
    )
    (seen,) = PixelColours(NoOptions()).observe([request])
    assert isinstance(seen, Detections)
    assert [box.colour for box in seen.boxes] == ["red", None, None]
    assert replace(seen, boxes=tuple(replace(box, colour=None) for box in seen.boxes)) == given
    assert observation_from_json(observation_to_json(seen)) == seen
    assert observation_to_json(replace(seen, boxes=given.boxes)) == observation_to_json(given)


def test_without_a_detectors_boxes_it_fails() -> None:
    request = ObserveRequest(picture=patch(PALETTE["red"], (0, 0, 0)), query=Query(role="colour_reader"))
    with pytest.raises(PluginError, match=r"\[input-unexpected\]"):
        PixelColours(NoOptions()).observe([request])


def patch(colour: tuple[int, int, int], ground: tuple[int, int, int]) -> Picture:
    """A square of one colour in the middle of another."""
    inside = range(16, 48)
    pixels = [colour if x in inside and y in inside else ground for y in range(64) for x in range(64)]
    return Picture(rgb=b"".join(map(bytes, pixels)), width=64, height=64)


def test_accuracy_on_painter_scenes() -> None:
    rng = random.Random(20_261)
    colours: list[tuple[str | None, str | None]] = []
    while len(colours) < 200:
        picture, things = random_scene(rng, ENTITIES, rng.choice((1, 2, 3)), colour_rate=1.0)
        colours += [(colour_of(picture, thing.box), thing.colour) for thing in things]
    n_right = sum(word == colour for word, colour in colours)
    n_decided = sum(word is not None for word, _ in colours)
    assert n_right / len(colours) >= 0.95
    assert n_right / n_decided >= 0.98
