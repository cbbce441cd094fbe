"""Charts of failure rates, for any suite: by category, failure type and wording, and of wordings and seeds crossed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from salva.core.chart import BY_CATEGORY, Chart, ChartKind, share_bars
from salva.core.table import Cell, Table
from salva.results.metrics.wording_table import WORDINGS, wording_chart


def rate_charts(tables: Sequence[Table]) -> Iterator[Chart]:
    """The charts that these tables of rates have; none of what was not decided."""
    by_name = {table.name: table for table in tables}
    categories = by_name["by category"]
    if any(row[categories.columns.index("rate")] is not None for row in categories.rows):
        yield share_bars(
            name=BY_CATEGORY,
            title="Failure rate by category",
            table=categories,
            x="category",
            y="rate",
            y_label="failure rate",
            filters={"category": "category"},
        )
    if "failure types" in by_name:
        yield Chart(
            name="failure-types",
            title="Failure types",
            kind=ChartKind.BARS,
            table=by_name["failure types"],
            x="failure_type",
            y="n",
            y_label="failed results that show the type",
            filters={"failure_type": "failure_type"},
            note=by_name["failure types"].note,
        )
    if WORDINGS in by_name:
        yield wording_chart(by_name[WORDINGS])
    if "control" in by_name:
        yield _control(by_name["control"])


def _control(table: Table) -> Chart:
    row = dict(zip(table.columns, table.rows[0], strict=True))
    within = [value for name in ("a", "b") if isinstance(value := row[f"differs_within_{name}"], float)]
    rows: list[tuple[Cell, ...]] = [
        ("other wording, other seed", row["differs_between"], None, None),
        ("same wording, other seed", sum(within) / len(within) if within else None, None, None),
        ("squared distance of the wordings", row["squared_distance"], row["low"], row["high"]),
        ("other wording, same seed", row["same_seed_rate"], row["same_seed_low"], row["same_seed_high"]),
    ]
    lowest = min(value for name in ("squared_distance", "low") if isinstance(value := row[name] or 0.0, float))
    return Chart(
        name="control",
        title="How often two images differ",
        kind=ChartKind.BARS,
        table=Table(name=table.name, columns=("pictures", "share", "low", "high"), rows=tuple(rows)),
        x="pictures",
        y="share",
        low="low",
        high="high",
        y_label="share of image pairs that differ",
        is_share=True,
        ends=(min(0.0, lowest), 1.0),
        note=f"Judged by {row['check']}. Seed noise is in both of the first two.",
    )
