"""Suite: "a cat with a dog" says the same as "a dog with a cat".

One class and its options; the registry finds it by its entry point.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

from salva.core.case import Case, Prompt
from salva.core.options import option
from salva.english.words import with_article


@dataclass(frozen=True, slots=True, kw_only=True)
class WithSwapOptions:
    """What the suite can be told with --set suite.NAME=VALUE."""

    entities: tuple[str, ...] = option(("cat", "dog", "apple"), "The things to pair up.")


class WithSwap:
    """Suite: two things joined by "with", named in either order."""

    version: ClassVar[str] = "1"
    sizes: ClassVar[tuple[str, ...]] = ("full",)
    Options = WithSwapOptions

    def __init__(self, options: WithSwapOptions) -> None:
        self._options = options

    def cases(self, size: str) -> Iterator[Case]:
        """One case for every unordered pair of entities."""
        for first, second in combinations(self._options.entities, 2):
            yield Case(
                case_id=f"with-swap-{first}-{second}",
                suite="with-swap",
                category="with",
                prompts=(
                    Prompt(
                        role="a",
                        text=f"{with_article(first)} with {with_article(second)}",
                        formula=f"{first} & {second}",
                    ),
                    Prompt(
                        role="b",
                        text=f"{with_article(second)} with {with_article(first)}",
                        formula=f"{second} & {first}",
                    ),
                ),
                checks=("same-scene",),
                labels={"entities": f"{first},{second}"},
                cluster=f"{first}+{second}",
                equivalent=True,
                determinate=True,
            )
