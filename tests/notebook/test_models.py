"""Whatever somebody gives as a model is a name, is handed over under one, or is refused by what it is."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest

from salva.core.python_objects import batched
from salva.core.run_spec import split_name
from salva.errors import UsageError
from salva.notebook.models import Version, read_models


def paint(prompt: str, seed: int) -> object:
    return None


def paint_all(prompts: list[str], seeds: list[int]) -> list[object]:
    return []


class Painter:
    def __call__(self, prompt: str, seed: int) -> object:
        return None

    def render(self, prompt: str, seed: int, steps: int = 3) -> object:
        return None


def model(prompt: str, seed: int) -> object:
    return None


@pytest.mark.parametrize(
    ("given", "called"),
    [
        (paint, "paint"),
        (lambda _prompt, _seed: None, "function"),
        (functools.partial(paint), "paint"),
        (Painter(), "Painter"),
        (Painter().render, "render"),
        (batched(paint_all), "paint-all"),
        (model, "my-model"),
    ],
)
def test_a_function_is_called_by_its_own_name_unless_it_is_given_one(given: object, called: str) -> None:
    read = read_models(given, "", 1)
    assert read.texts == (f"{called}=python/{called}",)
    assert read.things == {called: given}
    assert read_models(given, "v1.5", 1).texts == ("v1.5=python/v1.5",)
    assert split_name(read.texts[0])[0] == called


def test_names_of_models_stay_what_they_are() -> None:
    assert read_models("pocket", "", None).texts == ("pocket",)
    assert read_models("pocket", "p", None).texts == ("p=pocket",)
    assert read_models((), "", None).texts == ()
    assert read_models((name for name in ["pocket", "painter"]), "", None).texts == ("pocket", "painter")


def test_several_are_a_list_or_a_mapping() -> None:
    read = read_models({"v1": paint, "v2": "pocket"}, "", {"v1": 7})
    assert read.texts == ("v1=python/v1", "v2=pocket")
    assert read.settings == {"v1.version": "7"}
    assert read.shown == "[v1, 'v2=pocket']"
    assert read_models([paint, "pocket"], "", 2).texts == ("paint=python/paint", "pocket")


def test_without_a_version_no_two_calls_are_the_same() -> None:
    first, second = read_models(paint, "", None), read_models(paint, "", None)
    assert first.one_off == ("paint",)
    assert first.settings != second.settings
    assert first.settings["paint.version"].startswith("one-off-")
    assert "version=" in first.note
    assert read_models(paint, "", "3").one_off == ()
    assert read_models({"a": paint, "b": Painter()}, "", {"a": 1}).one_off == ("b",)


def zero() -> object:
    return None


def only_prompt(prompt: str) -> object:
    return None


def keyword_seed(prompt: str, *, seed: int) -> object:
    return None


@pytest.mark.parametrize(
    ("given", "name", "version", "said"),
    [
        (5, "", None, "keyword-invalid"),
        (None, "", None, "keyword-invalid"),
        ([paint, 5], "", None, "keyword-invalid"),
        ([], "", None, "keyword-invalid"),
        ({}, "", None, "keyword-invalid"),
        (Painter, "", None, "--plugin"),
        (zero, "", None, r" \(prompt, seed\)"),
        (only_prompt, "", None, r" \(prompt, seed\).* too many positional"),
        (keyword_seed, "", None, "keyword-invalid"),
        (batched(lambda _prompts: []), "", None, r" \(prompts, seeds\)"),  # type: ignore[arg-type, misc]
        (paint, "a b", None, "keyword-invalid"),
        (paint, "check", None, "name-invalid"),
        (paint, 5, None, "keyword-invalid"),
        ({"a": paint}, "b", None, "options-conflict"),
        ({5: paint}, "", None, "keyword-invalid"),
        ([paint, "pocket"], "b", None, "keyword-invalid"),
        ([paint, paint], "", None, "keyword-invalid"),
        ("pocket", "", 3, "version-invalid"),
        (paint, "", "", "version-invalid"),
        (paint, "", True, "version-invalid"),
        (paint, "", 1.5, "version-invalid"),
        ({"first": paint}, "", {"fist": 1}, "Did you mean 'first'"),
    ],
)
def test_what_is_no_model_is_named(given: object, name: Any, version: Any, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        read_models(given, name, version)


def test_a_built_in_that_says_nothing_of_itself_is_taken() -> None:
    given: Callable[..., object] = max
    version: Version = 1
    assert read_models(given, "", version).texts == ("max=python/max",)
