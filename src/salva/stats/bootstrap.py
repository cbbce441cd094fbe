"""Bootstrap intervals of statistics of groups.

Each group comes as its sums, so that a thousand draws are one product of matrices.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from salva.stats.intervals import MIN_CLUSTERS, Interval

_N_DRAWS = 2000


def bootstrap_interval(
    sums: Sequence[Sequence[float]], statistic: Callable[[NDArray[np.float64]], NDArray[np.float64]]
) -> Interval | None:
    """The 95 % percentile interval of a statistic of sums over groups; None for few groups, or where it is undefined.

    sums: of every group, as many numbers each. statistic: a row of summed numbers a draw to a value a draw; NaN where
    it has none.
    """
    if len(sums) < MIN_CLUSTERS:
        return None
    with np.errstate(divide="ignore", invalid="ignore"):
        values = statistic(_draws(len(sums)) @ np.asarray(sums, np.float64))
    values = values[np.isfinite(values)]
    if len(values) < _N_DRAWS / 2:
        return None
    low, high = np.quantile(values, (0.025, 0.975))
    return Interval(low=float(low), high=float(high))


@lru_cache(maxsize=32)
def _draws(n: int) -> NDArray[np.float64]:
    """How often each of n groups is drawn, a row a draw; the same on every machine, so that reports do not differ."""
    chance = np.full(n, 1 / n)
    return np.random.Generator(np.random.Philox(n)).multinomial(n, chance, size=_N_DRAWS).astype(np.float64)
