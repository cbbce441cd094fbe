"""The five ways to get a relation wrong, from boxes and from scores."""

from __future__ import annotations

import pytest

from salva.core.case import Prompt
from salva.core.scene import Scene, Thing
from salva.suites.semvar.relation_errors import OwnScore, can_tell, failure_from_scene, failure_from_scores


def at(label: str, x: float, y: float = 0.5, side: float = 0.2) -> Thing:
    return Thing(label=label, box=(x - side / 2, y - side / 2, x + side / 2, y + side / 2))


def prompts(formula: str, swapped: str) -> tuple[Prompt, Prompt]:
    return Prompt(role="a", text="own", formula=formula), Prompt(role="pv", text="swapped", formula=swapped)


@pytest.mark.parametrize(
    ("formula", "swapped", "things", "error"),
    [
        ("left_of(cat, dog)", "left_of(dog, cat)", [at("cat", 0.2), at("dog", 0.8)], None),
        ("left_of(cat, dog)", "left_of(dog, cat)", [at("cat", 0.8), at("dog", 0.2)], "reversed-role"),
        ("left_of(cat, dog)", "left_of(dog, cat)", [at("cat", 0.8)], "missing-objects"),
        ("left_of(cat, dog)", "left_of(dog, cat)", [at("cat", 0.5, 0.2), at("dog", 0.5, 0.8)], "wrong-direction"),
        ("cat@left & dog@right", "dog@left & cat@right", [at("dog", 0.2), at("cat", 0.8)], "reversed-role"),
        ("cat@left & dog@top", "dog@left & cat@top", [at("cat", 0.8, 0.2), at("dog", 0.9, 0.1)], "wrong-direction"),
        ("2 cat & dog", "cat & 2 dog", [at("cat", 0.2), at("dog", 0.5), at("dog", 0.8)], "reversed-role"),
        ("2 cat & dog", "cat & 2 dog", [at("cat", 0.2), at("dog", 0.8)], "missing-objects"),
        ("cat & dog", "cat & cow", [at("cat", 0.2), at("dog", 0.5), at("dog", 0.8)], "wrong-interaction"),
        ("larger_than(cat, dog)", "larger_than(dog, cat)", [at("cat", 0.2, side=0.1), at("dog", 0.7)], "reversed-role"),
        ("larger_than(cat, dog)", "larger_than(dog, cat)", [at("cat", 0.2), at("dog", 0.8)], "wrong-interaction"),
        ("next_to(cat, dog)", "on(cat, dog)", [at("cat", 0.1, 0.1), at("dog", 0.9, 0.9)], "no-interaction"),
        ("cat & dog & !next_to(cat, dog)", "on(cat, dog)", [at("cat", 0.4), at("dog", 0.6)], "wrong-interaction"),
    ],
)
def test_boxes_and_formulas(formula: str, swapped: str, things: list[Thing], error: str | None) -> None:
    found = failure_from_scene(*prompts(formula, swapped), Scene(things=tuple(things)))
    assert (found.error if found else None) == error
    if found:
        assert found.role == "a"
        assert found.message


def test_boxes_say_nothing_of_colours() -> None:
    assert not can_tell(*prompts("red car & blue house", "blue car & red house"))
    assert can_tell(*prompts("car & house", "house & car"))


@pytest.mark.parametrize(
    ("objects", "relations", "swapped", "error"),
    [
        (50, 50, 0.5, None),
        (50, 40, None, None),
        (50, 0, 1.0, "reversed-role"),
        (50, 0, 0.5, "no-interaction"),
        (50, 0, None, "no-interaction"),
        (50, 30, 0.2, "wrong-interaction"),
        (20, 50, 0.9, "missing-objects"),
        (0, 0, 0.0, "missing-objects"),
    ],
)
def test_scores(objects: float, relations: float, swapped: float | None, error: str | None) -> None:
    own = OwnScore(objects=objects, relations=relations)
    found = failure_from_scores(Prompt(role="a", text="own"), own, (objects + relations) / 100, swapped)
    assert (found.error if found else None) == error
