"""What was concluded about a case, and why.

Failure types are strings that checks state in their `about`; these are MetaLogic's five.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

X_MISPOSITION = "x-misposition"
Y_MISPOSITION = "y-misposition"
ENTITY_DUPLICATION = "entity-duplication"
ENTITY_OMISSION = "entity-omission"
ENTITY_FORBIDDEN = "entity-forbidden"
OPTICAL_CHARACTER = "optical-character"

NO_TEXT = "no-text"
"""The check that looks for such text alone; not needed where the check that makes the result finds it."""

CERTAINTY = "certainty"
"""A score of verdicts: the lowest detector score that the verdict depends on; 1 where it depends on none."""

PAIR = "pair"
"""The arm of a verdict on the images of a case under one seed."""
CONTROL = "control"
"""The arm that crosses wordings and seeds."""


Observers: TypeAlias = tuple[str, ...]
"""The components that observed, in the order of their roles, or the one person who rated."""


class Outcome(StrEnum):
    """The verdict of a check, and the result of a case; only PASS and FAIL enter a rate."""

    PASS = "PASS"
    FAIL = "FAIL"
    UNDECIDED = "UNDECIDED"
    ERROR = "ERROR"
    """The work itself broke; the same command tries again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """One reason why a check failed, with the numbers that prove it."""

    failure_type: str
    """One of the types that the check states."""
    role: str
    """The prompt whose image shows it; empty when only the comparison does."""
    message: str
    """For people: what was expected and what was seen."""
    entity: str = ""
    expected: str = ""
    seen: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """One check over the images of one case, repeat and model."""

    case_id: str
    repeat: int
    arm: str
    """PAIR or CONTROL."""
    model: str
    check: str
    observers: Observers
    """What it is based on; verdicts of two detectors stand side by side."""
    outcome: Outcome
    failure_types: tuple[str, ...] = ()
    """What is wrong, most specific first; empty unless outcome is FAIL."""
    failures: tuple[Failure, ...] = ()
    scores: Mapping[str, float] = field(default_factory=dict)
    images: Mapping[str, str] = field(default_factory=dict)
    """Prompt role to image id."""
    reason: str = ""
    """Why it is undecided, or what broke; empty for PASS and FAIL."""
    is_refused: bool = False
    """Whether it is an ERROR because the model refused to generate an image."""


def failure_types_of(failures: Iterable[Failure], known: Iterable[str] = ()) -> tuple[str, ...]:
    """The types of failures, each once, in the order in which a check states them; types that it does not come last."""
    rank = {name: place for place, name in enumerate(known)}
    types = dict.fromkeys(failure.failure_type for failure in failures)
    return tuple(sorted(types, key=lambda name: rank.get(name, len(rank))))


def observers_text(observers: Observers) -> str:
    """Observers as people read them; names may hold a plus, so nothing can be split out of it again."""
    return "+".join(observers)
