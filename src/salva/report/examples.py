"""Failing results as short examples: the prompts, the images, and what is wrong in one line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from salva.core.result import Result
from salva.core.verdict import Observers

MOST_EXAMPLES = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """One failing result."""

    case_id: str
    repeat: int
    prompts: Mapping[str, str]
    """Role to text."""
    images: Mapping[str, str]
    """Role to the image's place in the run directory."""
    message: str
    """The first thing that is wrong."""
    role: str = ""
    """The prompt whose image shows it; empty when only the comparison does."""

    @property
    def prompt(self) -> str:
        """The prompt that it is about."""
        return self.prompts.get(self.role) or next(iter(self.prompts.values()), "")


def examples_of(results: Iterable[Result], limit: int = MOST_EXAMPLES) -> tuple[Example, ...]:
    """Failing results, taken in turn from every category."""
    return tuple(map(example_of, spread([result for result in results if result.is_fail], limit)))


def spread(results: Sequence[Result], limit: int) -> list[Result]:
    """At most `limit` results, taken in turn from every model and category, so that none is crowded out."""
    groups: dict[tuple[str, str], list[Result]] = {}
    for result in results:
        groups.setdefault((result.model, result.case.category), []).append(result)
    chosen: list[Result] = []
    for turn in range(max(map(len, groups.values()), default=0)):
        chosen += [group[turn] for group in groups.values() if turn < len(group)]
        if len(chosen) >= limit:
            break
    return chosen[:limit]


def example_of(result: Result) -> Example:
    """A failing result as an example."""
    first = next((failure for failure in result.failures if failure.role), None) or next(iter(result.failures), None)
    message = first.message if first else ", ".join(result.failure_types) or f"{result.check} failed"
    return Example(
        case_id=result.case.case_id,
        repeat=result.repeat,
        prompts={prompt.role: prompt.text for prompt in result.case.prompts},
        images={role: f"images/{image[:2]}/{image[2:]}.webp" for role, image in result.images.items()},
        message=message,
        role=first.role if first else "",
    )


def observers_of(result: Result) -> Observers:
    """Whose observations a result rests on."""
    return tuple(dict.fromkeys(name for verdict in result.evidence for name in verdict.observers))
