"""ACTesting's figures as charts: which numbers are drawn, and how; the report draws them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from salva.core.chart import Chart, share_bars
from salva.core.table import Cell, Table

_FIGURES = {"Error_e": ("a", "entities"), "Error_r": ("b", "relations")}
_COLUMNS = ("operator", "shows", "rate", "low", "high", "n", "model")


def charts_of(errors: Table | None, definition: str, misses: Table | None) -> Iterator[Chart]:
    """Figure 6 a and b, with the noise floor at every bar; the same over models; and what is missed."""
    for error, (letter, words) in _FIGURES.items():
        decided = [row for row in _rows(errors, definition, error) if row[2] is not None] if errors else []
        name, title = f"actesting-{error.lower().replace('_', '-')}", f"Wrong {words} by operator"
        if decided:
            yield _bars(decided, name, f"{title} (Figure 6 {letter})")
            ours = [row for row in decided if row[1] == error]
            yield _bars(ours, f"{name}-over-models", f"{title}, over models", is_over_models=True)
    if misses:
        yield share_bars(
            name="actesting-misses",
            title="Missed entities and relations by set (as Table 2)",
            table=misses,
            x="set",
            y="rate",
            series="miss",
            y_label="share missed",
        )


def _rows(errors: Table, definition: str, error: str) -> Iterator[tuple[Cell, ...]]:
    """What stands under _COLUMNS."""
    for cells in errors.rows:
        row = dict(zip(errors.columns, cells, strict=True))
        if (row["definition"], row["error"]) == (definition, error):
            yield (row["operator"], error, row["rate"], row["low"], row["high"], row["n"], row["model"])
            if row["noise_rate"] is not None:
                yield (row["operator"], "another seed alone", row["noise_rate"], None, None, None, row["model"])


def _bars(rows: Sequence[tuple[Cell, ...]], name: str, title: str, *, is_over_models: bool = False) -> Chart:
    return share_bars(
        name=name,
        title=title,
        table=Table(name=f"{rows[0][1]} by operator", columns=_COLUMNS, rows=tuple(rows)),
        x="operator",
        y="rate",
        series="model" if is_over_models else "shows",
        y_label="share of decided pairs",
        filters={"operator": "label:operator", "model": "model"},
        is_joined=is_over_models,
        is_for_several=is_over_models,
    )
