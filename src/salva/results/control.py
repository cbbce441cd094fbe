"""How far apart two wordings are, as distributions of images: the crossed-seed control, averaged.

Takes control verdicts with their scores, gives the excess and its interval. How two images are compared is the
check's business; here only the shares of differing pairs arrive. What people mean by harm is in wordings.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from salva.core.judgements import CaseVerdict, Judgements
from salva.judging.crossing import BETWEEN, WITHIN_A, WITHIN_B
from salva.results.tally import cluster_of
from salva.stats.intervals import Interval
from salva.stats.mean_intervals import cautious_mean_interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Excess:
    """Mean shares of differing images over the control verdicts of one group."""

    n: int
    between: float
    """P(A_i differs from B_j), i not j: other wording, other seed."""
    within_a: float
    """P(A_i differs from A_j): same wording, other seed."""
    within_b: float
    excess: float
    """between - (within_a + within_b) / 2: half the squared distance of what the two wordings show."""
    interval: Interval | None
    """95 %, by Student's t over clusters or cases, whichever is wider; None with few clusters."""


def compared_controls(judgements: Judgements) -> list[CaseVerdict]:
    """The control verdicts of one check: the first that compares images, else the one that makes most results."""
    by_check: dict[str, dict[tuple[str, int], CaseVerdict]] = {}
    for control in judgements.controls:
        unit = control.case.case_id, control.verdict.repeat
        by_check.setdefault(control.verdict.check, {}).setdefault(unit, control)
    comparing = [name for name in by_check if name in judgements.checks and judgements.checks[name].compares]
    making = [result.check for result in judgements.results[:1]]
    check = next((name for name in (*comparing, *making, *by_check) if name in by_check), "")
    return list(by_check.get(check, {}).values())


def excess_of(controls: Sequence[CaseVerdict]) -> Excess | None:
    """The excess over a group of control verdicts; None when none of them could compare anything."""
    usable = [control for control in controls if {BETWEEN, WITHIN_A, WITHIN_B} <= control.verdict.scores.keys()]
    if not usable:
        return None
    scores = [control.verdict.scores for control in usable]
    between, within_a, within_b = (
        sum(score[name] for score in scores) / len(scores) for name in (BETWEEN, WITHIN_A, WITHIN_B)
    )
    each = [score[BETWEEN] - (score[WITHIN_A] + score[WITHIN_B]) / 2 for score in scores]
    return Excess(
        n=len(usable),
        between=between,
        within_a=within_a,
        within_b=within_b,
        excess=between - (within_a + within_b) / 2,
        interval=cautious_mean_interval(
            each,
            [cluster_of(control.case) for control in usable],
            [control.case.case_id for control in usable],
            least=-1.0,
            most=1.0,
        ),
    )
