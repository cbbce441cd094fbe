"""A summary as programs read it: the contract's JSON keys, and nothing that is not in the summary."""

from __future__ import annotations

from typing import TYPE_CHECKING

from salva.core.fingerprint import Json
from salva.core.table import Table
from salva.results.leading import Leading
from salva.results.rates import RATES, Figure
from salva.results.wordings import WordingDifference
from salva.stats.intervals import Interval

if TYPE_CHECKING:
    from salva.report.summary import ModelSummary, Summary

SCHEMA = 2
"""Of the JSON report; changes when a key changes its meaning."""
_FIGURES = (
    *("outcomes", "failure_rate", "interval", "interval_entities", "headline", "rates", "macro_rate", "excess"),
    *("wording_difference", "wording_by_law", "failure_types", "gate"),
)


def summary_json(summary: Summary) -> dict[str, Json]:
    """The contract's object; with several models the top-level figures are null."""
    top: dict[str, Json] = {"schema": SCHEMA, "suite": summary.suite}
    top |= {"models": list(summary.models), "cases": summary.cases, "preflight": summary.preflight or None}
    figures = {model.model: model_json(model) for model in summary.by_model}
    if len(summary.by_model) == 1:
        top |= figures[summary.by_model[0].model]
    else:
        top |= dict.fromkeys(_FIGURES)
        tables = (summary.models_table(), *summary.joined_tables())
        top |= {"tables": [table_to_json(table) for table in tables], "metrics": {}}
    return {**top, "by_model": dict(figures)}


def model_json(model: ModelSummary) -> dict[str, Json]:
    """The contract's figures of one model."""
    leading = model.leading
    figure = leading.figure
    return {
        "outcomes": dict(model.outcomes),
        "failure_rate": model.failure_rate,
        "interval": ends_json(figure.interval if figure else None),
        "interval_entities": ends_json(figure.interval_entities if figure else None),
        "headline": headline_json(leading),
        "rates": {name: rate_json(leading.rates.get(name)) for name in RATES},
        "macro_rate": model.numbers.get("macro_rate"),
        "wording_difference": wording_json(model.wording),
        "wording_by_law": {name: wording_json(wording) for name, wording in model.wording_by_law.items()},
        "excess": model.numbers.get("excess"),
        "failure_types": dict(model.errors),
        "gate": model.gate,
        "tables": [table_to_json(table) for table in model.tables],
        "metrics": dict(model.numbers),
    }


def headline_json(leading: Leading) -> dict[str, Json]:
    """What leads, what it is over, and how far to trust it."""
    figure = leading.figure
    return {
        "check": figure.check if figure else None,
        "rate": leading.rate,
        "average": figure.average if figure else None,
        "over": figure.over if figure else None,
        "n": figure.n if figure else 0,
        "n_undecided": figure.n_undecided if figure else 0,
        "coverage": figure.coverage if figure else None,
        "n_asked": leading.n_asked,
        "chance": leading.chance,
        "oracle": leading.oracle,
        "reason": leading.reason,
    }


def rate_json(figure: Figure | None) -> Json:
    """The contract's form of a rate."""
    if figure is None:
        return None
    return {
        "rate": figure.rate,
        "pooled": figure.pooled,
        "interval": ends_json(figure.interval),
        "interval_entities": ends_json(figure.interval_entities),
        "why_no_interval_entities": figure.why_no_entities or None,
        "bounds": ends_json(figure.bounds),
        "n": figure.n,
        "n_undecided": figure.n_undecided,
        "coverage": figure.coverage,
        "check": figure.check,
        "without_one_template": None if (left := figure.without_one) is None else [left.low, left.high],
        "left_out": None if left is None else [left.low_without, left.high_without],
    }


def wording_json(wording: WordingDifference | None) -> Json:
    """The paired difference of two wordings as programs read it."""
    if wording is None:
        return None
    return {
        "difference": wording.difference,
        "interval": ends_json(wording.interval),
        "first": wording.first,
        "second": wording.second,
        "seed_noise": wording.seed_noise,
        "reason": wording.why_no_seed_noise,
        "n": wording.n,
        "n_cases": wording.n_cases,
        "check": wording.check,
    }


def ends_json(interval: Interval | None) -> Json:
    """Both ends of an interval."""
    return None if interval is None else [interval.low, interval.high]


def table_to_json(table: Table) -> dict[str, Json]:
    """The contract's form of a table."""
    rows: list[Json] = [list(row) for row in table.rows]
    return {"name": table.name, "columns": list(table.columns), "rows": rows, "note": table.note}
