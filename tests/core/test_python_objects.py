"""What is handed over is there for as long as a run lasts, under one name at a time."""

from __future__ import annotations

import pytest

from salva.core.python_objects import batched, find_object, register_objects
from salva.errors import UsageError


def test_a_thing_is_found_while_it_is_handed_over_and_not_after() -> None:
    thing = object()
    with register_objects({"mine": thing}):
        assert find_object("mine") is thing
    with pytest.raises(UsageError, match=r"'mine' .*\[object-missing\]"):
        find_object("mine")


def test_a_name_that_is_taken_is_refused_and_the_first_one_stays() -> None:
    first = object()
    with register_objects({"mine": first}):
        with pytest.raises(UsageError, match=r"\[object-name-taken\]"), register_objects({"other": 1, "mine": 2}):
            pass
        assert find_object("mine") is first
        with pytest.raises(UsageError):
            find_object("other")


def test_it_is_taken_back_whatever_ends_the_run() -> None:
    with pytest.raises(KeyboardInterrupt), register_objects({"mine": 1}):
        raise KeyboardInterrupt
    with register_objects({"mine": 2}):
        assert find_object("mine") == 2


@pytest.mark.parametrize("size", [0, -1, True, 2.5])
def test_a_batch_has_a_size(size: int) -> None:
    with pytest.raises(UsageError, match=r"size=.*\[option-invalid\]"):
        batched(lambda _prompts, _seeds: [], size=size)


def test_a_batch_may_be_of_one() -> None:
    assert batched(lambda _prompts, _seeds: [], size=1).size == 1
    assert batched(lambda _prompts, _seeds: []).size == 8


def test_only_a_function_is_batched() -> None:
    with pytest.raises(UsageError, match=r"\[option-invalid\]"):
        batched("pocket")  # type: ignore[arg-type]  # what somebody may write
