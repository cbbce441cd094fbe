"""The exact sign test of paired numbers."""

from __future__ import annotations

from collections.abc import Iterable
from math import comb
from typing import NamedTuple


class Signs(NamedTuple):
    """How often the first of a pair is higher, lower or equal, and how likely that would be by chance."""

    n_higher: int
    n_lower: int
    n_equal: int
    p: float | None
    """Two-sided, over the pairs that differ; None without any."""


def sign_test(pairs: Iterable[tuple[float, float]]) -> Signs:
    """Count the pairs; ties say nothing."""
    signs = [(first > second) - (first < second) for first, second in pairs]
    higher, lower = signs.count(1), signs.count(-1)
    n = higher + lower
    if not n:
        return Signs(0, 0, len(signs), None)
    tail = sum(comb(n, k) for k in range(min(higher, lower) + 1))
    return Signs(higher, lower, signs.count(0), min(1.0, 2 * tail / 2**n))
