"""A share of a run's cases: which of how many, as the command line and run.json write it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from salva.errors import UsageError
from salva.messages import message

_WRITTEN = re.compile(r"([1-9]\d{0,5})/([1-9]\d{0,5})", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shard:
    """One of several shares that together are all cases, each in one share alone."""

    index: int
    """Counted from 1."""
    n: int

    def __post_init__(self) -> None:
        if not 1 <= self.index <= self.n:
            raise _invalid(str(self))

    @classmethod
    def parse(cls, text: str) -> Shard:
        """From the form I/N."""
        written = _WRITTEN.fullmatch(text)
        if written is None:
            raise _invalid(text)
        return cls(index=int(written[1]), n=int(written[2]))

    def __str__(self) -> str:
        return f"{self.index}/{self.n}"

    def holds(self, position: int) -> bool:
        """Whether the case at this position of the dealing order, counted from 0, is of this share."""
        return position % self.n == self.index - 1


def _invalid(text: str) -> UsageError:
    wanted = "I/N with I from 1 to N, such as 3/8"
    return UsageError(message("option-invalid", name="--shard", value=text, wanted=wanted))
