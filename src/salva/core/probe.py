"""A question that only the right image should get accepted, to see whether a judge tells images apart.

A check that asks judges gives the probes of a case; salva asks some of them about images of other prompts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from salva.core.case import Case
from salva.core.observation import Answer, Observation
from salva.core.protocols import Query
from salva.core.score_rubric import HIGHEST

_MARK = 0.5
"""From this share of the scale on a score or a mean grade accepts an image."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """A question about the image of one prompt."""

    role: str
    """The prompt's."""
    query: Query
    expected: str = ""
    """The answer that accepts the image; empty for scores and grades."""


@runtime_checkable
class Probing(Protocol):
    """A check whose judge can be probed."""

    def probes(self, case: Case) -> Sequence[Probe]:
        """Questions about what the prompts of a case say is there."""
        ...


def accepts(probe: Probe, observation: Observation | None) -> bool | None:
    """Whether an answer accepts the image; None where there is none that can be read."""
    if not isinstance(observation, Answer) or observation.problem:
        return None
    if probe.expected:
        return observation.text == probe.expected
    scores = tuple(observation.scores.values())
    if not scores:
        return None
    highest = HIGHEST if probe.query.kind == "score" else 1.0
    return sum(scores) / len(scores) >= _MARK * highest
