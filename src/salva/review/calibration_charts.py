"""Charts of a calibration: accuracy and F1 by threshold, and differences of judge and people, as in CF-World."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from salva.charts.formats import percent
from salva.core.chart import Chart, ChartKind
from salva.core.table import Cell, Table
from salva.review.calibration import SPREAD, THRESHOLDS
from salva.stats.thresholds import CLOSE


def calibration_charts(tables: Sequence[Table]) -> Iterator[Chart]:
    """The charts of one calibration: of every score and judge its curve, and its spread."""
    named = {table.name: table for table in tables}
    for table, draw in ((named.get(THRESHOLDS), _curve), (named.get(SPREAD), _spread)):
        if table is not None:
            for (score, judge), rows in _by_judge(table).items():
                yield draw(score, judge, rows)


def _curve(score: str, judge: str, rows: Sequence[dict[str, Cell]]) -> Chart:
    points: list[tuple[Cell, ...]] = []
    for row in rows:
        points.append(("accuracy", row["threshold"], row["accuracy"], row["lower"], row["upper"], row["n"]))
        points.append(("F1", row["threshold"], row["f1"], None, None, row["n"]))
    return Chart(
        name=_name("thresholds", score, judge),
        title=f"Accuracy and F1 by threshold: {score}, {judge} (as CF-World's Figure 6a)",
        kind=ChartKind.LINES,
        table=Table(name="curve", columns=("curve", "threshold", "value", "low", "high", "n"), rows=tuple(points)),
        x="threshold",
        y="value",
        series="curve",
        low="low",
        high="high",
        ends=(0.0, 1.0),
        is_high_good=True,
        x_label="threshold",
        y_label=f"accuracy (shaded: 95 %) and F1 against people, n {rows[0]['n']}",
    )


def _spread(score: str, judge: str, rows: Sequence[dict[str, Cell]]) -> Chart:
    bars = tuple((f"{row['from']:+.3g} to {row['to']:+.3g}", row["share"], row["n"]) for row in rows)
    (close,) = (row["share"] for row in rows if row["to"] == CLOSE)
    assert isinstance(close, float)
    return Chart(
        name=_name("spread", score, judge),
        title=f"Judge minus people: {score}, {judge} (as CF-World's Figure 5a)",
        kind=ChartKind.BARS,
        table=Table(name="spread", columns=("difference", "share", "n"), rows=bars),
        x="difference",
        y="share",
        n="n",
        is_share=True,
        ends=(0.0, 1.0),
        is_high_good=True,
        y_label=f"share of images; {percent(close)} lie within {CLOSE:g} of people",
    )


def _by_judge(table: Table) -> dict[tuple[str, str], list[dict[str, Cell]]]:
    groups: dict[tuple[str, str], list[dict[str, Cell]]] = {}
    for cells in table.rows:
        row = dict(zip(table.columns, cells, strict=True))
        groups.setdefault((str(row["score"]), str(row["judge"])), []).append(row)
    return groups


def _name(*parts: str) -> str:
    """In the letters of a chart's name."""
    return re.sub(r"[^a-z0-9]+", "-", " ".join(parts).lower()).strip("-")
