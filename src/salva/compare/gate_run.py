"""A release gate: every suite on the candidate, compared with its baseline and held against the rules of the file.

A GateSpec in, results out; everything that can be refused is refused before the first image. A stored baseline is
data: it must be what the same file would have asked of another model, and nothing named in it is built or contacted.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from msgspec import structs

from salva import registry
from salva.compare.comparing import ComparedRuns, Comparison, compare_runs
from salva.compare.gate_file import GateModel, GateSpec, SuiteGate
from salva.compare.words import margin_text
from salva.core.addresses import plain_words
from salva.core.command import words_of
from salva.core.exit_codes import GATE_FAILED
from salva.core.fingerprint import Json
from salva.core.plan import Plan
from salva.core.quantity import quantity
from salva.core.run_spec import ComponentSpec, RunSpec
from salva.engine.progress import Progress
from salva.errors import MissingRoleError, UsageError
from salva.messages import message
from salva.report.headline_text import coverage_text, gate_text, trust_text
from salva.report.summary import ModelSummary, Summary, decided, summarise_run
from salva.results.exit_code import Standing, exit_code
from salva.results.gate import FAILED, INCONCLUSIVE, PASSED
from salva.results.trust import FEWEST_DECIDED, NONE
from salva.runs.forecast import forecast
from salva.runs.gates import check_limits, keep_decisions
from salva.runs.pipeline import execute
from salva.runs.plans import make_plan
from salva.store.queries import read_records
from salva.store.reading import DATABASE
from salva.store.runfile import read_run_file

RUNS = "runs"
DECIDED, NOT_WORSE = "decided", "not worse"


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleResult:
    """What one rule came to for one suite."""

    name: str
    """DECIDED, NOT_WORSE, failure_rate or a metric."""
    decision: str
    """PASSED, FAILED or INCONCLUSIVE."""
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteResult:
    """What came of one suite."""

    title: str
    candidate: Path
    baseline: Path | None
    run: Summary
    """Of the candidate."""
    compared: ComparedRuns | None
    rules: tuple[RuleResult, ...]

    @property
    def model(self) -> ModelSummary:
        """The candidate's figures."""
        (model,) = self.run.by_model.values()
        return model

    @property
    def comparison(self) -> Comparison | None:
        """The candidate against the baseline, where there is one."""
        return self.compared.only if self.compared else None

    @property
    def standing(self) -> Standing:
        """What decides the exit code."""
        trust = self.comparison.standing.trust if self.comparison else self.model.trust.status
        # What is undecided or missing is in the rule DECIDED.
        return Standing(trust=trust, decisions=tuple(rule.decision for rule in self.rules), coverage=1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class GateResult:
    """What came of all of them."""

    spec: GateSpec
    suites: tuple[SuiteResult, ...]

    @property
    def exit_code(self) -> int:
        """The worst over all suites."""
        return exit_code((suite.standing for suite in self.suites), is_complete=True)

    @property
    def decision(self) -> str:
        """passed, failed or inconclusive."""
        return {0: PASSED, GATE_FAILED: FAILED}.get(self.exit_code, INCONCLUSIVE)


@dataclass(frozen=True, slots=True, kw_only=True)
class _GatePlan:
    """One suite with both models bound."""

    suite: SuiteGate
    candidate: Plan
    baseline: Plan | None
    """None for one that is stored, or where there is none."""


def run_gate(spec: GateSpec, progress: Progress, note: Callable[[str], None]) -> GateResult:
    """Run the gate, or finish one that was interrupted; `note` gets what is run where."""
    for source in spec.plugins:
        registry.add_loose_plugin(source)
    plans = [_plan(spec, suite) for suite in spec.suites]
    return GateResult(spec=spec, suites=tuple(_run_suite(spec, plan, progress, note) for plan in plans))


def _plan(spec: GateSpec, suite: SuiteGate) -> _GatePlan:
    candidate = _bound(spec, suite.spec_of(spec.candidate))
    check_limits(suite.spec.suite.registered_name, suite.rules.limits.metrics)
    if suite.baseline is not None:
        _check_stored(spec, suite, candidate)
    if suite.baseline is not None or spec.baseline is None:
        return _GatePlan(suite=suite, candidate=candidate, baseline=None)
    baseline = _bound(spec, suite.spec_of(spec.baseline))
    if baseline.choice() == candidate.choice():
        raise UsageError(message("gate-same-model", path=spec.path, model=spec.candidate.model))
    return _GatePlan(suite=suite, candidate=candidate, baseline=baseline)


def _bound(spec: GateSpec, asked: RunSpec) -> Plan:
    """The run that is asked, refused where nothing in it could be decided."""
    try:
        plan = make_plan(asked)
        forecast(plan, _directory(spec, plan))
    except MissingRoleError as error:
        raise error.with_example(f'{error.role} = "{error.name}"  # in [parts] of {spec.path}') from error
    return plan


def _directory(spec: GateSpec, plan: Plan) -> Path:
    return spec.out / RUNS / plan.directory_name()


def _check_stored(spec: GateSpec, suite: SuiteGate, candidate: Plan) -> None:
    """Refuse a stored baseline that does not fit."""
    path = suite.baseline
    assert path is not None
    stored = read_run_file(path) if (path / DATABASE).is_file() else None
    values = {"path": spec.path, "baseline": str(path), "command": _command(suite.spec, spec.baseline, path)}
    if stored is None or not read_records(path).verdicts:
        raise UsageError(message("gate-baseline-missing", **values, suite=suite.title))
    asked = stored.current_judging().spec
    if len(asked.models) != 1:
        raise UsageError(message("gate-baseline-models", **values, n=len(asked.models)))
    ours, theirs = _words(candidate.run_spec().redacted()), _words(asked)
    differing = [name for name in dict.fromkeys((*ours, *theirs)) if ours.get(name) != theirs.get(name)]
    if differing:
        differences = "; ".join(
            f"{name} {_word(theirs.get(name))} there, {_word(ours.get(name))} here" for name in differing
        )
        raise UsageError(message("gate-baseline-differs", **values, suite=suite.title, differences=differences))


def _words(asked: RunSpec) -> dict[str, Json]:
    """What was asked besides the model, in the words of the command line."""
    return plain_words(structs.replace(asked, models=()).without_defaults(registry.defaults).choice())


def _word(value: Json) -> str:
    if isinstance(value, list):
        return ",".join(map(_word, value)) or "nothing"
    return "unset" if value is None or value == "" else str(value)


def _command(spec: RunSpec, baseline: GateModel | None, out: Path) -> str:
    """`salva run` that makes a baseline."""
    model = ComponentSpec.parse("model", baseline.model if baseline else "MODEL")
    settings = {**spec.settings, **(baseline.settings if baseline else {})}
    return shlex.join([*words_of(structs.replace(spec, models=(model,), settings=settings)), "--out", str(out)])


def _run_suite(spec: GateSpec, plan: _GatePlan, progress: Progress, note: Callable[[str], None]) -> SuiteResult:
    suite, baseline = plan.suite, plan.suite.baseline
    if plan.baseline is not None:
        baseline = _directory(spec, plan.baseline)
        note(f"{suite.title}: the baseline {plan.baseline.models[0].label}: {baseline}")
        execute(plan.baseline, baseline, progress)
    candidate = _directory(spec, plan.candidate)
    note(f"{suite.title}: the candidate {plan.candidate.models[0].label}: {candidate}")
    execute(plan.candidate, candidate, progress)
    max_errors = suite.rules.max_errors or 0
    run = decided(replace(summarise_run(candidate), max_errors=max_errors), suite.rules.limits)
    # The candidate's own report shows what its gates decided.
    keep_decisions(candidate, run.decisions(), max_errors)
    parts = ("baseline", "candidate")
    compared = compare_runs([baseline, candidate], suite.rules.demands, parts) if baseline is not None else None
    return SuiteResult(
        title=suite.title,
        candidate=candidate,
        baseline=baseline,
        run=run,
        compared=compared,
        rules=tuple(_rules(run, compared)),
    )


def _rules(run: Summary, compared: ComparedRuns | None) -> Iterator[RuleResult]:
    (model,) = run.by_model.values()
    problems = list(_problems(run, model))
    if compared is not None:
        baseline = compared.baseline
        problems += [f"baseline: {trust_text(baseline.figures)}"] if baseline.figures.trust.status == NONE else []
        problems += [] if baseline.run.complete else ["the baseline is not finished"]
    decision, reason = INCONCLUSIVE if problems else PASSED, "; ".join(problems) or coverage_text(run, model)
    yield RuleResult(name=DECIDED, decision=decision, reason=reason)
    if compared is not None and compared.only is not None and (gate := compared.only.gate) is not None:
        yield RuleResult(
            name=NOT_WORSE, decision=gate.decision, reason=_less(margin_text(compared.only, gate), gate.decision)
        )
    for limit in model.gates:
        yield RuleResult(name=limit.metric, decision=limit.decision, reason=_less(gate_text(limit), limit.decision))


def _less(text: str, decision: str) -> str:
    """What a gate says, without the decision that stands before it."""
    return text.removeprefix(f"{decision}: ")


def _problems(run: Summary, model: ModelSummary) -> Iterator[str]:
    """Why the candidate's figures decide too little, whatever its rules say."""
    if model.trust.status == NONE:
        yield trust_text(model)
    if not run.complete:
        yield "the run is not finished; the same command continues it"
    if (model.coverage or 0.0) < FEWEST_DECIDED:
        yield coverage_text(run, model)
    if model.standing.n_errors > run.max_errors:
        yield quantity(model.standing.n_errors, "errors")
