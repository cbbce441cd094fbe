"""The interval of a ratio a / sqrt(b) of two means over groups, such as CF-World's PRR and RRR.

Two scores of every group come in, two ends go out; docs/explanation/statistics.md has the rule and how well it covers.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

from salva.stats.intervals import Interval, t_95, wilson

_FEWEST_GROUPS = 8
"""With fewer groups there is no interval."""
_PRIOR_GROUPS = 8
"""So many groups' worth of a share's variance stand beside what the groups show themselves."""


def root_ratio_interval(before: Sequence[float], after: Sequence[float]) -> Interval | None:
    """95 % of mean(after) / sqrt(mean(before)), one value a group each; None for few groups or over a mean of 0.

    Wilson's interval of mean(after) at the effective number of groups that the ratio's variance implies, with
    Student's t, divided by the root. Not clipped at 1: the ratio can exceed it.
    """
    n = len(after)
    a, b = sum(after) / max(n, 1), sum(before) / max(n, 1)
    if n < _FEWEST_GROUPS or b <= 0:
        return None
    root, ratio, t = sqrt(b), a / sqrt(b), t_95(n - 1)
    squares = sum(
        ((one - a) / root - ratio * (other - b) / (2 * b)) ** 2 for one, other in zip(after, before, strict=True)
    )
    # By the values themselves: a mean of ones may miss 1 by a rounding.
    is_all, is_none = min(after) >= 1, max(after) <= 0
    if is_all or is_none:
        a, n_effective = float(is_all), float(n)
    else:
        variance = (squares + _PRIOR_GROUPS * a * (1 - a) / b) / ((n + _PRIOR_GROUPS - 1) * n)
        n_effective = a * (1 - a) / (b * variance)
        if min(a, 1 - a) * n < 1:
            n_effective = min(n_effective, n)
    share = wilson(a, n_effective, t)
    low, high = share.low / root, share.high / root
    if is_all:
        half = t * sqrt(squares / ((n - 1) * n))
        low, high = max(0.0, min(low, ratio - half)), ratio + half
    return Interval(low=low, high=high)
