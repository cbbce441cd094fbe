"""A function of a Python program as a generator: what it gives is painted, and what it does wrong is said."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from PIL import Image

from salva.core.case import Prompt
from salva.core.plan import Binding
from salva.core.protocols import Rendered, RenderRequest
from salva.core.python_objects import batched, register_objects
from salva.core.run_spec import ComponentSpec
from salva.engine.guard import Guard
from salva.errors import BackendError, UsageError
from salva.registry import bind
from salva.testing.conformance import check_generator

TEXTS = ("a cat", "a dog", "a cow")


def paint(prompt: str, seed: int) -> Image.Image:
    return Image.new("RGB", (8, 8), (len(prompt), seed % 256, 7))


def paint_all(prompts: list[str], seeds: list[int]) -> list[Image.Image]:
    return [paint(prompt, seed) for prompt, seed in zip(prompts, seeds, strict=True)]


def requests(n: int = 3) -> list[RenderRequest]:
    return [RenderRequest(prompt=Prompt(role="a", text=TEXTS[i]), seed=i) for i in range(n)]


def bound() -> Binding:
    return bind(ComponentSpec(role="model", name="python/mine", options={"version": "1"}))


def rendered(function: object, n: int = 3) -> Sequence[object]:
    """What a run gets from it, through the guard that every component stands behind."""
    with register_objects({"mine": function}):
        binding = bound()
        generator = binding.build()
        return Guard(binding, generator.render)(requests(n))


@pytest.mark.parametrize("function", [paint, batched(paint_all, size=2)])
def test_it_keeps_the_promises_of_a_generator(function: object) -> None:
    with register_objects({"mine": function}):
        check_generator(bound(), requests())


def test_a_function_is_asked_one_by_one_and_a_batch_at_its_size() -> None:
    with register_objects({"mine": paint}):
        assert bound().build().habits.batch_size == 1
    with register_objects({"mine": batched(paint_all, size=5)}):
        assert bound().build().habits.batch_size == 5
        assert bound().build().habits.depth == 1


def test_whatever_holds_pictures_is_taken_as_a_row_of_them() -> None:
    wanted = [paint(text, i).tobytes() for i, text in enumerate(TEXTS)]

    def stacked(prompts: list[str], seeds: list[int]) -> Any:
        return np.stack([np.asarray(image) for image in paint_all(prompts, seeds)])

    def rows(prompts: list[str], seeds: list[int]) -> Any:
        return tuple(paint_all(prompts, seeds))

    for function in (stacked, rows):
        got = rendered(batched(function))
        assert [one.picture.rgb for one in got if isinstance(one, Rendered)] == wanted


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([], "0 images"),
        ([Image.new("RGB", (2, 2))], "1 images"),
        (None, "NoneType"),
        ({"images": []}, "a dict"),
        ("abc", "a str"),
    ],
)
def test_a_batch_that_is_no_row_of_as_many_pictures_fails_as_a_whole(given: object, said: str) -> None:
    outcomes = rendered(batched(lambda _prompts, _seeds: given))
    assert len(outcomes) == 3
    for outcome in outcomes:
        assert isinstance(outcome, BackendError)
        assert outcome.code == "function-failed"
        assert said in str(outcome)
        assert not outcome.is_retryable


def test_one_bad_picture_of_a_batch_costs_its_neighbours_nothing() -> None:
    def patchy(prompts: list[str], seeds: list[int]) -> list[object]:
        return [None if "dog" in prompt else paint(prompt, 0) for prompt in prompts]

    cat, dog, cow = rendered(batched(patchy))
    assert isinstance(cat, Rendered)
    assert isinstance(cow, Rendered)
    assert isinstance(dog, BackendError)
    assert dog.code == "function-failed"


def test_an_exception_is_the_cause_of_that_picture_alone() -> None:
    def shy(prompts: list[str], seeds: list[int]) -> list[Image.Image]:
        if "a dog" in prompts:
            raise RuntimeError("dogs frighten me")
        return paint_all(prompts, seeds)

    cat, dog, cow = rendered(batched(shy))
    assert isinstance(cat, Rendered)
    assert isinstance(cow, Rendered)
    assert isinstance(dog, BackendError)
    assert "RuntimeError: dogs frighten me (in test_from_python.py line" in str(dog)


def test_a_function_that_ends_the_program_ends_no_program() -> None:
    def leave(prompt: str, seed: int) -> None:
        raise SystemExit(3)

    (outcome,) = rendered(leave, 1)
    assert isinstance(outcome, BackendError)
    assert "SystemExit 3" in str(outcome)


def test_where_it_was_not_handed_over_it_is_missing() -> None:
    with pytest.raises(UsageError, match=r"\[object-missing\]"):
        bound()
