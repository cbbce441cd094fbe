"""A summary as programs read it: the contract's keys, and nothing that is not in the summary."""

from __future__ import annotations

from typing import TYPE_CHECKING

from salva.core.fingerprint import Json
from salva.core.metric import MetricValue
from salva.core.table import Table
from salva.core.verdict import Outcome
from salva.report.examples import Example
from salva.results.rates import CategoryCount
from salva.results.trust import Trust

if TYPE_CHECKING:
    from salva.report.summary import Ends, ModelSummary, Summary

SCHEMA = 3
"""Of the JSON report; changes when a key changes its meaning."""
_OF_MODEL = (
    *("results", "failure_rate", "interval", "interval_entities", "bounds", "average", "categories"),
    *("n", "n_effective", "coverage", "checks", "trust", "metrics", "failure_types", "examples"),
    *("gates", "corrected", "cost_usd", "n_images"),
)


def summary_json(summary: Summary) -> dict[str, Json]:
    """The contract's object; with several models their figures are null at the top."""
    top: dict[str, Json] = {
        "schema": SCHEMA,
        "salva": summary.salva,
        "run": summary.run,
        "suite": summary.suite,
        "models": [*summary.models],
        "settings": dict(summary.settings),
        "observers": {role: [*names] for role, names in summary.observers.items()},
        "complete": summary.complete,
        "exit_code": summary.exit_code,
    }
    by_model: dict[str, Json] = {model: model_json(figures) for model, figures in summary.by_model.items()}
    only = next(iter(by_model.values())) if len(by_model) == 1 else None
    figures = only if isinstance(only, dict) else dict.fromkeys(_OF_MODEL)
    tables = figures.get("tables") or [table_to_json(table) for table in summary.tables]
    return {**top, **figures, "tables": tables, "by_model": by_model}


def model_json(model: ModelSummary) -> dict[str, Json]:
    """The contract's figures of one model."""
    return {
        "results": dict(model.results),
        "failure_rate": model.failure_rate,
        "interval": ends_json(model.interval),
        "interval_entities": ends_json(model.interval_entities),
        "bounds": ends_json(model.bounds),
        "average": model.average,
        "categories": [category_json(category) for category in model.categories],
        "n": model.n,
        "n_effective": model.n_effective,
        "coverage": model.coverage,
        "checks": dict(model.checks),
        "trust": trust_json(model.trust),
        "metrics": {name: metric_json(metric) for name, metric in model.metrics.items()},
        "failure_types": dict(model.failure_types),
        "examples": [example_json(example) for example in model.examples],
        "gates": [decision.to_json() for decision in model.gates],
        "corrected": model.corrected,
        "cost_usd": model.cost_usd,
        "n_images": model.n_images,
        "tables": [table_to_json(table) for table in model.tables],
    }


def category_json(category: CategoryCount) -> dict[str, Json]:
    """The results of one category."""
    counts: dict[str, Json] = {str(outcome).lower(): category.counts[outcome] for outcome in Outcome}
    return {"name": category.name, "total": category.total, **counts, "rate": category.rate}


def trust_json(trust: Trust) -> dict[str, Json]:
    """The trust in a rate."""
    return {"status": trust.status, "reasons": [{"code": one.code, "text": one.text} for one in trust.reasons]}


def metric_json(metric: MetricValue) -> dict[str, Json]:
    """One metric."""
    return {
        "value": metric.value,
        "interval": ends_json(metric.interval),
        "n": metric.n,
        "better": metric.better or None,
        "published": metric.published,
        "reason": metric.reason or None,
    }


def example_json(example: Example) -> dict[str, Json]:
    """One failing result."""
    return {
        "case_id": example.case_id,
        "repeat": example.repeat,
        "prompts": dict(example.prompts),
        "images": dict(example.images),
        "message": example.message,
    }


def ends_json(ends: Ends) -> Json:
    """Both ends of an interval."""
    return None if ends is None else [*ends]


def table_to_json(table: Table) -> dict[str, Json]:
    """The contract's form of a table."""
    rows: list[Json] = [list(row) for row in table.rows]
    return {"name": table.name, "columns": list(table.columns), "rows": rows, "note": table.note}
