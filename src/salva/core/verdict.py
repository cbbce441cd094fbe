"""What was concluded about a case, and why.

Error types are strings that relations register; these are MetaLogic's five.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

X_MISPOSITION = "x-misposition"
Y_MISPOSITION = "y-misposition"
ENTITY_DUPLICATION = "entity-duplication"
ENTITY_OMISSION = "entity-omission"
ENTITY_FORBIDDEN = "entity-forbidden"
OPTICAL_CHARACTER = "optical-character"

CERTAINTY = "certainty"
"""Score of a verdict: how high a detector's score must be for the verdict to hang on no weaker box; 1 where it hangs on
none."""
VIOLATED_AT_THRESHOLD = "violated_at_threshold"
"""Score of a verdict left open for doubt: 1 where it would be VIOLATED if every box that counts were sure, else 0."""

PAIR = "pair"
"""The arm of a verdict on the images of a case under one seed."""
CONTROL = "control"
"""The arm that crosses wordings and seeds."""


Observers: TypeAlias = tuple[str, ...]
"""The components that looked, in the order of their roles, or the one person who rated."""


class Outcome(StrEnum):
    """How a relation came out; only HOLDS and VIOLATED enter a rate."""

    HOLDS = "HOLDS"
    VIOLATED = "VIOLATED"
    INCONCLUSIVE = "INCONCLUSIVE"
    """Nobody could tell."""
    FAILED = "FAILED"
    """The work itself broke; the same command tries again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """One reason why a relation broke, with the numbers that prove it."""

    error: str
    """A registered error type."""
    role: str
    """The prompt whose image shows it; empty when only the comparison does."""
    message: str
    """For people: what was expected and what was seen."""
    entity: str = ""
    expected: str = ""
    seen: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """One relation over the images of one case, repeat and model."""

    case_id: str
    repeat: int
    arm: str
    """PAIR or CONTROL."""
    model: str
    relation: str
    observers: Observers
    """Whose eyes it rests on: verdicts of two detectors stand side by side."""
    outcome: Outcome
    errors: tuple[str, ...] = ()
    """Why the relation broke, most specific first; empty unless outcome is VIOLATED."""
    failures: tuple[Failure, ...] = ()
    scores: Mapping[str, float] = field(default_factory=dict)
    images: Mapping[str, str] = field(default_factory=dict)
    """Prompt role to image id."""
    reason: str = ""
    """Why nobody could tell, or what broke; empty for HOLDS and VIOLATED."""


def observers_text(observers: Observers) -> str:
    """Observers as people read them; names may hold a plus, so nothing can be split out of it again."""
    return "+".join(observers)
