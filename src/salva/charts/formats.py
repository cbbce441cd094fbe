"""Numbers as text, the same in every format of the report."""

from __future__ import annotations

from salva.core.table import Cell, KeyFigure

NOTHING = "–"
_SHARES = ("rate", "low", "high", "squared_distance", "difference", "wording_difference", "seed_noise", "ours")


def percent(value: float | None, digits: int = 1) -> str:
    """A share as a percentage; a dash for none."""
    return NOTHING if value is None else f"{value * 100:.{digits}f} %"


def interval_text(low: float | None, high: float | None) -> str:
    """Both ends of an interval of shares."""
    return NOTHING if low is None or high is None else f"{low * 100:.1f} to {high * 100:.1f} %"


def points(value: float | None) -> str:
    """A difference of shares in points, with its sign; a dash for none."""
    return NOTHING if value is None else f"{value * 100 + 0.0:+.1f} points"


def figure_text(figure: KeyFigure) -> tuple[str, str]:
    """A key figure's value, and its interval and note in one line."""
    if figure.is_difference:
        value, (low, high) = points(figure.value), (figure.low, figure.high)
        ends = NOTHING if low is None or high is None else f"{low * 100:+.1f} to {high * 100:+.1f} points"
    elif figure.is_share:
        value, ends = percent(figure.value), interval_text(figure.low, figure.high)
    else:
        value = NOTHING if figure.value is None else f"{figure.value:.3f}"
        ends = NOTHING if figure.low is None or figure.high is None else f"{figure.low:.3f} to {figure.high:.3f}"
    return value, "; ".join(part for part in ("" if ends == NOTHING else f"95 %: {ends}", figure.note) if part)


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
    return column.replace("_", " ")
