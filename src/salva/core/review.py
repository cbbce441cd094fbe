"""What people say about the results of a run: one label of one result by one reviewer."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Label(StrEnum):
    """Whether a reviewer finds that a case failed."""

    FAIL = "fail"
    PASS = "pass"
    CANNOT_TELL = "cannot tell"


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """One reviewer's label of one result."""

    case_id: str
    repeat: int
    model: str
    reviewer: str
    label: Label
    sample: str = ""
    """How the result was drawn for review, as the sheet has it; empty where that is not known."""
