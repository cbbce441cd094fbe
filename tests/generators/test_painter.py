"""The painter: images satisfy their formulas, and depend on nothing but words, formula and seed."""

from __future__ import annotations

import random
from itertools import combinations
from typing import Any, cast

import numpy as np
import pytest

from salva.core.case import Prompt
from salva.core.options import parse_options
from salva.core.protocols import Rendered, RenderRequest
from salva.core.scene import Box, Scene, Thing
from salva.errors import BackendError, SalvaError, UsageError
from salva.generators.painter import composition
from salva.generators.painter.component import Painter, PainterOptions, random_scene
from salva.generators.painter.drawing import sprite_index
from salva.logic.notation import parse
from salva.logic.satisfaction import satisfies

METALOGIC = (
    "cat & dog",
    "cat & (dog & apple)",
    "cat & (dog | apple)",
    "(cat & dog) | (cat & apple)",
    "cat | (dog & apple)",
    "!!(cat & dog)",
    "!((!cat & !dog) & (!dog & !cat))",
    "cow@left & banana@right",
    "cow@left & banana@x-middle & dog@right",
    "cow@top & banana@bottom",
    "cow@top & banana@y-middle & dog@bottom",
    "cat@right | dog@left",
    "!(!cat@top & !dog@bottom)",
    "10 cat & dog",
    "banana & 10 apple",
)
BEYOND = (
    "3 cat@left & 2 dog@right",
    "10 banana@left",
    "cat & !cat@left",
    "cat@left & cat@right",
    "cat@left & dog@top",
    "left_of(cat, dog) & left_of(dog, cow)",
    "above(bird, house) & tree",
    "on(cat, chair)",
    "next_to(car, bus) & left_of(bus, car)",
    "near(car, bus) & above(bus, car)",
    "near(cat, chair) & !next_to(cat, chair)",
    "cat & dog & !near(cat, dog)",
    "on(cup, book) & left_of(book, cat)",
    "larger_than(cat, elephant) & smaller_than(apple, elephant)",
    "smaller_than(house, bird) & left_of(house, bird)",
    "red car & blue umbrella",
    "2 red car & green car@left",
    "car & !red car",
    "left_of(red car, green car) & cat",
    "larger_than(red car, blue car)",
    "next_to(2 cat, dog)",
    "on(2 cat, chair)",
    "!cat",
    "12 apple",
)


def request(formula: str | None, seed: int = 0, text: str | None = None) -> RenderRequest:
    return RenderRequest(prompt=Prompt(role="a", text=text or f"there is {formula}", formula=formula), seed=seed)


def generate(options: PainterOptions, formula: str | None, seed: int = 0, text: str | None = None) -> Rendered:
    (outcome,) = Painter(options).render([request(formula, seed, text)])
    if isinstance(outcome, SalvaError):
        raise outcome
    return outcome


def scene(rendered: Rendered) -> Scene:
    things = cast(list[dict[str, Any]], rendered.provenance["things"])
    return Scene(things=tuple(Thing(label=t["label"], box=tuple(t["box"]), colour=t["colour"]) for t in things))


def overlap(first: Box, second: Box) -> float:
    width = min(first[2], second[2]) - max(first[0], second[0])
    height = min(first[3], second[3]) - max(first[1], second[1])
    return max(0.0, width) * max(0.0, height)


@pytest.mark.parametrize("formula", METALOGIC + BEYOND)
def test_every_image_satisfies_its_formula(formula: str) -> None:
    for seed in range(12):
        shown = scene(generate(PainterOptions(), formula, seed))
        assert satisfies(parse(formula), shown), (seed, shown)


def test_entities_are_inside_large_enough_and_hardly_overlap() -> None:
    for formula in (*METALOGIC, "12 apple", "10 banana@left"):
        for seed in range(8):
            things = scene(generate(PainterOptions(), formula, seed)).things
            for thing in things:
                longest = max(thing.box[2] - thing.box[0], thing.box[3] - thing.box[1])
                assert 32 / 256 <= longest <= 0.46
                assert min(thing.box) >= 0
                assert max(thing.box) <= 1
                area = (thing.box[2] - thing.box[0]) * (thing.box[3] - thing.box[1])
                assert sum(overlap(thing.box, other.box) for other in things if other is not thing) <= 0.1 * area


def test_different_places_are_clearly_apart() -> None:
    for seed in range(40):
        cow, banana, dog = scene(generate(PainterOptions(), "cow@left & banana@x-middle & dog@right", seed)).things
        assert banana.x - cow.x >= 0.08
        assert dog.x - banana.x >= 0.08
        alone = scene(generate(PainterOptions(), "cat@bottom", seed)).things[0]
        assert alone.y >= 0.56


def test_the_same_seed_gives_the_same_bytes() -> None:
    formula = "cat@left & 3 dog"
    faulty = PainterOptions(faults="optical-character:0.5,entity-omission:0.5")
    for seed in range(6):
        first, second = generate(faulty, formula, seed), generate(faulty, formula, seed)
        assert first.picture == second.picture
        assert first.provenance == second.provenance
    assert generate(faulty, formula, 0).picture != generate(faulty, formula, 1).picture


def test_an_image_does_not_depend_on_its_batch() -> None:
    requests = [request(formula, 3) for formula in METALOGIC]
    together = Painter(PainterOptions()).render(requests)
    alone = [Painter(PainterOptions()).render([r])[0] for r in reversed(requests)]
    assert list(together) == alone[::-1]


def test_two_wordings_show_the_same_world_in_different_images() -> None:
    for seed in range(10):
        first = generate(PainterOptions(), "cat & 2 dog", seed, "a cat and two dogs")
        second = generate(PainterOptions(), "2 dog & cat", seed, "two dogs and a cat")
        assert sorted(t.label for t in scene(first).things) == sorted(t.label for t in scene(second).things)
        assert first.picture != second.picture


