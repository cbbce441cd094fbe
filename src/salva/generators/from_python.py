"""Generator: a function of a Python program, which is handed over and not named.

A prompt and a seed go in and a picture comes out, or lists of them where the function is batched. What it gives is
taken for what it is or refused by name: a picture that is guessed at would be judged as if it had been painted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from salva.core.about import About, Habits
from salva.core.image import Picture
from salva.core.options import option
from salva.core.protocols import Rendered, RenderRequest
from salva.core.python_objects import Batched, find_object
from salva.errors import BackendError, SalvaError
from salva.imaging.objects import picture_of
from salva.messages import message


class FromPython:
    """A function that a Python program hands to salva.run_suite."""

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options:
        """What it is called, and which one of that name it is."""

        name: str = option("", "What it is called; the function itself comes from run_suite(model=...).", target=True)
        version: str = option("", "Which function of that name it is: pictures of another version are not its own.")

    version: ClassVar[str] = "1"
    about: ClassVar[About] = About(seeds_hold=True)

    def __init__(self, options: Options) -> None:
        function: Any = find_object(options.name)
        self._name = options.name
        self._paint: Callable[[list[str], list[int]], Any]
        if isinstance(function, Batched):
            self._paint, size = function.call, function.size
        else:
            self._paint, size = _one_by_one(function), 1
        # Nobody says that a function may be called while it is being called.
        self.habits = Habits(batch_size=size, depth=1)

    @classmethod
    def weights(cls, options: Options) -> str:
        """Nothing can be read off a function; that it is here is seen before anything begins."""
        find_object(options.name)
        return ""

    def render(self, requests: Sequence[RenderRequest]) -> Sequence[Rendered | SalvaError]:
        """One picture or error per request."""
        if not requests:
            return []
        try:
            given = self._paint([request.prompt.text for request in requests], [request.seed for request in requests])
        except SystemExit as error:
            raise self._failed(f"ended the program (SystemExit {error.code!r}) instead of giving images") from error
        is_row = hasattr(given, "__len__") and hasattr(given, "__getitem__")
        if isinstance(given, str | bytes | Mapping) or not is_row:
            kind = type(given).__name__
            raise self._failed(f"gave a {kind} instead of a list of {len(requests)} images")
        if len(given) != len(requests):
            raise self._failed(f"gave {len(given)} images for {len(requests)} prompts")
        return [self._rendered(given[i]) for i in range(len(requests))]

    def _rendered(self, given: object) -> Rendered | SalvaError:
        try:
            picture: Picture = picture_of(given)
        except ValueError as error:
            return self._failed(f"gave {error}")
        return Rendered(picture=picture)

    def _failed(self, what: str) -> BackendError:
        return BackendError(message("function-failed", function=self._name, what=what), is_retryable=False)


def _one_by_one(function: Callable[[str, int], Any]) -> Callable[[list[str], list[int]], Any]:
    def paint(prompts: list[str], seeds: list[int]) -> list[Any]:
        return [function(prompt, seed) for prompt, seed in zip(prompts, seeds, strict=True)]

    return paint
