"""The pocket detector: painter scenes, images of any shape, and heat maps."""

from __future__ import annotations

import hashlib
import json
import random
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import numpy as np
import pytest
from PIL import Image, ImageFilter

from salva.assets.files import asset_path
from salva.core.boxes import boxes_above
from salva.core.image import Picture
from salva.core.observation import Detection, Detections
from salva.core.options import parse_options
from salva.core.protocols import ObserveRequest, Query
from salva.core.scene import Thing
from salva.detectors.pocket_detector import (
    CARD,
    DOUBT,
    SIDE,
    THRESHOLD,
    WEIGHTS,
    DetectorOptions,
    PocketDetector,
    find_boxes,
)
from salva.errors import UsageError
from salva.generators.painter.background import draw_background
from salva.generators.painter.component import random_scene
from salva.generators.painter.drawing import TextStrip, draw, sprite_index, text_box_size

Scene = tuple[Picture, tuple[Thing, ...]]


@cache
def detector() -> PocketDetector:
    return PocketDetector(DetectorOptions())


@cache
def scenes(n_each: int) -> tuple[Scene, ...]:
    """Scenes with 1 to 11 things."""
    return tuple(
        random_scene(random.Random(7000 + 100 * n_things + i), PocketDetector.labels(), n_things)
        for n_things in range(1, 12)
        for i in range(n_each)
    )


def observe(*pictures: Picture) -> list[tuple[Detection, ...]]:
    requests = [ObserveRequest(picture=picture, query=Query(role="detector")) for picture in pictures]
    seen = detector().observe(requests)
    assert all(isinstance(one, Detections) for one in seen)
    return [boxes_above(one) for one in seen if isinstance(one, Detections)]


def to_image(picture: Picture) -> Image.Image:
    return Image.frombytes("RGB", (picture.width, picture.height), picture.rgb)


def to_picture(image: Image.Image) -> Picture:
    return Picture(rgb=image.tobytes(), width=image.width, height=image.height)


def names(found: tuple[Detection, ...] | tuple[Thing, ...]) -> Counter[str]:
    return Counter(one.label for one in found)


def farthest(things: tuple[Thing, ...], seen: tuple[Detection, ...]) -> float:
    """The largest distance of a thing's edges from those of the nearest box with its label."""
    return max(
        min(
            max(abs(a - b) for a, b in zip(thing.box, box.box, strict=True)) for box in seen if box.label == thing.label
        )
        for thing in things
    )


def test_painter_scenes_have_right_labels_counts_and_boxes() -> None:
    wrong = [
        (names(things), names(seen))
        for (_, things), seen in zip(scenes(6), observe(*(picture for picture, _ in scenes(6))), strict=True)
        if names(things) != names(seen) or farthest(things, seen) > 0.03
    ]
    assert len(wrong) <= 1, wrong


def test_small_blurred_scenes_have_right_labels() -> None:
    blurred = [
        to_picture(to_image(picture).resize((112, 112)).filter(ImageFilter.GaussianBlur(0.6)))
        for picture, _ in scenes(2)
    ]
    wrong = [
        names(things)
        for (_, things), seen in zip(scenes(2), observe(*blurred), strict=True)
        if names(things) != names(seen)
    ]
    assert len(wrong) <= 1, wrong


def test_backgrounds_and_text_have_no_boxes() -> None:
    pictures = [to_picture(draw_background("varied", 256, seed)) for seed in range(25)]
    for seed, text in enumerate(("a cat and a dog", "two apples", "there is no cow")):
        width, height = text_box_size(text, 256)
        strip = TextStrip(text=text, box=(0.02, 0.3, 0.02 + width, 0.3 + height), is_dark=seed == 1)
        pictures.append(draw((), side=256, background="varied", seed=seed, has_shadows=False, text=strip))
    assert [seen for seen in observe(*pictures) if seen] == []


@pytest.mark.parametrize("size", [(1, 1), (16, 16), (17, 400), (900, 30), (1000, 1000)])
def test_images_of_any_size_are_accepted(size: tuple[int, int]) -> None:
    picture = to_picture(Image.new("RGB", size, (120, 200, 90)))
    assert observe(picture) == [()]


