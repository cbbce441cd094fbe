"""Quantiles of Student's t."""

from __future__ import annotations

from functools import lru_cache
from math import atan, cos, pi, sqrt

from salva.stats.intervals import Z_95

_NORMAL_FROM = 2000
"""Beyond so many degrees of freedom the normal quantile is right to the third digit."""


@lru_cache(maxsize=4096)
def t_95(degrees: int) -> float:
    """The quantile of a two-sided 95 % interval."""
    if degrees < 1:
        raise ValueError(f"{degrees} degrees of freedom")
    if degrees > _NORMAL_FROM:
        return Z_95
    low, high = 0.0, 13.0
    while high - low > 1e-12:
        middle = (low + high) / 2
        if t_within(middle, degrees) < 0.95:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def t_within(t: float, degrees: int) -> float:
    """The probability that a t variable lies between -t and t: the finite series for whole degrees of freedom."""
    angle = atan(t / sqrt(degrees))
    square = cos(angle) ** 2
    if degrees % 2:
        term = total = cos(angle) if degrees > 1 else 0.0
        for k in range(3, degrees - 1, 2):
            term *= square * (k - 1) / k
            total += term
        return 2 / pi * (angle + (t / sqrt(degrees)) * cos(angle) * total)
    term = total = 1.0
    for k in range(2, degrees - 1, 2):
        term *= square * (k - 1) / k
        total += term
    return (t / sqrt(degrees)) * cos(angle) * total
