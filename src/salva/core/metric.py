"""One figure of a run beside its failure rate."""

from __future__ import annotations

from dataclasses import dataclass

HIGHER, LOWER = "higher", "lower"
"""Which way a metric gets better."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricValue:
    """A metric with its interval, or the reason why there is none."""

    value: float | None
    """None where it was not measured."""
    low: float | None = None
    high: float | None = None
    """The ends of its 95 % interval."""
    n: int | None = None
    """How many results or cases it rests on."""
    better: str = ""
    """HIGHER or LOWER; empty where neither is better."""
    published: float | None = None
    """The figure of the suite's paper for the same rule."""
    published_of: str = ""
    """The models that the figure was published for."""
    reason: str = ""
    """Why it was not measured, or what to know about it; one short sentence."""
    title: str = ""
    """What it is called in print; empty for its name."""
    is_share: bool = False
    """Whether it is a share between 0 and 1, printed as percent."""
    is_difference: bool = False
    """Whether it is a difference of two shares, printed in points."""

    @property
    def interval(self) -> tuple[float, float] | None:
        """Both ends of its interval; None without one."""
        return None if self.low is None or self.high is None else (self.low, self.high)


def not_measured(reason: str, *, better: str = "", title: str = "", published: float | None = None) -> MetricValue:
    """A metric without a value."""
    return MetricValue(value=None, reason=reason, better=better, title=title, published=published)
