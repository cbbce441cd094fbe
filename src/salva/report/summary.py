"""A run in numbers: the one record that every form of the report shows.

Cases and verdicts in, one Summary out, through the metrics of the suite. Generates nothing and judges nothing: made
twice of the same store it is the same. Attributes have the names of the JSON report's keys.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Generic, TypeVar

from salva import registry
from salva.charts.formats import heading
from salva.core.about import options_of
from salva.core.case import unit_of
from salva.core.chart import Chart
from salva.core.fingerprint import Json
from salva.core.foreign_errors import plugin_errors
from salva.core.judgements import Judgements
from salva.core.metric import MetricValue
from salva.core.protocols import Metric
from salva.core.result import Result
from salva.core.run_spec import RunSpec
from salva.core.source import RunRecords
from salva.core.table import Cell, Table
from salva.core.verdict import Outcome
from salva.judging.instructing import is_instructed
from salva.report.costs import cost_table, total_cost
from salva.report.examples import Example, examples_of
from salva.report.joined import failed_together, joined, without_empty_groups
from salva.report.painting import painting_tables
from salva.report.summary_json import SCHEMA, model_json, summary_json
from salva.results.exit_code import Standing, exit_code
from salva.results.gate import Gate, GateDecision, decide
from salva.results.rates import CategoryCount, FailureRate
from salva.results.trust import Trust
from salva.run_results import judgements_by_model, rate_of, trust_in
from salva.store.queries import read_records

Ends = tuple[float, float] | None
_Figure = TypeVar("_Figure")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSummary:
    """The figures of one model."""

    model: str
    rate: FailureRate
    all_results: tuple[Result, ...] = ()
    trust: Trust = field(default_factory=Trust)
    metrics: Mapping[str, MetricValue] = field(default_factory=dict)
    """By name, the most important first."""
    tables: tuple[Table, ...] = ()
    charts: tuple[Chart, ...] = ()
    failure_types: Mapping[str, int] = field(default_factory=dict)
    """To the failed results that show it, the most frequent first."""
    examples: tuple[Example, ...] = ()
    gates: tuple[GateDecision, ...] = ()
    corrected: Json = None
    """The rate corrected by people, where the run was reviewed."""
    cost_usd: float | None = None
    n_images: int = 0
    n_instructed: int = 0
    """Results with an image in which text instructs a judge."""

    @property
    def results(self) -> Mapping[str, int]:
        """Counts: total, pass, fail, undecided, error, and refused among the errors."""
        counts = {str(outcome).lower(): n for outcome, n in self.rate.counts.items()}
        return {"total": self.rate.total, **counts, "refused": sum(r.is_refused for r in self.all_results)}

    @property
    def failure_rate(self) -> float | None:
        """FAIL among the decided, averaged as `average` says; None where nothing is decided."""
        return self.rate.rate

    @property
    def interval(self) -> Ends:
        """95 %: these prompts under other seeds."""
        return (self.rate.interval.low, self.rate.interval.high) if self.rate.interval else None

    @property
    def interval_entities(self) -> Ends:
        """95 %: prompts like these about other entities."""
        ends = self.rate.interval_entities
        return (ends.low, ends.high) if ends else None

    @property
    def bounds(self) -> Ends:
        """The rate with UNDECIDED and ERROR as PASS, and as FAIL."""
        return (self.rate.bounds.low, self.rate.bounds.high) if self.rate.bounds else None

    @property
    def average(self) -> str:
        """macro: a mean over categories; pooled: the plain share."""
        return self.rate.average

    @property
    def categories(self) -> tuple[CategoryCount, ...]:
        """The results of each category."""
        return self.rate.categories

    @property
    def n(self) -> int:
        """Decided results."""
        return self.rate.n

    @property
    def n_effective(self) -> float:
        """The number of evenly spread results that would know the rate as well."""
        return self.rate.n_effective

    @property
    def coverage(self) -> float | None:
        """The share of results that are decided."""
        return self.rate.coverage

    @property
    def checks(self) -> Mapping[str, int]:
        """The check that makes the result, to its cases."""
        by_case = {result.case.case_id: result.check for result in self.all_results if result.check}
        return dict(Counter(by_case.values()).most_common())

    @property
    def titled_metrics(self) -> tuple[tuple[str, MetricValue], ...]:
        """The metrics, each with its title."""
        return tuple((metric.title or heading(name), metric) for name, metric in self.metrics.items())

    @property
    def standing(self) -> Standing:
        """What decides the exit code."""
        n_errors = sum(result.outcome is Outcome.ERROR and not result.is_refused for result in self.all_results)
        return Standing(
            trust=self.trust.status,
            decisions=tuple(gate.decision for gate in self.gates),
            coverage=self.coverage,
            n_errors=n_errors,
        )

    def table(self, name: str) -> Table | None:
        """The table of this name, if a metric made one."""
        return next((table for table in self.tables if table.name == name), None)

    def to_json(self) -> dict[str, Json]:
        """The contract's figures of one model."""
        return model_json(self)


