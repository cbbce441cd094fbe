"""Charts for tests of drawing and writing them."""

from __future__ import annotations

from salva.core.chart import Chart, ChartKind
from salva.core.table import Table

TABLE = Table(
    name="by category",
    columns=("model", "category", "kappa", "low", "high", "n"),
    rows=(
        ("pocket", "colour", 0.5, 0.4, 0.6, 3),
        ("pocket", "$\\frac{1}{$ 猫 <b>", -0.25, None, None, 1),
        ("pocket", "size", None, None, None, 0),
    ),
)


def make_chart(kind: ChartKind = ChartKind.BARS, table: Table = TABLE, **others: object) -> Chart:
    columns = {"x": "n", "y": "kappa"} if kind in (ChartKind.SCATTER, ChartKind.LINES) else {}
    columns |= {"x": "category", "y": "model", "value": "kappa"} if kind is ChartKind.HEAT_MAP else {}
    fields = {"name": "kappa", "title": "Kappa", "x": "category", "y": "kappa", **columns, **others}
    return Chart(kind=kind, table=table, **fields)  # type: ignore[arg-type]  # fields of a chart by name


def make_heat_map(**others: object) -> Chart:
    """Laws by modifiers with sums at the edges; one cell is missing, one has no value."""
    rows = (
        ("commutative", "and", 0.0, 4),
        ("commutative", "all", 0.25, 8),
        ("de-morgan", "and", 1.0, 4),
        ("de-morgan", "x", None, 0),
        ("de-morgan", "all", 1.0, 4),
        ("all", "and", 0.5, 8),
        ("all", "x", 0.5, 4),
        ("all", "all", 0.6, "macro"),
    )
    return make_chart(
        ChartKind.HEAT_MAP,
        Table(name="law by modifier", columns=("law", "modifier", "rate", "n"), rows=rows),
        **{
            "x": "modifier",
            "y": "law",
            "value": "rate",
            "n": "n",
            "edge": "all",
            "is_share": True,
            "ends": (0.0, 1.0),
            "words": {"and": "AND", "x": "X"},
            "filters": {"law": "label:law", "modifier": "label:modifier"},
            **others,
        },
    )
