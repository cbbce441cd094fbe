"""The five ways to get a relation wrong, from boxes and from scores."""

from __future__ import annotations

from itertools import product

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
    assert (found.failure_type if found else None) == error
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
    found = failure_from_scores(Prompt(role="a", text="own"), own, (objects + relations) / 100, swapped, 0.1)
    assert (found.failure_type if found else None) == error


def error_at(own: tuple[float, float], swapped: float, margin: float) -> str | None:
    halves = OwnScore(objects=own[0], relations=own[1])
    found = failure_from_scores(Prompt(role="a", text="own"), halves, sum(own) / 100, swapped, margin)
    return found.failure_type if found else None


@pytest.mark.parametrize("own", [(50.0, 20.0), (40.0, 30.0), (30.0, 40.0), (30.0, 50.0)])
def test_a_lead_of_the_margin_or_less_says_nothing_of_roles(own: tuple[float, float]) -> None:
    total = sum(own) / 100
    for margin in (0.0, 0.05, 0.1, 0.2):
        assert error_at(own, total + margin, margin) == error_at(own, 0.0, margin), "its own score decides"
        assert error_at(own, total + margin + 0.01, margin) == "reversed-role"


def test_one_step_of_noise_calls_half_as_many_pictures_reversed_as_without_a_margin() -> None:
    """A picture that fits both prompts alike, by a judge that is up to a step of ten off in each of four numbers."""
    noise = list(product((-10.0, 0.0, 10.0), repeat=4))
    shares = {}
    for margin in (0.0, 0.1):
        called = [
            error_at((40 + a, 20 + b), (40 + c + 20 + d) / 100, margin) == "reversed-role" for a, b, c, d in noise
        ]
        shares[margin] = sum(called) / len(called)
    assert shares == {0.0: 31 / 81, 0.1: 15 / 81}
    # Of a picture of the swapped prompt only the objects and none of the relations fit: half of the score.
    assert all(
        error_at((50 - abs(a), max(0, b)), (100 - abs(c) - abs(d)) / 100, 0.1) == "reversed-role"
        for a, b, c, d in noise
    )
