"""Planted faults: their rates, their record in the provenance, and their effects."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest

from salva.core.case import Prompt
from salva.core.protocols import Rendered, RenderRequest
from salva.core.scene import Scene, Thing
from salva.errors import UsageError
from salva.generators.painter.component import Painter, PainterOptions
from salva.generators.painter.faults import FAULTS, draw_faults, parse_faults
from salva.logic.notation import parse
from salva.logic.satisfaction import discrepancies, satisfies


def generate_one(formula: str, faults: str, seed: int, text: str = "There is a cat on the left and a dog") -> Rendered:
    prompt = Prompt(role="a", text=text, formula=formula)
    (outcome,) = Painter(PainterOptions(faults=faults)).render([RenderRequest(prompt=prompt, seed=seed)])
    assert isinstance(outcome, Rendered)
    return outcome


def scene(rendered: Rendered) -> Scene:
    things = cast(list[dict[str, Any]], rendered.provenance["things"])
    return Scene(things=tuple(Thing(label=t["label"], box=tuple(t["box"]), colour=t["colour"]) for t in things))


@pytest.mark.parametrize(
    ("fault", "formula", "kinds"),
    [
        ("entity-omission", "cat & dog", {"missing"}),
        ("entity-omission", "3 cat@left & dog@right", {"missing"}),
        ("entity-duplication", "cat & dog", {"extra"}),
        ("entity-duplication", "cat@left & dog@right", {"extra"}),
        ("entity-duplication", "10 cat & dog", {"extra"}),
        ("x-misposition", "cat@left & dog@right", {"x-misplaced"}),
        ("x-misposition", "cat@left & dog@x-middle & cow@right", {"x-misplaced"}),
        ("x-misposition", "cat@left", {"x-misplaced"}),
        ("x-misposition", "cat@x-middle", {"x-misplaced"}),
        ("x-misposition", "left_of(cat, dog)", {"unrelated"}),
        ("y-misposition", "cat@top & dog@bottom", {"y-misplaced"}),
        ("y-misposition", "dog@bottom", {"y-misplaced"}),
        ("y-misposition", "on(cat, chair)", {"unrelated"}),
        ("entity-forbidden", "cat & !dog", {"forbidden"}),
        ("entity-forbidden", "cat & !(dog | cow)", {"forbidden"}),
        ("wrong-colour", "red car & blue cup", {"colour"}),
        ("wrong-colour", "2 red car & cat", {"colour"}),
    ],
)
def test_each_fault_causes_its_own_discrepancies(fault: str, formula: str, kinds: set[str]) -> None:
    for seed in range(12):
        rendered = generate_one(formula, f"{fault}:1", seed)
        assert rendered.provenance["planted"] == [fault]
        assert {difference.kind for difference in discrepancies(parse(formula), scene(rendered))} == kinds, seed


@pytest.mark.parametrize(
    ("a", "pv"),
    [
        ("cat@left & dog@right", "dog@left & cat@right"),
        ("cat@top & dog@bottom", "cat@bottom & dog@top"),
        ("left_of(cat, dog)", "left_of(dog, cat)"),
        ("larger_than(cat, dog)", "larger_than(dog, cat)"),
        ("red car & blue house", "blue car & red house"),
        ("3 cat & dog", "cat & 3 dog"),
        ("red ball@left & blue ball@right", "blue ball@left & red ball@right"),
    ],
)
def test_ignored_word_order_shows_two_orders_alike(a: str, pv: str) -> None:
    for seed in range(6):
        shown = [scene(generate_one(formula, "ignores-word-order:1", seed)) for formula in (a, pv)]
        right = [[satisfies(parse(formula), one) for one in shown] for formula in (a, pv)]
        assert right in ([[True, True], [False, False]], [[False, False], [True, True]]), (right, shown)


def test_ignored_word_order_is_wrong_half_of_the_time() -> None:
    things = ("cat", "dog", "cow", "bus", "cake", "cup", "book", "boat")
    pairs = [(one, two) for one in things for two in things if one != two]
    planted = [
        bool(generate_one(f"left_of({a}, {b})", "ignores-word-order:1", 0).provenance["planted"]) for a, b in pairs
    ]
    assert sum(planted) == len(pairs) / 2


def test_an_omission_moves_nothing() -> None:
    # A conjunction, because the nearest right image of an OR may have the other entity moved.
    formula = parse("cat@right & dog@left")
    for seed in range(40):
        rendered = generate_one("cat@right & dog@left", "entity-omission:1", seed)
        assert rendered.provenance["planted"] == ["entity-omission"]
        assert {difference.kind for difference in discrepancies(formula, scene(rendered))} <= {"missing"}


@pytest.mark.parametrize(
    ("fault", "formula"),
    [
        ("x-misposition", "cat & dog"),
        ("x-misposition", "cat@top & dog@bottom"),
        ("x-misposition", "cat@left & cat@right"),
        ("y-misposition", "cat@left & dog@right"),
        ("ignores-word-order", "cat & dog"),
        ("ignores-word-order", "2 cat & 2 dog"),
        ("entity-omission", "!cat"),
        ("entity-duplication", "!cat"),
    ],
)
def test_a_fault_that_changes_nothing_is_not_recorded(fault: str, formula: str) -> None:
    for seed in range(6):
        rendered = generate_one(formula, f"{fault}:1", seed)
        assert rendered.provenance["planted"] == []
        assert satisfies(parse(formula), scene(rendered))


def test_drawn_words_are_from_the_prompt() -> None:
    text = "There are ten cats on the left and a dog"
    for seed in range(20):
        rendered = generate_one("10 cat@left & dog", "optical-character:1", seed, text)
        words = str(rendered.provenance["text"])
        assert rendered.provenance["planted"] == ["optical-character"]
        assert words
        assert words in text
        assert satisfies(parse("10 cat@left & dog"), scene(rendered))
        clean = generate_one("10 cat@left & dog", "", seed, text)
        assert clean.provenance["text"] == ""
        pixels = np.frombuffer(rendered.picture.rgb, np.uint8).reshape(256, 256, 3).astype(int)
        strip, ink = (pixels == (28, 30, 40)).all(axis=2).sum(), (pixels == (250, 250, 245)).all(axis=2).sum()
        assert strip > 100 or ink > 100


def test_faults_can_be_combined() -> None:
    every = ",".join(f"{name}:1" for name in FAULTS)
    rendered = generate_one("2 cat@left & 2 dog@right & 2 cow@top & red car & !bird", every, 5)
    assert rendered.provenance["planted"] == list(FAULTS)


def test_rates_are_met_and_two_wordings_differ() -> None:
    rates = parse_faults("entity-omission:0.3, x-misposition:0.1")
    n = 4000
    drawn = [draw_faults(rates, "a cat and a dog", seed) for seed in range(n)]
    assert abs(sum("entity-omission" in faults for faults in drawn) / n - 0.3) < 0.03
    assert abs(sum("x-misposition" in faults for faults in drawn) / n - 0.1) < 0.02
    both = sum(len(faults) == 2 for faults in drawn) / n
    assert abs(both - 0.03) < 0.015
    others = [draw_faults(rates, "a dog and a cat", seed) for seed in range(n)]
    assert sum(a != b for a, b in zip(drawn, others, strict=True)) > 0.3 * n


def test_rates_of_zero_and_one_are_exact() -> None:
    for seed in range(200):
        assert draw_faults({"entity-omission": 1.0, "x-misposition": 0.0}, "a cat", seed) == ("entity-omission",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("entity-omision:0.3", "entity-omission"),
        ("entity-omission:1.5", r"'1.5'.*0 to 1"),
        ("entity-omission:-0.1", r"'-0.1'.*0 to 1"),
        ("entity-omission:nan", r"'nan'.*0 to 1"),
        ("entity-omission", r"''.*0 to 1"),
        ("entity-omission:often", r"'often'.*0 to 1"),
    ],
)
def test_invalid_faults_are_refused(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        PainterOptions(faults=text)
