"""Generator: a function of a Python program, from prompt and seed to image, or from lists to lists if it is batched.

It must return an image in a known format; nothing is guessed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from salva.core.about import About, Habits
from salva.core.options import option
from salva.core.protocols import Rendered, RenderRequest
from salva.core.python_objects import Batched, find_object
from salva.errors import BackendError, SalvaError
from salva.imaging.files import ImageError
from salva.imaging.objects import picture_of
from salva.messages import message


class FromPython:
    """A function that a Python program passes to salva.run_suite."""

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options:
        """Its name and version."""

        name: str = option("", "Its name; the function comes from run_suite(model=...).", target=True)
        version: str = option("", "Its version; images of another version are not reused.")

    version: ClassVar[str] = "1"
    about: ClassVar[About] = About(seeds_hold=True)

    def __init__(self, options: Options) -> None:
        function: Any = find_object(options.name)
        self._name = options.name
        batched = function if isinstance(function, Batched) else Batched(call=_one_by_one(function), size=1)
        self._generate: Callable[[list[str], list[int]], Any] = batched.call
        # The function may not be safe for several threads.
        self.habits = Habits(batch_size=batched.size, depth=1)

    @classmethod
    def weights(cls, options: Options) -> str:
        """No digest; only checks that the function was passed."""
        find_object(options.name)
        return ""

    def render(self, requests: Sequence[RenderRequest]) -> Sequence[Rendered | SalvaError]:
        """One image or error per request."""
        if not requests:
            return []
        try:
            images = self._generate(
                [request.prompt.text for request in requests], [request.seed for request in requests]
            )
        except SystemExit as error:
            raise self._failed(f"ended the program (SystemExit {error.code!r})") from error
        is_list = (
            hasattr(images, "__len__") and hasattr(images, "__getitem__") and not isinstance(images, str | Mapping)
        )
        if not is_list or len(images) != len(requests):
            number = f"{len(images)} images" if is_list else f"a {type(images).__name__}"
            raise self._failed(f"gave {number} for {len(requests)} prompts")
        return [self._rendered(images[i]) for i in range(len(requests))]

    def _rendered(self, image: object) -> Rendered | SalvaError:
        try:
            return Rendered(picture=picture_of(image))
        except ImageError as error:
            return self._failed(f"gave {error.why}")

    def _failed(self, what: str) -> BackendError:
        return BackendError(message("function-failed", function=self._name, what=what), is_retryable=False)


def _one_by_one(function: Callable[[str, int], Any]) -> Callable[[list[str], list[int]], Any]:
    def generate(prompts: list[str], seeds: list[int]) -> list[Any]:
        return [function(prompt, seed) for prompt, seed in zip(prompts, seeds, strict=True)]

    return generate
