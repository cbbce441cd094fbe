"""Right and wrong images of pairs: both right, one wrong, both wrong alike or not.

Read from the scores that every check of Rate.WRONG leaves.
"""

from __future__ import annotations

from enum import StrEnum

from salva.core.verdict import Outcome, Verdict


class PairKind(StrEnum):
    """How right the two images of a pair are."""

    BOTH_RIGHT = "both right"
    ONE_WRONG = "one wrong"
    ALIKE_WRONG = "both wrong, images agree"
    """Which a comparison of the two cannot see."""
    BOTH_WRONG = "both wrong, images differ"
    UNDECIDED = "undecided"

    @property
    def is_wrong(self) -> bool:
        """Whether an image is known to be wrong."""
        return self in (PairKind.ONE_WRONG, PairKind.ALIKE_WRONG, PairKind.BOTH_WRONG)


def pair_kind(verdict: Verdict) -> PairKind:
    """The kind of a pair, by a verdict of Rate.WRONG."""
    right_a, right_b = verdict.scores.get("right_a"), verdict.scores.get("right_b")
    if verdict.outcome in (Outcome.UNDECIDED, Outcome.ERROR) or right_a is None or right_b is None:
        return PairKind.UNDECIDED
    if right_a and right_b:
        return PairKind.BOTH_RIGHT
    if right_a or right_b:
        return PairKind.ONE_WRONG
    return PairKind.ALIKE_WRONG if verdict.scores.get("both_wrong") else PairKind.BOTH_WRONG
