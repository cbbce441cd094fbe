"""The gate of a comparison: whether the candidate is worse than the baseline by more than a margin.

Two series of failures in, a decision out. It holds at both ends of what the undecided pairs leave open.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from salva.compare.pairing import FigureDifference, difference_of
from salva.compare.series import Series
from salva.core.quantity import quantity
from salva.messages import Message, message
from salva.results.gate import INCONCLUSIVE, MIN_DECIDED, PASSED, GateDecision, outcome
from salva.results.trust import AGREEMENT_ONLY, NONE, Trust
from salva.stats.intervals import MIN_CLUSTERS, Interval
from salva.stats.pairs_needed import pairs_for_margin

DIFFERENCE = "difference"
MARGIN = 0.05
"""A difference inside it, either way, is none to speak of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Demands:
    """What a comparison is held against."""

    margin: float = MARGIN
    fail_if_worse: float | None = None
    """The gate: by how much the candidate may be worse."""
    gate_on: str = "interval"
    min_decided: int = MIN_DECIDED


def decide_margin(
    demands: Demands, baseline: Series, candidate: Series, figure: FigureDifference, trusts: Iterable[Trust]
) -> GateDecision | None:
    """Hold a difference of failure rates against a margin; None where no margin is set."""
    limit = demands.fail_if_worse
    if limit is None:
        return None
    best = difference_of(baseline.filled(1.0), candidate.filled(0.0)).interval
    worst = difference_of(baseline.filled(0.0), candidate.filled(1.0)).interval
    ends = None if best is None or worst is None else Interval(low=best.low, high=worst.high)
    decision = outcome(figure.difference, ends, limit, demands.gate_on)
    reason = _held_back(demands, figure, tuple(trusts))
    if reason and (decision == PASSED or figure.difference is None):
        decision = INCONCLUSIVE
    else:
        reason = None
    needed, is_out_of_reach = None, False
    if decision == INCONCLUSIVE and reason is None and figure.difference is not None:
        needed = pairs_for_margin(figure.difference, figure.half_width, figure.n_pairs, limit, figure.t)
        is_out_of_reach = needed is None and figure.difference != limit
        if needed is not None and needed <= figure.n_pairs:
            needed, reason = None, message("compare-undecided-decide")
    return GateDecision(
        metric=DIFFERENCE,
        decision=decision,
        limit=limit,
        value=figure.difference,
        interval=None if ends is None else (ends.low, ends.high),
        reason=reason or "",
        pairs_needed=needed,
        is_out_of_reach=is_out_of_reach,
    )


def _held_back(demands: Demands, figure: FigureDifference, trusts: tuple[Trust, ...]) -> Message | None:
    """Why no gate passes on these numbers."""
    if any(trust.status == NONE for trust in trusts):
        return message("gate-no-trust")
    if any(trust.has(AGREEMENT_ONLY) for trust in trusts):
        return message("gate-agreement-only")
    if figure.n_pairs < demands.min_decided:
        return message("gate-few-decided", n=figure.n_pairs, wanted=demands.min_decided)
    if figure.difference is None:
        return message("compare-few-cases", cases=quantity(figure.n_cases, "cases"), least=MIN_CLUSTERS)
    return None
