"""A chart, not yet drawn: which columns of a table, drawn how.

Says nothing of pixels or colours; the report draws it for the page and for files.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial

from salva.core.table import Table

BY_CATEGORY = "by-category"
"""The chart of a run's failure rate by category, which every suite has."""


class ChartKind(StrEnum):
    """How a chart is drawn."""

    BARS = "bars"
    """One bar a row: y over x, with an interval where low and high are named."""
    HEAT_MAP = "heat-map"
    """One cell a row: value at column x, line y."""
    BOXES = "boxes"
    """The spread of y for each x; one row an observed value."""
    SCATTER = "scatter"
    """One point a row."""
    LINES = "lines"
    """Points joined in the order of x, one line a series."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A table and the columns that are drawn."""

    name: str
    """In the letters [a-z0-9-]; also the name of its file."""
    title: str
    kind: ChartKind
    table: Table
    x: str
    y: str
    value: str = ""
    """The column a heat map colours by."""
    series: str = ""
    """The column that tells groups of rows apart by colour; empty for one group."""
    low: str = ""
    high: str = ""
    n: str = ""
    """The column that says over how many a value is; in small print. A text there is printed as it is."""
    x_label: str = ""
    y_label: str = ""
    is_share: bool = False
    """Whether values are shares between 0 and 1, shown as percent."""
    ends: tuple[float, float] | None = None
    """Where the value axis begins and ends; None leaves it to the numbers."""
    marks: tuple[float, ...] = ()
    """Values worth a line across the chart, such as 0 or a threshold."""
    is_high_good: bool = False
    """Whether high values are what one hopes for; colours follow."""
    edge: str = ""
    """The x, y or series of rows that sum up all others; drawn apart."""
    words: Mapping[str, str] = field(default_factory=dict)
    """How a value of x, y or series is written, where it is not written as it is."""
    filters: Mapping[str, str] = field(default_factory=dict)
    """Column to what its values choose among counterexamples: `category`, `error`, `model`, or `label:` and a label."""
    replaces: str = ""
    """The name of a general chart that says nothing beside this one, and gives it its place."""
    is_joined: bool = False
    """With several models: their rows are put together and drawn once. The table then has a column `model`."""
    is_of_cases: bool = False
    """Whether it is about the cases alone, and so the same of every model: drawn once."""
    is_printed: bool = False
    """Whether a terminal shows it as text wherever it stands; else it does so for the first chart alone."""
    is_for_several: bool = False
    """Whether it says nothing about one model alone, and is left out there."""
    note: str = ""
    """One sentence on how to read it."""

    def __post_init__(self) -> None:
        named = (self.x, self.y, self.value, self.series, self.low, self.high, self.n, *self.filters)
        missing = [column for column in named if column and column not in self.table.columns]
        if self.is_joined and "model" not in self.table.columns:
            missing.append("model")
        if missing:
            raise ValueError(f"chart {self.name!r}: table {self.table.name!r} has no column {missing[0]!r}")


share_bars = partial(Chart, kind=ChartKind.BARS, low="low", high="high", n="n", is_share=True, ends=(0.0, 1.0))
"""Bars of shares with their intervals, in percent of a track; the other fields of a chart are given."""
