"""Components that a Python program hands over: by name, for as long as its run lasts.

A function or a pipeline in memory has no text that would make it again, so that a run stores what it is called and
nothing more. Asked for in another process, or once the run is over, it is missing, and that is said.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from salva.errors import UsageError
from salva.messages import message

FUNCTION, PIPELINE = "python", "pipeline"
"""The generators that are handed over: a function, a pipeline of diffusers."""
_things: dict[str, object] = {}
_changing = threading.Lock()


@dataclass(frozen=True, slots=True)
class Batched:
    """A function that generates several prompts at once: prompts and seeds in, as many images out."""

    call: Callable[[list[str], list[int]], Any]
    size: int = 8
    """Prompts a call, at most."""

    def __post_init__(self) -> None:
        if not callable(self.call):
            wanted = "a function of prompts and seeds"
            raise UsageError(message("option-invalid", name="batched(function)", value=self.call, wanted=wanted))
        if not isinstance(self.size, int) or isinstance(self.size, bool) or self.size < 1:
            wanted = "a number of prompts, 1 or more"
            raise UsageError(message("option-invalid", name="batched(size=)", value=self.size, wanted=wanted))


def batched(function: Callable[[list[str], list[int]], Any], size: int = 8) -> Batched:
    """A function that takes lists of prompts and seeds and gives a list of as many images; size: how many at most.

    >>> salva.plan_run("metalogic", salva.batched(lambda prompts, seeds: ...), name="mine", detector="pocket").n_cases
    63
    """
    return Batched(function, size)


@contextmanager
def register_objects(things: Mapping[str, object]) -> Iterator[None]:
    """While it lasts, components of these names find what was handed over for them."""
    with _changing:
        taken = next((name for name in things if name in _things), None)
        if taken is not None:
            raise UsageError(message("object-name-taken", name=taken))
        _things.update(things)
    try:
        yield
    finally:
        with _changing:
            for name in things:
                del _things[name]


def find_object(name: str) -> object:
    """What was handed over under a name."""
    with _changing:
        if name not in _things:
            raise UsageError(message("object-missing", name=name))
        return _things[name]
