"""What a case came to: one result per case, repeat and model.

A verdict is what one check concluded. The result is what the run counts: PASS, FAIL, UNDECIDED or ERROR, never two.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from salva.core.case import Case
from salva.core.verdict import Failure, Outcome, Verdict

DECIDED = (Outcome.PASS, Outcome.FAIL)
"""The outcomes that enter a rate."""
PRIMARY, PUBLISHED = "primary", "published"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """Which check makes the results of a run."""

    check: str = ""
    """The one check that makes every result; empty for the primary check of each case."""
    is_published: bool = False
    """Whether the run follows the rule of the suite's paper."""

    @property
    def is_primary(self) -> bool:
        """Whether each case has the result of its own primary check, and of those that fail it besides."""
        return not (self.check or self.is_published)

    def __str__(self) -> str:
        """As reports name it; runs of different rules are not compared."""
        if self.is_published:
            return PUBLISHED
        return f"check:{self.check}" if self.check else PRIMARY


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What one case came to in one repeat under one model."""

    case: Case
    repeat: int
    model: str
    outcome: Outcome
    check: str = ""
    """The check that makes it; empty where none applies."""
    verdict: Verdict | None = None
    """What that check concluded; None where it has not judged."""
    vetoes: tuple[Verdict, ...] = ()
    """Failed verdicts of other checks that fail the case all the same."""
    reason: str = ""
    """Why it is undecided or an error; empty for PASS and FAIL."""
    is_compared_only: bool = False
    """Whether its images were only compared with each other, and not held against their prompts."""

    @property
    def is_decided(self) -> bool:
        """Whether it enters the failure rate."""
        return self.outcome in DECIDED

    @property
    def is_fail(self) -> bool:
        """Whether it counts as a failure."""
        return self.outcome is Outcome.FAIL

    @property
    def is_refused(self) -> bool:
        """Whether it is an error because the model refused a prompt."""
        return self.outcome is Outcome.ERROR and self.verdict is not None and self.verdict.is_refused

    @property
    def evidence(self) -> tuple[Verdict, ...]:
        """The verdicts behind it, those that failed first."""
        own = (self.verdict,) if self.verdict is not None else ()
        return tuple(sorted((*own, *self.vetoes), key=lambda verdict: verdict.outcome is not Outcome.FAIL))

    @property
    def failures(self) -> tuple[Failure, ...]:
        """What is wrong, each once, the primary check's findings first; empty unless it is a FAIL."""
        return tuple(dict.fromkeys(failure for verdict in self._failed for failure in verdict.failures))

    @property
    def failure_types(self) -> tuple[str, ...]:
        """The types of what is wrong, each once; empty unless it is a FAIL."""
        return tuple(dict.fromkeys(name for verdict in self._failed for name in verdict.failure_types))

    @property
    def images(self) -> dict[str, str]:
        """Prompt role to image id, of the images that exist."""
        return {role: image for verdict in reversed(self.evidence) for role, image in verdict.images.items()}

    @property
    def _failed(self) -> tuple[Verdict, ...]:
        return tuple(verdict for verdict in self.evidence if verdict.outcome is Outcome.FAIL)


def counted(results: Iterable[Result]) -> dict[Outcome, int]:
    """How many results of each outcome; every outcome is named."""
    counts = dict.fromkeys(Outcome, 0)
    for result in results:
        counts[result.outcome] += 1
    return counts