class _OfOnly(Generic[_Figure]):
    """A figure of the only model; None where there are several."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, summary: Summary | None, owner: type) -> _Figure | None:
        model = summary.only_model if summary else None
        return getattr(model, self._name) if model else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """The figures of a run; those of a model are None here when there are several, and stand in `by_model`."""

    run: str
    suite: str
    by_model: Mapping[str, ModelSummary]
    asked: RunSpec
    """What the run was asked for, as it is judged now."""
    complete: bool = True
    max_errors: int = 0
    unit: str = "pairs"
    """What is judged: pairs, or cases where they have other than two prompts."""
    preflight: str = ""
    """What became of the preflight: passed, warned, off, stopped, or empty where none was."""
    preflight_about: tuple[str, ...] = ()
    """The observers that it is about."""
    salva: str = ""
    """The version that made the run."""

    schema = SCHEMA

    @property
    def models(self) -> tuple[str, ...]:
        """The models, in the order they were asked for."""
        return tuple(self.by_model)

    @property
    def settings(self) -> Mapping[str, Json]:
        """What was asked: size, repeats, seed, only, counts, rule."""
        counts = next((str(said) for check in self.asked.checks if (said := check.options.get("counts"))), "")
        return {
            "size": self.asked.size,
            "repeats": self.asked.repeats,
            "seed": self.asked.seed,
            "only": dict(self.asked.only),
            "counts": counts or None,
            "rule": str(self.asked.rule),
        }

    @property
    def observers(self) -> Mapping[str, list[str]]:
        """Role to the components that play it."""
        named: dict[str, list[str]] = {}
        for part in self.asked.observers:
            named.setdefault(part.role, []).append(part.name)
        return named

    @property
    def exit_code(self) -> int:
        """What the command ends with."""
        standings = (model.standing for model in self.by_model.values())
        return exit_code(standings, is_complete=self.complete, max_errors=self.max_errors)

    @property
    def only_model(self) -> ModelSummary | None:
        """The model, where there is one."""
        return next(iter(self.by_model.values())) if len(self.by_model) == 1 else None

    results = _OfOnly[Mapping[str, int]]()
    """Counts of the only model's results."""
    failure_rate = _OfOnly[float]()
    """Of the only model."""
    interval = _OfOnly[tuple[float, float]]()
    """Of the only model's failure rate, for other seeds."""
    interval_entities = _OfOnly[tuple[float, float]]()
    """Of the only model's failure rate, for other entities."""
    bounds = _OfOnly[tuple[float, float]]()
    """Of the only model's failure rate."""
    average = _OfOnly[str]()
    """How the only model's failure rate is averaged."""
    categories = _OfOnly[tuple[CategoryCount, ...]]()
    """The only model's results by category."""
    n = _OfOnly[int]()
    """The only model's decided results."""
    n_effective = _OfOnly[float]()
    """The only model's effective number of results."""
    coverage = _OfOnly[float]()
    """The share of the only model's results that are decided."""
    checks = _OfOnly[Mapping[str, int]]()
    """The checks that make the only model's results, to their cases."""
    trust = _OfOnly[Trust]()
    """The trust in the only model's failure rate."""
    metrics = _OfOnly[Mapping[str, MetricValue]]()
    """The only model's metrics."""
    failure_types = _OfOnly[Mapping[str, int]]()
    """The only model's failure types."""
    examples = _OfOnly[tuple[Example, ...]]()
    """The only model's examples."""
    gates = _OfOnly[tuple[GateDecision, ...]]()
    """What gates decided of the only model."""
    corrected = _OfOnly[Json]()
    """The only model's rate, corrected by people."""
    cost_usd = _OfOnly[float]()
    """What the only model's run cost."""
    n_images = _OfOnly[int]()
    """The only model's images."""

    @property
    def tables(self) -> tuple[Table, ...]:
        """The only model's tables; of several models those that put them side by side."""
        return self.only_model.tables if self.only_model else (self.models_table(), *self.joined_tables())

    def decisions(self) -> dict[str, Json]:
        """What gates decided, by model, as a run keeps it."""
        return {name: [one.to_json() for one in model.gates] for name, model in self.by_model.items() if model.gates}

    def to_json(self) -> dict[str, Json]:
        """The contract's object."""
        return summary_json(self)

    def models_table(self) -> Table:
        """The models beside each other."""
        rows: list[tuple[Cell, ...]] = []
        for model in self.by_model.values():
            counts = [model.rate.counts[outcome] for outcome in Outcome]
            rows.append((model.model, *counts, model.failure_rate, *(model.interval or (None, None)), model.coverage))
        columns = ("model", *map(str, Outcome), "rate", "low", "high", "share_decided")
        return Table(name="models", columns=columns, rows=tuple(rows))

    def joined_tables(self) -> tuple[Table, ...]:
        """What models fail together, and their tables that belong together, put together; none of one model."""
        alike: dict[str, list[Table]] = {}
        for model in self.by_model.values() if len(self.by_model) > 1 else ():
            for table in model.tables:
                if table.is_joined:
                    alike.setdefault(table.name, []).append(table)
        both = failed_together({name: model.all_results for name, model in self.by_model.items()})
        return (*([both] if both else []), *(joined(tables) for tables in alike.values()))


