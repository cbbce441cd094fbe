"""A stored run to judgements and results, model by model: what reports, exports, comparisons and reviews start from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import msgspec

from salva import component_facts
from salva.core.judgements import Judgements, RunCheck
from salva.core.quantity import quantity
from salva.core.result import Result
from salva.core.run_spec import RunSpec
from salva.core.source import REAL, RunRecords
from salva.core.verdict import CONTROL, Outcome, Verdict
from salva.messages import Message, message
from salva.results.deciding import join, results_of
from salva.results.rates import FailureRate, failure_rate
from salva.results.trust import Trust, mostly, trust_of
from salva.stats.contrast import ControlCounts


def judgements_by_model(records: RunRecords) -> dict[str, Judgements]:
    """What metrics measure, for each model in the order of the command."""
    groups: dict[str, list[Verdict]] = {model: [] for model in records.models}
    for verdict in records.verdicts:
        groups[verdict.model].append(verdict)
    made = {model: _judgements(records, model, verdicts) for model, verdicts in groups.items()}
    inner = {model: made.get(component_facts.inner_model(records.asked, model)) for model in made}
    return {model: replace(judged, inner=inner[model]) for model, judged in made.items()}


def _judgements(records: RunRecords, model: str, verdicts: Sequence[Verdict]) -> Judgements:
    about = component_facts.suite_about(records.suite)
    asked, rule = records.asked, records.asked.rule
    checks = _checks(asked, verdicts)
    pairs = join(records.cases, verdicts, records.deciding)
    group = next((component.group for component in asked.models if component.name == model), "")
    results = results_of(
        records.cases,
        pairs,
        model=model,
        repeats=asked.repeats,
        rule=rule,
        primaries=records.primaries,
        checks=checks,
        vetoes=about.vetoes,
        is_whole=records.is_whole,
        is_imported=bool(asked.imported),
    )
    figures = records.figures
    return Judgements(
        cases=records.cases,
        results=tuple(results),
        verdicts=tuple(verdicts),
        pairs=tuple(pairs),
        controls=tuple(join(records.cases, verdicts, records.deciding, CONTROL)),
        rule=rule,
        average=about.average,
        checks=checks,
        observers=_by_role(asked),
        figures=(*figures.get(model, ()), *figures.get(REAL, ())) if model in figures else (),
        weights=records.weights,
        group=group,
        is_whole=records.is_whole,
        effort=records.effort,
    )


def _by_role(asked: RunSpec) -> dict[str, tuple[str, ...]]:
    roles = dict.fromkeys(part.role for part in asked.observers)
    return {role: tuple(part.name for part in asked.observers if part.role == role) for role in roles}


def _checks(asked: RunSpec, verdicts: Iterable[Verdict]) -> dict[str, RunCheck]:
    """The checks a run was asked for, with their options, and any others that judged."""
    options = {check.name: check.options for check in asked.checks}
    options |= {verdict.check: {} for verdict in verdicts if verdict.check not in options}
    return {name: component_facts.run_check(name, given) for name, given in options.items()}


def results_of_run(records: RunRecords) -> list[Result]:
    """Every result of a run, model by model."""
    return [result for judged in judgements_by_model(records).values() for result in judged.results]


def error_notes(results: Iterable[Result]) -> Iterator[Message]:
    """What became of results that are ERROR, with the most frequent reason."""
    groups: dict[str, list[Result]] = {"results-failed": [], "results-unknown-words": [], "results-refused": []}
    for result in results:
        if result.outcome is Outcome.ERROR:
            groups[error_code(result)].append(result)
    for code, group in groups.items():
        if group:
            yield message(code, results=quantity(len(group), "results"), why=mostly(group))


def error_code(result: Result) -> str:
    """The code of the message about an error; only results-failed may end otherwise when it is tried again."""
    if result.is_refused:
        return "results-refused"
    # A model that lacks a word lacks it the next time too.
    return "results-unknown-words" if "[words-unknown]" in result.reason else "results-failed"


def rate_of(judged: Judgements) -> FailureRate:
    """The failure rate of one model."""
    return failure_rate(judged.results, judged.average)


def trust_in(judged: Judgements, rate: FailureRate, records: RunRecords, model: str) -> Trust:
    """How far the failure rate of one model can be trusted."""
    facts = component_facts.observer_facts(records.asked, model)
    if judge := _deciding_judge(judged, records):
        facts = replace(facts, judge=judge, controls=_controls(records, model, judge))
    return trust_of(judged, rate, facts, is_complete=records.is_whole)


def _deciding_judge(judged: Judgements, records: RunRecords) -> str:
    """The judge whose answers make results; empty where none does."""
    asking = {name for name, check in judged.checks.items() if "judge" in check.needs}
    judges = judged.observers.get("judge", ())
    if not judges or not any(result.check in asking for result in judged.results):
        return ""
    return next((judge for judge in records.deciding if judge in judges), judges[0])


def _controls(records: RunRecords, model: str, judge: str) -> ControlCounts | None:
    stored = records.contrast.get(model)
    counts = stored.get(judge) if isinstance(stored, dict) else None
    try:
        return msgspec.convert(counts, ControlCounts)
    except msgspec.ValidationError:
        # Nobody asked, or somebody edited it.
        return None