def test_the_words_do_not_choose_the_world() -> None:
    for seed in range(10):
        first = generate(PainterOptions(), "cat | dog", seed, "a cat or a dog")
        second = generate(PainterOptions(), "cat | dog", seed, "either a cat or a dog")
        assert first.provenance["world"] == second.provenance["world"]


def test_seeds_reach_every_world() -> None:
    worlds = {generate(PainterOptions(), "cat | dog", seed).provenance["world"] for seed in range(40)}
    assert worlds == {"a cat and a dog", "a cat and no dog", "a dog and no cat"}


def test_boxes_match_the_pixels() -> None:
    for seed in range(10):
        rendered = generate(PainterOptions(background="white"), "cat", seed)
        picture = rendered.picture
        pixels = np.frombuffer(rendered.picture.rgb, np.uint8).reshape(picture.height, picture.width, 3)
        rows, columns = np.nonzero(pixels.min(axis=2) < 200)
        seen = (columns.min() / 256, rows.min() / 256, (columns.max() + 1) / 256, (rows.max() + 1) / 256)
        # A soft shadow may reach a few pixels past the box, never far.
        assert np.abs(np.array(seen) - scene(rendered).things[0].box).max() < 0.035


def test_the_option_side_sets_the_size() -> None:
    picture = generate(PainterOptions(side=512), "cat & dog").picture
    assert (picture.width, picture.height) == (512, 512)


def test_styles_can_be_chosen() -> None:
    pictures = {generate(PainterOptions(styles=(style,)), "cat").picture.rgb for style in sprite_index()["styles"]}
    assert len(pictures) == 4
    with pytest.raises(UsageError, match=r"'oil'. Known: fluent-3d.*\[name-unknown\]"):
        Painter(PainterOptions(styles=("oil",)))
    with pytest.raises(BackendError, match=r"'chair'.*noto-v1.*fluent-3d.*\[style-unavailable\]"):
        generate(PainterOptions(styles=("noto-v1",)), "chair")


def test_sentences_without_a_formula_are_parsed() -> None:
    shown = scene(generate(PainterOptions(), None, 0, "There is a cat and a dog"))
    assert sorted(thing.label for thing in shown.things) == ["cat", "dog"]
    with pytest.raises(BackendError, match=r"'moody dusk, oil on canvas'.*\[formula-needed\]"):
        generate(PainterOptions(), None, 0, "moody dusk, oil on canvas")


def test_an_unknown_entity_is_an_error_for_its_own_prompt() -> None:
    outcomes = Painter(PainterOptions()).render([request("unicorn & cat"), request("cat")])
    assert isinstance(outcomes[0], BackendError)
    assert outcomes[0].code == "name-unknown"
    assert "'unicorn'" in str(outcomes[0])
    assert all(name in str(outcomes[0]) for name in sprite_index()["entities"])
    assert isinstance(outcomes[1], Rendered)


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ("20 cat", "12 entities.*arrangement-missing|at most 12.*entities-too-many"),
        ("red cat", r"'cat'.*car.*\[colour-unavailable\]"),
        ("cat & !cat", "contradictory"),
        ("cat &", "cat &"),
    ],
)
def test_impossible_formulas_are_errors(formula: str, message: str) -> None:
    with pytest.raises(BackendError, match=message):
        generate(PainterOptions(), formula)


@pytest.mark.parametrize(
    ("wrong", "message"), [({"side": "64"}, "64"), ({"side": "1000000"}, "1000000"), ({"background": "sea"}, "sea")]
)
def test_invalid_options_are_refused(wrong: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse_options(PainterOptions, wrong, "model")


def test_requested_colours_are_in_the_pixels() -> None:
    for seed in range(8):
        rendered = generate(PainterOptions(background="white"), "blue car", seed)
        side = rendered.picture.width
        x0, y0, x1, y1 = (round(edge * side) for edge in scene(rendered).things[0].box)
        pixels = np.frombuffer(rendered.picture.rgb, np.uint8).reshape(side, side, 3)[y0:y1, x0:x1].astype(int)
        is_blue = (pixels[..., 2] > pixels[..., 0] + 60) & (pixels[..., 2] > pixels[..., 1] + 40)
        assert is_blue.mean() > 0.25


def test_random_scenes() -> None:
    names = list(sprite_index()["entities"])
    for n in range(13):
        picture, things = random_scene(
            random.Random(n), names, n, 256, text="hello there" if n % 2 else "", colour_rate=0.5
        )
        assert len(things) == n
        assert (picture.width, picture.height) == (256, 256)
        for first, second in combinations(things, 2):
            assert overlap(first.box, second.box) < 0.004
    assert random_scene(random.Random(5), names, 5) == random_scene(random.Random(5), names, 5)
    with pytest.raises(UsageError, match="at most 12"):
        random_scene(random.Random(0), names, 13)
    with pytest.raises(UsageError, match="unicorn"):
        random_scene(random.Random(0), ["unicorn"], 1)


def test_a_layout_without_room_is_tried_smaller_and_then_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scales: list[float] = []

    def no_room(*_: object, scale: float, **_others: object) -> None:
        scales.append(scale)

    monkeypatch.setattr(composition, "arrange", no_room)
    composer = composition.SceneComposer(side=64, styles=(), background="white", rates={})
    with pytest.raises(UsageError, match=r"'cat'.*\[arrangement-missing\]"):
        composer.draw(Prompt(role="a", text="a cat", formula="cat"), seed=0)
    assert scales[:4] == pytest.approx([1.0, 0.95, 0.9, 0.85])
    assert min(scales) == 0.3