@pytest.mark.parametrize(("width", "height"), [(512, 256), (256, 480)])
def test_boxes_are_fractions_of_an_oblong_image(width: int, height: int) -> None:
    picture, things = scenes(1)[1]
    wide = Image.new("RGB", (width, height), (230, 225, 210))
    left, top = width - 256, height - 256
    wide.paste(to_image(picture), (left, top))
    (seen,) = observe(to_picture(wide))
    moved = tuple(
        Thing(
            label=thing.label,
            box=(
                (thing.box[0] * 256 + left) / width,
                (thing.box[1] * 256 + top) / height,
                (thing.box[2] * 256 + left) / width,
                (thing.box[3] * 256 + top) / height,
            ),
        )
        for thing in things
    )
    assert names(seen) == names(things)
    assert farthest(moved, seen) < 0.03


def test_observations_do_not_depend_on_batch_or_thread() -> None:
    pictures = [picture for picture, _ in scenes(1)]
    together = observe(*pictures)
    assert [observe(picture)[0] for picture in pictures] == together
    with ThreadPoolExecutor(2) as pool:
        assert [seen[0] for seen in pool.map(observe, pictures)] == together


def test_a_higher_floor_only_drops_weaker_boxes() -> None:
    picture, _ = scenes(1)[7]
    request = ObserveRequest(picture=picture, query=Query(role="detector"))
    (everything,) = detector().observe([request])
    assert isinstance(everything, Detections)
    assert (everything.floor, everything.threshold, everything.doubt) == (0.05, 0.4, DOUBT)
    (fewer,) = PocketDetector(DetectorOptions(floor=0.3)).observe([request])
    assert isinstance(fewer, Detections)
    assert fewer.floor == 0.3
    assert fewer.boxes == tuple(box for box in everything.boxes if box.score >= 0.3)


@pytest.mark.parametrize("setting", [("floor", "0"), ("floor", "0.5"), ("floor", "nan"), ("threads", "0")])
def test_invalid_options_are_refused(setting: tuple[str, str]) -> None:
    with pytest.raises(UsageError, match=setting[0]):
        parse_options(DetectorOptions, dict([setting]), "detector")


def test_the_labels_are_the_painters_entities() -> None:
    assert set(PocketDetector.labels()) == set(sprite_index()["entities"])


def test_the_card_matches_the_code() -> None:
    card = json.loads(asset_path(CARD).read_text())
    assert tuple(card["labels"]) == PocketDetector.labels()
    assert card["side"] == SIDE
    assert card["threshold"] == THRESHOLD


def test_the_pin_is_the_digest_of_the_file() -> None:
    digest = hashlib.sha256(asset_path(WEIGHTS).read_bytes()).hexdigest()
    assert PocketDetector.weights(DetectorOptions()) == digest[:16]
    assert asset_path(WEIGHTS).stat().st_size < 8_000_000


def empty_maps() -> tuple[np.ndarray[tuple[int, ...], np.dtype[np.float32]], ...]:
    """Heat maps of two labels on 64 cells where nothing is, and boxes of 8 cells everywhere."""
    return np.full((2, 64, 64), -9, np.float32), np.zeros((4, 64, 64), np.float32)


def test_a_peak_gives_a_box_around_its_cell() -> None:
    heat, box = empty_maps()
    heat[1, 20, 40] = 3
    box[:, 20, 40] = (0.5, -0.5, 0, np.log(2))
    (seen,) = find_boxes(heat, box, ("cat", "dog"), 0.4)
    assert seen == Detection(label="dog", score=0.9526, box=(0.5781, 0.1875, 0.7031, 0.4375))


def test_a_peak_in_the_padding_gives_no_box() -> None:
    heat, box = empty_maps()
    heat[1, 4, 40], heat[0, 32, 40] = 3, 2
    (seen,) = find_boxes(heat, box, ("cat", "dog"), 0.4, (0.0, 0.25, 1.0, 0.5))
    assert seen.label == "cat"


def test_overlapping_peaks_keep_the_stronger() -> None:
    heat, box = empty_maps()
    heat[0, 20, 40] = 1
    heat[1, 20, 41] = 2
    assert names(find_boxes(heat, box, ("cat", "dog"), 0.4)) == Counter({"dog": 1})


def test_peaks_apart_stay_two_and_a_slope_is_no_peak() -> None:
    heat, box = empty_maps()
    heat[0, 20, 40], heat[0, 20, 41], heat[0, 20, 47] = 3, 2, 1
    box[2:, 20, 41] = np.log(0.25)  # too small to be the same box by its overlap
    assert [seen.score for seen in find_boxes(heat, box, ("cat", "dog"), 0.4)] == [0.9526, 0.7311]
