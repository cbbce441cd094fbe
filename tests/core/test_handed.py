"""What is handed over is there for as long as a run lasts, under one name at a time."""

from __future__ import annotations

import pytest

from salva.core.handed import batched, handed, handing_over
from salva.errors import UsageError


def test_a_thing_is_found_while_it_is_handed_over_and_not_after() -> None:
    thing = object()
    with handing_over({"mine": thing}):
        assert handed("mine") is thing
    with pytest.raises(UsageError, match=r"'mine' .*\[object-missing\]"):
        handed("mine")


def test_a_name_that_is_taken_is_refused_and_the_first_one_stays() -> None:
    first = object()
    with handing_over({"mine": first}):
        with pytest.raises(UsageError, match=r"\[object-name-taken\]"), handing_over({"other": 1, "mine": 2}):
            pass
        assert handed("mine") is first
        with pytest.raises(UsageError):
            handed("other")


def test_it_is_taken_back_whatever_ends_the_run() -> None:
    with pytest.raises(KeyboardInterrupt), handing_over({"mine": 1}):
        raise KeyboardInterrupt
    with handing_over({"mine": 2}):
        assert handed("mine") == 2


@pytest.mark.parametrize("size", [0, -1, True, 2.5])
def test_a_batch_has_a_size(size: int) -> None:
    with pytest.raises(UsageError, match=r"size=.*\[option-invalid\]"):
        batched(lambda _prompts, _seeds: [], size=size)


def test_only_a_function_is_batched() -> None:
    with pytest.raises(UsageError, match=r"\[option-invalid\]"):
        batched("pocket")  # type: ignore[arg-type]  # what somebody may write
