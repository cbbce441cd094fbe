"""A run in numbers: what every form of the report shows.

Cases and verdicts in, one Summary out, through whatever metrics are made for the suite. Paints
nothing, judges nothing: a summary made twice from the same store is the same summary.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from salva import component_facts, registry
from salva.core.about import options_of
from salva.core.case import Case, unit_of
from salva.core.chart import Chart
from salva.core.fingerprint import Json
from salva.core.foreign_errors import plugin_errors
from salva.core.judgements import CaseVerdict, Effort, Judgements, RunCheck, SetFigure
from salva.core.protocols import Metric
from salva.core.run_spec import NOTHING, RunSpec
from salva.core.source import REAL, RunRecords
from salva.core.table import Cell, KeyFigure, Table
from salva.core.verdict import Outcome, Verdict
from salva.judging.instructing import is_instructed
from salva.report.costs import cost_table, n_unread, total_cost
from salva.report.joined import joined, without_empty_groups
from salva.report.lead import asides_of, unless_stopped, wording_figures
from salva.report.painting import painting_tables
from salva.report.summary_json import summary_json
from salva.results.headline import is_open, judgements
from salva.results.leading import Leading, leading_of
from salva.results.wordings import WordingDifference, differences_by_law, wording_difference
from salva.store.queries import read_records

_RATES = "failure-rates"
Ends = tuple[float | None, float | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSummary:
    """The figures of one model."""

    model: str
    outcomes: Mapping[str, int]
    """Verdicts that the leading rate counts by outcome; every outcome is named, also at 0."""
    errors: Mapping[str, int]
    """Error type to failed headline verdicts that show it, most frequent first."""
    numbers: Mapping[str, float | None]
    """What the metrics measured, by name."""
    tables: tuple[Table, ...]
    charts: tuple[Chart, ...] = ()
    key_figures: tuple[KeyFigure, ...] = ()
    """What the suite is known by, where that is more than a failure rate."""
    open_cases: Mapping[str, int] = field(default_factory=dict)
    """Check to how many cases it leads because several worlds fit them: two right pictures may differ."""
    reasons: Mapping[tuple[str, str], int] = field(default_factory=dict)
    """Outcome and why it is no other to headline verdicts, most frequent first."""
    n_instructed: int = 0
    """Pairs that a judge was shown a picture of in which text tells it what to say."""
    failed: Mapping[tuple[str, str], int] = field(default_factory=dict)
    """Check and what broke to ERROR verdicts of any check, most frequent first."""
    asides: tuple[KeyFigure, ...] = ()
    """Figures for the small print beside the failure rate."""

    gate: Json = None
    """What a gate last decided of it."""
    leading: Leading = field(default_factory=Leading)
    """The rate that leads and the three that stand together."""
    wording: WordingDifference | None = None
    """How much more often the second wording is wrong; None where nothing says which pictures are right."""
    wording_by_law: Mapping[str, WordingDifference] = field(default_factory=dict)

    @property
    def failure_rate(self) -> float | None:
        """The headline's rate, averaged as it says."""
        return self.leading.figure.rate if self.leading.figure else None

    @property
    def interval(self) -> Ends:
        """95 % interval of the failure rate, for these prompts under other seeds."""
        interval = self.leading.figure.interval if self.leading.figure else None
        return (interval.low, interval.high) if interval else (None, None)

    @property
    def has_rate(self) -> bool:
        """Whether a failure rate is what to lead with: not where nothing decides a check and other figures are."""
        return bool(self.outcomes["PASS"] + self.outcomes["FAIL"]) or not self.key_figures

    @property
    def own_figure(self) -> KeyFigure | None:
        """What the suite is known by, where it leads with a figure of its own; a rate then stands beside it."""
        return self.key_figures[0] if self.key_figures and self.leading.rate is None else None

    @property
    def n_unjudged(self) -> int:
        """Pairs that were asked for and have no headline verdict yet."""
        return int(self.numbers.get("n_unjudged") or 0)

    def table(self, name: str) -> Table | None:
        """The table of this name, if a metric made one."""
        return next((table for table in self.tables if table.name == name), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """The figures of a run."""

    suite: str
    cases: int
    by_model: tuple[ModelSummary, ...]
    asked: RunSpec = NOTHING
    """What the run was asked for, as it is judged now."""
    directory: str = ""
    unit: str = "pairs"
    """What is judged, for people: pairs, or cases where they have other than two prompts."""
    n_unread: int = 0
    """Pictures that were to be read for text that instructs a judge, and could not be."""
    preflight_about: tuple[str, ...] = ()
    """Whom it is said of."""
    preflight: str = ""
    """Whether observers were tried on pictures of salva's own: passed, told, off, stopped, or empty where none was."""

    @property
    def models(self) -> tuple[str, ...]:
        """The models, in the order they were asked for."""
        return tuple(model.model for model in self.by_model)

    @property
    def has_rates(self) -> bool:
        """Whether any model has a failure rate to lead with."""
        return any(model.has_rate for model in self.by_model)

    def rates(self) -> Iterator[tuple[str, float | None, Ends]]:
        """Model, failure rate and the ends of its interval, for a gate."""
        for model in self.by_model:
            yield model.model, model.failure_rate, model.interval

    def to_json(self) -> dict[str, Json]:
        """The contract's object."""
        return summary_json(self)

    def models_table(self) -> Table:
        """The models beside each other."""
        rows: list[tuple[Cell, ...]] = []
        for model in self.by_model:
            counts = [model.outcomes[outcome] for outcome in Outcome]
            rates = (
                model.failure_rate,
                *model.interval,
                model.numbers.get("macro_rate"),
                model.wording.difference if model.wording else None,
            )
            rows.append((model.model, *counts, *rates))
        columns = (
            "model",
            *(str(outcome) for outcome in Outcome),
            "rate",
            "low",
            "high",
            "macro_rate",
            "wording_difference",
        )
        return Table(name="models", columns=columns, rows=tuple(rows))

    def joined_tables(self) -> tuple[Table, ...]:
        """The tables that belong together over models, put together; none where there is one model."""
        alike: dict[str, list[Table]] = {}
        for model in self.by_model if len(self.by_model) > 1 else ():
            for table in model.tables:
                if table.is_joined:
                    alike.setdefault(table.name, []).append(table)
        return tuple(joined(tables) for tables in alike.values())


def summarise(
    cases: Sequence[Case],
    verdicts: Sequence[Verdict],
    *,
    asked: RunSpec = NOTHING,
    directory: str = "",
    is_whole: bool = False,
    figures: Mapping[str, Sequence[SetFigure]] | None = None,
    weights: Mapping[str, str] | None = None,
    effort: Effort | None = None,
) -> Summary:
    """The figures of a run from its records."""
    suite = cases[0].suite if cases else asked.suite.name
    by_model: dict[str, list[Verdict]] = {model.name: [] for model in asked.models}
    for verdict in verdicts:
        by_model.setdefault(verdict.model, []).append(verdict)
    groups = {component.name: component.group for component in asked.models}
    judged = {
        model: dataclasses.replace(
            judgements_on(suite, cases, group, asked),
            group=groups.get(model, ""),
            figures=_figures_of(model, figures or {}),
            weights=weights or {},
            effort=effort,
            is_whole=is_whole,
        )
        for model, group in by_model.items()
    }
    inner = {model: judged.get(component_facts.inner_model(asked, model)) for model in by_model}
    return Summary(
        suite=suite,
        cases=len(cases),
        by_model=tuple(
            _summarise_model(model, dataclasses.replace(whole, inner=inner[model]), suite, asked, is_whole)
            for model, whole in judged.items()
        ),
        asked=asked,
        directory=directory,
        unit=unit_of(cases),
    )


def _figures_of(model: str, figures: Mapping[str, Sequence[SetFigure]]) -> tuple[SetFigure, ...]:
    """Those of a model's pictures, and of real ones beside them."""
    return (*figures.get(model, ()), *figures.get(REAL, ())) if model in figures else ()


def summarise_run(directory: Path) -> Summary:
    """The figures of the run in a directory."""
    return summarise_records(read_records(directory))


def summarise_records(records: RunRecords) -> Summary:
    """The figures of a run that has been read."""
    summary = summarise(
        records.cases,
        records.verdicts,
        asked=records.asked,
        directory=records.name,
        is_whole=records.is_whole,
        figures=records.figures,
        weights=records.weights,
        effort=records.effort,
    )
    costs = cost_table(records.spent)
    noted = tuple(
        dataclasses.replace(
            of_model,
            tables=(*of_model.tables, *_painting_tables(records, of_model.model), *([costs] if costs else [])),
            numbers={**of_model.numbers, "cost_usd": total_cost(records.spent)} if costs else of_model.numbers,
            gate=records.gate.get(of_model.model),
            leading=unless_stopped(of_model.leading, records.preflight),
        )
        for of_model in summary.by_model
    )
    return dataclasses.replace(
        summary,
        by_model=noted,
        n_unread=n_unread(records.spent),
        preflight=records.preflight,
        preflight_about=records.preflight_about,
    )


def _painting_tables(records: RunRecords, model: str) -> Iterator[Table]:
    speaking: Sequence[CaseVerdict] = ()
    if any(made.text for made in records.painted if made.model == model):
        mine = [verdict for verdict in records.verdicts if verdict.model == model]
        speaking = judgements_on(records.suite, records.cases, mine, records.asked).speaking
    yield from painting_tables(records.painted, model, speaking)


def judgements_on(suite: str, cases: Sequence[Case], verdicts: Sequence[Verdict], asked: RunSpec) -> Judgements:
    """All verdicts on one model with those that lead, as the suite and the run say."""
    about = component_facts.suite_about(suite)
    return judgements(cases, verdicts, _checks(asked, verdicts), asked.check, about.leads, about.apart)


def _summarise_model(model: str, judged: Judgements, suite: str, asked: RunSpec, is_whole: bool) -> ModelSummary:
    leading = judged.headline
    outcomes = Counter(pair.verdict.outcome for pair in leading)
    errors = Counter(
        error
        for pair in leading
        if pair.verdict.outcome is Outcome.FAIL
        for error in dict.fromkeys(pair.verdict.failure_types)
    )
    # A run can be reported on while it goes on; a figure over part of it must say so.
    n_missing = 0 if is_whole else max(0, len(judged.cases) * asked.repeats - len(judged.speaking))
    numbers: dict[str, float | None] = {"n_unjudged": n_missing}
    tables: list[Table] = []
    charts: list[Chart] = []
    key_figures: list[KeyFigure] = []
    asides: list[KeyFigure] = []
    rates: tuple[Table, ...] = ()
    for metric in _metrics(suite):
        # One whose cases somebody edited may lack what a metric counts on.
        with plugin_errors(
            type(metric).__name__, "can make nothing of this run (`salva verify` says if somebody edited it)"
        ):
            measured = metric.measure(judged)
        # The rates come first.
        rates = rates or measured.tables
        # A suite's own metric comes after the general ones and may define a number more narrowly.
        numbers |= measured.numbers
        tables += map(without_empty_groups, measured.tables)
        for chart in measured.charts:
            _place_chart(charts, chart)
        key_figures += [figure for figure in measured.key_figures if not figure.is_aside]
        asides += [figure for figure in measured.key_figures if figure.is_aside]
    leads = leading_of(judged, asked.repeats, component_facts.usual_score(asked))
    wording = wording_difference(judged)
    if leads.figure is not None:
        ends = leads.figure.interval
        numbers |= {"failure_rate": leads.figure.rate}
        numbers |= {"failure_low": ends.low if ends else None, "failure_high": ends.high if ends else None}
    if key_figures and not outcomes[Outcome.PASS] + outcomes[Outcome.FAIL]:
        # Ratings decide no check; tables of rates would be dashes, and the bounds of no rate.
        tables = [table for table in tables if table not in rates]
    return ModelSummary(
        model=model,
        outcomes={str(outcome): outcomes[outcome] for outcome in Outcome},
        errors=dict(errors.most_common()),
        reasons=_reasons(judged),
        failed=_failed(judged),
        n_instructed=len({(verdict.case_id, verdict.repeat) for verdict in judged.verdicts if is_instructed(verdict)}),
        numbers=numbers,
        tables=tuple(tables),
        charts=tuple(charts),
        key_figures=tuple(key_figures),
        open_cases=_open_cases(judged),
        asides=(*asides_of(leads, unit_of(judged.cases)), *wording_figures(wording, numbers), *asides),
        leading=leads,
        wording=wording,
        wording_by_law=differences_by_law(judged),
    )


def _reasons(judged: Judgements) -> dict[tuple[str, str], int]:
    undecided = (Outcome.UNDECIDED, Outcome.ERROR)
    verdicts = [pair.verdict for pair in judged.headline if pair.verdict.outcome in undecided]
    counts = Counter((str(verdict.outcome), verdict.reason) for verdict in verdicts if verdict.reason)
    return dict(counts.most_common())


def _failed(judged: Judgements) -> dict[tuple[str, str], int]:
    verdicts = [pair.verdict for pair in judged.pairs if pair.verdict.outcome is Outcome.ERROR]
    return dict(Counter((verdict.check, verdict.reason) for verdict in verdicts).most_common())


def _open_cases(judged: Judgements) -> dict[str, int]:
    pairs = [pair for pair in judged.speaking if is_open(pair, judged.rate_of(pair.verdict.check))]
    return dict(Counter(check for check, _ in {(pair.verdict.check, pair.case.case_id) for pair in pairs}))


def _place_chart(charts: list[Chart], chart: Chart) -> None:
    """Put a chart last, or in the place of the one it replaces."""
    names = [other.name for other in charts]
    if chart.replaces in names:
        charts[names.index(chart.replaces)] = chart
    else:
        charts.append(chart)


def _metrics(suite: str) -> Iterator[Metric]:
    """The metrics that have something to say about this suite."""
    serves_all = {entry.name for entry in registry.entries("metric") if not entry.suites}
    fitting = registry.load_all("metric", suite)
    # The rates first, then what the suite is known by, then what every suite may have.
    for _, metric in sorted(fitting.items(), key=lambda named: (named[0] != _RATES, named[0] in serves_all)):
        yield metric(options_of(metric)())


def _checks(asked: RunSpec, verdicts: Sequence[Verdict]) -> dict[str, RunCheck]:
    """The checks a run was asked for, with their options, and any others that judged."""
    options = {check.name: check.options for check in asked.checks}
    options |= {verdict.check: {} for verdict in verdicts if verdict.check not in options}
    rates = component_facts.rates_of(options)
    return {
        name: RunCheck(rate=rates.get(name), options=given, needs=component_facts.needs_of(name))
        for name, given in options.items()
    }
