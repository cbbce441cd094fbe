"""What a run concludes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from salva.core.verdict import Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSummary:
    """What was done, and what came of it."""

    outcomes: Mapping[str, int]
    """Verdicts of the pair arm by outcome, over every check and model of this run."""
    n_rendered: int = 0
    """Images generated now."""
    n_observed: int = 0
    """Needs taken now."""
    n_reused: int = 0
    """Images that were there already."""
    n_failed: int = 0
    """Pieces of work (renders and looks) that failed now."""
    n_unpainted: int = 0
    """Cases without a verdict because a limit was reached first or, when judging again, for want of their images."""
    n_unchecked: int = 0
    """Cases that no check has anything to say about."""
    n_retryable: int = 0
    """ERROR verdicts that may come out otherwise when the same command runs again; refusals are not among them."""
    n_refused: int = 0
    """ERROR verdicts of the pair arm that the same command leaves as they are, because somebody refused."""
    n_unreadable: int = 0
    """Replies in the run that nobody could read."""
    cost_usd: float = 0.0
    """What the components say their work cost now."""
    limit_reached: str = ""
    """The limit that ended the run early, in words; empty when none did."""

    unasked: Mapping[str, int] = field(default_factory=dict)
    """Needs left out because run.json alone names whoever could make them; by role and name."""

    @property
    def is_complete(self) -> bool:
        """Whether every case has an outcome other than ERROR."""
        return self.outcomes.get(Outcome.ERROR, 0) == 0 and self.n_unpainted == 0
