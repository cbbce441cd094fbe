"""Means, variances and shares of numbers."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from statistics import fmean
from typing import TypeVar

from salva.core.grouping import grouped

Group = TypeVar("Group", bound=Hashable)


mean = fmean
"""The arithmetic mean of at least one number."""


def variance(values: Sequence[float]) -> float:
    """The sample variance of at least two numbers."""
    centre = sum(values) / len(values)
    return sum((value - centre) ** 2 for value in values) / (len(values) - 1)


def group_mean(values: Sequence[float], groups: Sequence[Sequence[Group]]) -> float:
    """The unweighted mean over groups of each group's mean; a value counts in every group it belongs to."""
    by_group = grouped((name, value) for value, names in zip(values, groups, strict=True) for name in names)
    return mean(mean(of_group) for of_group in by_group.values())


def mean_of_groups(values: Iterable[tuple[Hashable, float]]) -> float | None:
    """The same of values with the one group that each belongs to; None without any."""
    means = [sum(group) / len(group) for group in grouped(values).values()]
    return sum(means) / len(means) if means else None


def share_above(values: Sequence[float], threshold: float) -> float:
    """The part of the values above a threshold."""
    return sum(value > threshold for value in values) / len(values)
