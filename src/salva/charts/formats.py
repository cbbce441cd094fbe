"""Numbers as text, the same in every format of the report."""

from __future__ import annotations

from salva.core.metric import MetricValue
from salva.core.table import Cell

NOTHING = "–"
_HEADINGS = {"lower": "low", "upper": "high"}
"""Of intervals of what is no share: low and high in a column's name are ends of a share."""
_SHARES = ("rate", "low", "high", "squared_distance", "difference", "wording_difference", "seed_noise", "ours")


def percent(value: float | None, digits: int = 1) -> str:
    """A share as a percentage; a dash for none."""
    return NOTHING if value is None else f"{value * 100:.{digits}f} %"


def percent_text(share: float | None) -> str:
    """A share in whole percent; one digit more where it would read as 0 or 100 and is not."""
    if share is None:
        return "not measured"
    digits = 1 if 0 < share < 0.01 or 0.99 < share < 1 else 0
    return percent(share, digits)


def interval_text(low: float | None, high: float | None) -> str:
    """Both ends of an interval of shares."""
    return NOTHING if low is None or high is None else f"{low * 100:.1f} to {high * 100:.1f} %"


def points(value: float | None) -> str:
    """A difference of shares in points, with its sign; a dash for none."""
    return NOTHING if value is None else f"{value * 100 + 0.0:+.1f} points"


def metric_text(metric: MetricValue) -> tuple[str, str]:
    """A metric's value and its interval; a dash for none."""
    if metric.value is None:
        return "not measured", NOTHING
    if metric.is_difference:
        ends = metric.interval
        between = NOTHING if ends is None else f"{ends[0] * 100:+.1f} to {ends[1] * 100:+.1f} points"
        return points(metric.value), between
    if metric.is_share:
        return percent(metric.value), interval_text(metric.low, metric.high)
    ends = metric.interval
    between = NOTHING if ends is None else f"{ends[0]:.3f} to {ends[1]:.3f}"
    return f"{metric.value:.3f}" if metric.value != int(metric.value) else f"{metric.value:g}", between


def published_text(metric: MetricValue) -> str:
    """The figure of a metric's paper; a dash for none."""
    if metric.published is None:
        return NOTHING
    figure = f"{metric.published * 100:g} %" if metric.is_share else f"{metric.published:g}"
    return f"{figure} ({metric.published_of})" if metric.published_of else figure


def is_share(column: str) -> bool:
    """Whether a column of numbers holds shares between 0 and 1."""
    return column in _SHARES or column.startswith(("share_", "differs_")) or column.endswith(("_rate", "_low", "_high"))


def cell_text(column: str, value: Cell) -> str:
    """A table's cell as text."""
    if value is None:
        return NOTHING
    if isinstance(value, str):
        return value
    if is_share(column):
        return percent(value)
    if not isinstance(value, float):
        return str(value)
    # Four digits are enough for people; JSON and CSV have all of them.
    return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:.4g}"


def heading(column: str) -> str:
    """A column's name as a heading."""
    return " ".join(_HEADINGS.get(word, word) for word in column.split("_"))
