"""Images that are hard to observe: they still satisfy their formulas, and record what is visible."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

import numpy as np
import pytest

from salva.core.case import Prompt
from salva.core.protocols import Rendered, RenderRequest
from salva.core.run_spec import ComponentSpec
from salva.core.scene import Scene, Thing
from salva.errors import UsageError
from salva.generators.painter.component import Painter, PainterOptions
from salva.generators.painter.hard import EFFECTS, HARD
from salva.generators.painter.lettering import _STROKES, OTHER_SCRIPTS, draw_strip, strip_size
from salva.logic.notation import parse
from salva.logic.satisfaction import satisfies
from salva.registry import bind

FORMULAS = ("cat & dog", "2 cat & apple", "cat@left & cow@right", "banana@top & dog@bottom", "bird & car & sheep")

TEXTS = ("turned-text", "other-scripts")


def generate_one(formula: str, hard: str = "", seed: int = 3, faults: str = "") -> Rendered:
    prompt = Prompt(role="a", text="There is a cat on the left and a dog", formula=formula)
    painter = Painter(PainterOptions(hard=hard, faults=faults))
    (outcome,) = painter.render([RenderRequest(prompt=prompt, seed=seed)])
    assert isinstance(outcome, Rendered), outcome
    return outcome


def things(rendered: Rendered) -> list[dict[str, Any]]:
    return cast(list[dict[str, Any]], rendered.provenance["things"])


def scene(rendered: Rendered) -> Scene:
    return Scene(
        things=tuple(Thing(label=t["label"], box=tuple(t["box"]), colour=t["colour"]) for t in things(rendered))
    )


def pixels(rendered: Rendered) -> Any:
    picture = rendered.picture
    return np.frombuffer(picture.rgb, np.uint8).reshape(picture.height, picture.width, 3).astype(int)


@pytest.mark.parametrize("hard", HARD)
def test_hard_images_satisfy_their_formula_and_record_visible_boxes(hard: str) -> None:
    faults = "optical-character:1" if hard in TEXTS else ""
    for seed, formula in enumerate(FORMULAS):
        rendered = generate_one(formula, hard, seed, faults)
        assert satisfies(parse(formula), scene(rendered)), (formula, things(rendered))
        assert all(0 <= edge <= 1 for thing in things(rendered) for edge in thing["box"])
        assert bool(rendered.provenance["text"]) == (hard in TEXTS)
        plain = generate_one(formula, "", seed, faults)
        assert rendered.picture.image_id() != plain.picture.image_id()
        assert rendered.picture == generate_one(formula, hard, seed, faults).picture, "the same seed, the same picture"


def test_tiny_entities_are_tiny_and_cut_ones_touch_an_edge() -> None:
    for seed in range(5):
        for thing in things(generate_one("cat & dog", "tiny", seed)):
            x0, y0, x1, y1 = thing["box"]
            assert 0.05 < max(x1 - x0, y1 - y0) < 0.095
        boxes = [thing["box"] for thing in things(generate_one("cat & dog", "cut", seed))]
        assert any(min(box) == 0.0 or max(box) == 1.0 for box in boxes)


def test_overlapping_entities_overlap() -> None:
    for seed in range(5):
        one, other = (
            t["box"] for t in things(generate_one("2 cat & apple", "overlapping", seed)) if t["label"] == "cat"
        )
        width = min(one[2], other[2]) - max(one[0], other[0])
        height = min(one[3], other[3]) - max(one[1], other[1])
        assert width > 0.01
        assert height > 0.01


def test_silhouettes_have_one_colour_and_requested_colours_stay() -> None:
    inside = tuple(round(edge * 256) for edge in things(generate_one("elephant", "silhouettes", 1))[0]["box"])
    shown = pixels(generate_one("elephant", "silhouettes", 1))[inside[1] : inside[3], inside[0] : inside[2]]
    assert (abs(shown - [30, 30, 45]).max(axis=-1) < 3).mean() > 0.4
    for effect in EFFECTS:
        assert generate_one("red car & blue cup", effect).picture == generate_one("red car & blue cup").picture


def test_photo_backgrounds_are_busier_than_others() -> None:
    def edges(rendered: Rendered) -> float:
        return float(abs(np.diff(pixels(rendered), axis=0)).mean())

    busy = [edges(generate_one("!cat & !dog", "photo-ground", seed)) for seed in range(4)]
    calm = [edges(generate_one("!cat & !dog", "", seed)) for seed in range(4)]
    assert min(busy) > 2 * max(calm)


@pytest.mark.parametrize("text", OTHER_SCRIPTS)
def test_other_scripts_are_drawn(text: str) -> None:
    strip = np.asarray(draw_strip(text, 256, is_dark=False).convert("L"))
    assert strip.shape == strip_size(text, 256)[::-1]
    assert 0.04 < (strip < 128).mean() < 0.5


@pytest.mark.parametrize("character", "口日田中王土工山木")
def test_symmetric_characters_have_symmetric_strokes(character: str) -> None:
    def lines(strokes: Iterable[tuple[int, int, int, int]]) -> set[frozenset[tuple[int, int]]]:
        return {frozenset(((x0, y0), (x1, y1))) for x0, y0, x1, y1 in strokes}

    strokes = _STROKES[character]
    assert lines(strokes) == lines((10 - x0, y0, 10 - x1, y1) for x0, y0, x1, y1 in strokes)


def test_the_key_includes_the_kind_and_an_unknown_one_is_refused() -> None:
    def key(**options: str) -> object:
        return bind(ComponentSpec(role="model", name="painter", options=options)).identity()

    assert key() == key(hard="")
    assert key() != key(hard="turned")
    with pytest.raises(UsageError, match=r"'turnde'.*\[option-invalid\]"):
        key(hard="turnde")
