"""A figure of a suite that models are compared by, beside the failure rate.

A metric names them in `about.figures`. A comparison leaves cases out and computes them again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from salva.core.judgements import CaseVerdict


def one_mean(means: Sequence[float]) -> float | None:
    """The figure that is a mean itself."""
    return means[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnFigure:
    """What enters a figure, and how it comes of that."""

    name: str
    """As the numbers of a report have it."""
    title: str
    terms: Callable[[CaseVerdict], tuple[float, ...] | None]
    """What a verdict brings to it, as many numbers each; None for one that is no part of it or lacks a score."""
    of_means: Callable[[Sequence[float]], float | None] = one_mean
    """The means of the terms over verdicts to the figure; None where it is not defined."""
    is_high_good: bool = True
    is_share: bool = False
    """Whether it lies between 0 and 1 and is shown as percent."""
    reach: float | None = None
    """The largest difference that two models can have; None where there is none. Of a share it is 1."""