def decided(summary: Summary, gate: Gate) -> Summary:
    """The same with every model held against the limits of a gate."""
    by_model = {
        name: replace(model, gates=tuple(decide(gate, model.rate, model.all_results, model.metrics, model.trust)))
        for name, model in summary.by_model.items()
    }
    return replace(summary, by_model=by_model)


def summarise_run(directory: Path) -> Summary:
    """The figures of the run in a directory."""
    return summarise_records(read_records(directory))


def summarise_records(records: RunRecords) -> Summary:
    """The figures of a run that has been read."""
    judged = judgements_by_model(records)
    return Summary(
        run=records.name,
        suite=records.suite,
        by_model={model: _summarise_model(model, one, records) for model, one in judged.items()},
        asked=records.asked,
        complete=records.is_whole,
        max_errors=records.max_errors,
        unit=unit_of(records.cases),
        preflight=records.preflight,
        preflight_about=records.preflight_about,
        salva=records.made_by,
    )


def _summarise_model(model: str, judged: Judgements, records: RunRecords) -> ModelSummary:
    metrics: dict[str, MetricValue] = {}
    tables: list[Table] = []
    charts: list[Chart] = []
    for metric in _metrics(records.suite):
        with plugin_errors(
            type(metric).__name__, "can make nothing of this run (`salva verify` says if somebody edited it)"
        ):
            measured = metric.measure(judged)
        metrics |= {name: value for name, value in measured.metrics.items() if name not in metrics}
        tables += map(without_empty_groups, measured.tables)
        charts += measured.charts
    rate = rate_of(judged)
    failed = [result for result in judged.results if result.is_fail]
    types = Counter(name for result in failed for name in result.failure_types)
    costs, correction = cost_table(records.spent), None
    if records.reviews:
        from salva.review.corrected_rates import correction_of

        correction = correction_of(judged, records.reviews)
    return ModelSummary(
        model=model,
        rate=rate,
        all_results=judged.results,
        trust=trust_in(judged, rate, records, model),
        metrics=metrics,
        tables=(*tables, *painting_tables(records.painted, model, judged.results), *([costs] if costs else [])),
        charts=_without_replaced(charts),
        failure_types=dict(types.most_common()),
        examples=examples_of(judged.results),
        gates=tuple(_gates(records, model)),
        corrected=correction.to_json() if correction else None,
        cost_usd=total_cost(records.spent),
        n_images=len({image for verdict in judged.verdicts for image in verdict.images.values()}),
        n_instructed=sum(any(map(is_instructed, result.evidence)) for result in judged.results),
    )


def _gates(records: RunRecords, model: str) -> list[GateDecision]:
    stored = records.gates.get(model)
    return [GateDecision.from_json(decision) for decision in stored] if isinstance(stored, list) else []


def _without_replaced(charts: Sequence[Chart]) -> tuple[Chart, ...]:
    """The charts that no other one replaces; only a chart of failure rates can take the place of one."""
    replaced = {chart.replaces for chart in charts if (chart.value or chart.y) == "rate"}
    return tuple(chart for chart in charts if chart.name not in replaced)


def _metrics(suite: str) -> Iterator[Metric]:
    """The metrics of a suite: its own first, then those of every suite."""
    serves_all = {entry.name for entry in registry.entries("metric") if not entry.suites}
    for _, metric in sorted(registry.load_all("metric", suite).items(), key=lambda named: named[0] in serves_all):
        yield metric(options_of(metric)())
