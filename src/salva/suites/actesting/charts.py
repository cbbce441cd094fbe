"""ACTesting's figures as charts: which numbers are drawn, and how; the report draws them."""

from __future__ import annotations

from salva.core.chart import Chart, ChartKind
from salva.core.table import Cell, Table

_FIGURES = {"Error_e": ("a", "things"), "Error_r": ("b", "relations")}


def charts_of(errors: Table, definition: str, misses: Table) -> tuple[Chart, ...]:
    """Figure 6 a and b, with the noise floor beside every bar; the same over models; and what is missed."""
    charts = []
    for error, (letter, words) in _FIGURES.items():
        rows = _rows(errors, definition, error)
        decided = [row for row in rows if row[2] is not None]
        if not decided:
            continue
        table = Table(name=f"{error} by operator", columns=_COLUMNS, rows=tuple(decided))
        ours = [row for row in decided if row[1] == error]
        charts.append(
            _bars(
                table, f"actesting-{error.lower().replace('_', '-')}", f"Wrong {words} by operator (Figure 6 {letter})"
            )
        )
        over_models = Table(name=table.name, columns=_COLUMNS, rows=tuple(ours))
        name = f"actesting-{error.lower().replace('_', '-')}-over-models"
        charts.append(_bars(over_models, name, f"Wrong {words} by operator, over models", is_over_models=True))
    charts.append(
        Chart(
            name="actesting-misses",
            title="What captions say and pictures do not show, by set (as Table 2)",
            kind=ChartKind.BARS,
            table=misses,
            x="set",
            y="rate",
            series="miss",
            low="low",
            high="high",
            n="n",
            y_label="share of what captions name",
            is_share=True,
            ends=(0.0, 1.0),
        )
    )
    return tuple(charts)


_COLUMNS = ("operator", "shows", "rate", "low", "high", "n", "model")


def _rows(errors: Table, definition: str, error: str) -> list[tuple[Cell, ...]]:
    rows: list[tuple[Cell, ...]] = []
    for cells in errors.rows:
        row = dict(zip(errors.columns, cells, strict=True))
        if (row["definition"], row["error"]) != (definition, error):
            continue
        rows.append((row["operator"], error, row["rate"], row["low"], row["high"], row["n"], row["model"]))
        if row["noise_rate"] is not None:
            rows.append((row["operator"], "another seed alone", row["noise_rate"], None, None, None, row["model"]))
    return rows


def _bars(table: Table, name: str, title: str, *, is_over_models: bool = False) -> Chart:
    return Chart(
        name=name,
        title=title,
        kind=ChartKind.BARS,
        table=table,
        x="operator",
        y="rate",
        series="model" if is_over_models else "shows",
        low="low",
        high="high",
        n="n",
        y_label="share of the decided pairs",
        is_share=True,
        ends=(0.0, 1.0),
        filters={"operator": "label:operator", "model": "model"},
        is_joined=is_over_models,
        is_for_several=is_over_models,
    )
