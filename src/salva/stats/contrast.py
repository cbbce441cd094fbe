"""Whether a judge tells images apart: control questions about images that share nothing with the question.

Counts in, a status with a reason code out. A control is a question that the judge answered as expected on its own
image, asked about another image. docs/explanation/statistics.md says how often each status comes out.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, hypot

from salva.stats.intervals import Interval, wilson

OK, LIMITED, NONE = "ok", "limited", "none"
NO_CONTRAST, UNPROBED = "judge-no-contrast", "judge-unprobed"
FEWEST_CONTROLS = 8
"""With fewer controls a judge counts as not probed."""
_LEAST_ASKED, _MOST_ASKED = 20, 40
_BLIND_FROM = 0.5
_MOST_ACCEPTED = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlCounts:
    """What a judge was asked, and what it answered."""

    n_controls: int
    n_accepted: int
    """Controls that it answered as if the other image showed what the question is about."""
    n_own: int
    """Questions about the images they belong to."""
    n_as_expected: int
    """Of these, answered as expected."""
    has_accepted: bool
    """Whether it ever accepted any question about any image."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrast:
    """How well a judge tells images apart."""

    status: str
    """OK, LIMITED or NONE."""
    code: str = ""
    """NO_CONTRAST or UNPROBED; empty where it is ok."""


def controls_wanted(n_images: int) -> int:
    """How many controls to ask for so many judged images: a tenth, at least 20, at most 40."""
    return min(_MOST_ASKED, max(_LEAST_ASKED, ceil(n_images / 10)))


def judge_contrast(counts: ControlCounts) -> Contrast:
    """What the controls say of a judge."""
    n = counts.n_controls
    if not n + counts.n_own:
        return Contrast(status=LIMITED, code=UNPROBED)
    if not counts.has_accepted:
        return Contrast(status=NONE, code=NO_CONTRAST)
    if n < FEWEST_CONTROLS:
        return Contrast(status=LIMITED, code=UNPROBED)
    accepted = counts.n_accepted / n
    if wilson(accepted, n).high >= _BLIND_FROM:
        return Contrast(status=NONE, code=NO_CONTRAST)
    if accepted > _MOST_ACCEPTED or not counts.n_own:
        return Contrast(status=LIMITED, code=NO_CONTRAST)
    # The least by which own images get expected answers more often than others are accepted.
    lead = newcombe(counts.n_as_expected, counts.n_own, counts.n_accepted, n).low
    return Contrast(status=OK) if lead > 0 else Contrast(status=LIMITED, code=NO_CONTRAST)


def newcombe(hits: int, n: int, other_hits: int, other_n: int) -> Interval:
    """95 % of a difference of two independent shares: Newcombe's hybrid of their Wilson intervals."""
    one, other = hits / n, other_hits / other_n
    ends, other_ends = wilson(one, n), wilson(other, other_n)
    return Interval(
        low=one - other - hypot(one - ends.low, other_ends.high - other),
        high=one - other + hypot(ends.high - one, other - other_ends.low),
    )
