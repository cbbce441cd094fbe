"""The paper's charts, of one model and of several: law by modifier, laws, AND against OR, the curve over numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from salva.core.chart import Chart, ChartKind
from salva.core.table import Cell, Table

_ALL = "all"


def charts_of(tables: Sequence[Table], mean: float | None, model: str) -> Iterator[Chart]:
    """The charts of one model's tables; mean: of the categories of law and modifier, in the heat map's corner."""
    yield from _model_charts(tables, mean)
    by_name = {table.name: table for table in tables}
    beside = partial(Chart, is_share=True, ends=(0.0, 1.0), n="n", is_joined=True, is_for_several=True)
    if "law by modifier" in by_name:
        table = by_name["law by modifier"]
        rows = tuple((model, f"{law} {str(modifier).upper()}", *figures) for law, modifier, *figures in table.rows)
        yield beside(
            name="law-by-modifier-models",
            title="Failure rate by law, modifier and model",
            kind=ChartKind.HEAT_MAP,
            table=Table(name=table.name, columns=("model", "law and modifier", *table.columns[2:]), rows=rows),
            x="model",
            y="law and modifier",
            value="rate",
            filters={"model": "model"},
        )
    if "numbering by count" in by_name:
        table = by_name["numbering by count"]
        yield beside(
            name="by-count-models",
            title="Failure rate by number of entities and model",
            kind=ChartKind.LINES,
            table=Table(
                name=table.name,
                columns=("model", *table.columns),
                rows=tuple((model, int(str(count)), *figures) for count, *figures in table.rows),
            ),
            x="count",
            y="rate",
            series="model",
            low="low",
            high="high",
            x_label="entities (the larger number)",
            y_label="failure rate",
        )


def _model_charts(tables: Sequence[Table], mean: float | None) -> Iterator[Chart]:
    by_name = {table.name: table for table in tables}
    chart = partial(Chart, is_share=True, ends=(0.0, 1.0), y_label="failure rate", n="n")
    bars = partial(chart, kind=ChartKind.BARS, y="rate", low="low", high="high")
    if "law by modifier" in by_name:
        yield chart(
            name="law-by-modifier",
            title="Failure rate by law and modifier",
            kind=ChartKind.HEAT_MAP,
            table=_with_edges(by_name, mean),
            x="modifier",
            y="law",
            value="rate",
            edge=_ALL,
            words={modifier: modifier.upper() for modifier in ("and", "or", "x", "y")},
            filters={"law": "label:law", "modifier": "label:modifier"},
            replaces="by-category",
            note="Under all: pooled; the corner: the mean of these categories.",
        )
    if "by law" in by_name:
        yield bars(
            name="by-law",
            title="Failure rate by law",
            table=by_name["by law"],
            x="law",
            filters={"law": "label:law"},
        )
    if "numbering by count and entity" in by_name:
        yield chart(
            name="by-count",
            title="Failure rate by number of entities",
            kind=ChartKind.LINES,
            table=_with_all_things(by_name),
            x="count",
            y="rate",
            series="entity",
            edge=_ALL,
            low="low",
            high="high",
            x_label="entities (the larger number)",
            note="Band: 95 % interval over all entities.",
        )
    if "and against or" in by_name:
        yield bars(
            name="and-against-or",
            title="AND against OR",
            table=by_name["and against or"],
            x="modifier",
            words={"and": "AND", "or": "OR"},
            filters={"modifier": "label:modifier"},
            note=by_name["and against or"].note,
        )


def _with_edges(by_name: Mapping[str, Table], mean: float | None) -> Table:
    """Law by modifier, with each law's and each modifier's own rate, and the mean of all cells in the corner."""
    table, laws, modifiers = (by_name[name] for name in ("law by modifier", "by law", "by modifier"))
    names = dict.fromkeys(str(row[0]) for row in table.rows)
    cells: dict[tuple[str, str], tuple[Cell, ...]] = {(str(row[0]), str(row[1])): row for row in table.rows}
    cells |= {(str(row[0]), _ALL): (row[0], _ALL, *row[1:]) for row in laws.rows}
    cells |= {(_ALL, str(row[0])): (_ALL, *row) for row in modifiers.rows}
    at_n = table.columns.index("n")
    n = sum(count for row in table.rows if isinstance(count := row[at_n], int))
    corner: dict[str, Cell] = {"law": _ALL, "modifier": _ALL, "rate": mean, "n": n}
    cells[_ALL, _ALL] = tuple(corner.get(column) for column in table.columns)
    # Columns stand in the order of first appearance, so a modifier that the first law lacks has an empty cell there.
    empty = (None,) * (len(table.columns) - 2)
    order = [*(str(row[0]) for row in modifiers.rows), _ALL]
    rows = [cells.get((law, modifier), (law, modifier, *empty)) for law in (*names, _ALL) for modifier in order]
    return Table(name=table.name, columns=table.columns, rows=tuple(rows))


def _with_all_things(by_name: Mapping[str, Table]) -> Table:
    """A line for each entity, and one with its interval for all of them together."""
    table, pooled = by_name["numbering by count and entity"], by_name["numbering by count"]
    ends = [table.columns.index(name) for name in ("low", "high")]
    rows: list[tuple[Cell, ...]] = [
        (row[0], int(str(row[1])), *(None if index in ends else row[index] for index in range(2, len(row))))
        for row in table.rows
    ]
    rows += [(_ALL, int(str(row[0])), *row[1:]) for row in pooled.rows]
    return Table(name=table.name, columns=table.columns, rows=tuple(rows))
