"""A function of a Python program as a generator."""

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


def generate(prompt: str, seed: int) -> Image.Image:
    return Image.new("RGB", (8, 8), (len(prompt), seed % 256, 7))


def generate_all(prompts: list[str], seeds: list[int]) -> list[Image.Image]:
    return [generate(prompt, seed) for prompt, seed in zip(prompts, seeds, strict=True)]


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


@pytest.mark.parametrize("function", [generate, batched(generate_all, size=2)])
def test_conformance(function: object) -> None:
    with register_objects({"mine": function}):
        check_generator(bound(), requests())


def test_batch_sizes_of_plain_and_batched_functions() -> None:
    with register_objects({"mine": generate}):
        assert bound().build().habits.batch_size == 1
    with register_objects({"mine": batched(generate_all, size=5)}):
        assert bound().build().habits.batch_size == 5
        assert bound().build().habits.depth == 1


def test_arrays_and_tuples_of_images_are_accepted() -> None:
    wanted = [generate(text, i).tobytes() for i, text in enumerate(TEXTS)]

    def stacked(prompts: list[str], seeds: list[int]) -> Any:
        return np.stack([np.asarray(image) for image in generate_all(prompts, seeds)])

    def rows(prompts: list[str], seeds: list[int]) -> Any:
        return tuple(generate_all(prompts, seeds))

    for function in (stacked, rows):
        got = rendered(batched(function))
        assert [one.picture.rgb for one in got if isinstance(one, Rendered)] == wanted


@pytest.mark.parametrize(
    ("result", "text"),
    [
        ([], "0 images"),
        ([Image.new("RGB", (2, 2))], "1 images"),
        (None, "NoneType"),
        ({"images": []}, "a dict"),
        ("abc", "a str"),
    ],
)
def test_a_batch_of_another_length_fails_as_a_whole(result: object, text: str) -> None:
    outcomes = rendered(batched(lambda _prompts, _seeds: result))
    assert len(outcomes) == 3
    for outcome in outcomes:
        assert isinstance(outcome, BackendError)
        assert outcome.code == "function-failed"
        assert text in str(outcome)
        assert not outcome.is_retryable


def test_an_invalid_image_is_an_error_for_its_own_prompt() -> None:
    def patchy(prompts: list[str], seeds: list[int]) -> list[object]:
        return [None if "dog" in prompt else generate(prompt, 0) for prompt in prompts]

    cat, dog, cow = rendered(batched(patchy))
    assert isinstance(cat, Rendered)
    assert isinstance(cow, Rendered)
    assert isinstance(dog, BackendError)
    assert dog.code == "function-failed"


def test_an_exception_is_an_error_for_its_own_prompt() -> None:
    def failing(prompts: list[str], seeds: list[int]) -> list[Image.Image]:
        if "a dog" in prompts:
            raise RuntimeError("no dogs")
        return generate_all(prompts, seeds)

    cat, dog, cow = rendered(batched(failing))
    assert isinstance(cat, Rendered)
    assert isinstance(cow, Rendered)
    assert isinstance(dog, BackendError)
    assert "RuntimeError: no dogs (in test_from_python.py line" in str(dog)


def test_a_function_cannot_end_the_program() -> None:
    def leave(prompt: str, seed: int) -> None:
        raise SystemExit(3)

    (outcome,) = rendered(leave, 1)
    assert isinstance(outcome, BackendError)
    assert "SystemExit 3" in str(outcome)


def test_a_function_that_was_not_passed_is_missing() -> None:
    with pytest.raises(UsageError, match=r"\[object-missing\]"):
        bound()
