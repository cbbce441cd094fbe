"""A release gate: every suite on the candidate, held against its baseline and against the rules of the file.

A GateSpec in, results out; everything that can be refused is refused before the first picture. A stored baseline is
data: it must be what the same file would have asked of another model, and nothing named in it is built or contacted.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from msgspec import structs

from salva import registry
from salva.compare.comparing import Comparison, compare_runs
from salva.compare.gate_file import GateModel, GateRules, GateSpec, SuiteGate
from salva.compare.words import gate_of
from salva.core.addresses import plain_words
from salva.core.command import words_of
from salva.core.fingerprint import Json
from salva.core.plan import Plan
from salva.core.quantity import quantity
from salva.core.run_spec import ComponentSpec, RunSpec
from salva.engine.progress import Progress
from salva.errors import MissingRoleError, UsageError
from salva.messages import message
from salva.report.summary import ModelSummary, summarise_run
from salva.runs.gate import Decision, Gate, decide, forget, keep
from salva.runs.pipeline import execute
from salva.runs.planning import refuse_null_rate, require_detector
from salva.runs.plans import make_plan
from salva.runs.summary import RunSummary
from salva.store.queries import read_records
from salva.store.reading import DATABASE
from salva.store.runfile import read_run_file

RUNS = "runs"
ENOUGH, NOT_WORSE, RATE = "decided", "not worse", "limit"


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleResult:
    """How a suite did by one rule."""

    name: str
    passed: bool | None
    """None where nothing could be decided."""
    reason: str

    @property
    def word(self) -> str:
        """For people."""
        return {True: "passed", False: "failed", None: "not decided"}[self.passed]


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteResult:
    """What came of one suite."""

    title: str
    suite: str
    candidate: Path
    baseline: Path | None
    model: ModelSummary
    """The candidate's figures."""
    comparison: Comparison | None
    rules: tuple[RuleResult, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class GateResult:
    """What came of all of them."""

    spec: GateSpec
    suites: tuple[SuiteResult, ...]

    @property
    def outcomes(self) -> tuple[bool | None, ...]:
        """Of every rule of every suite."""
        return tuple(rule.passed for suite in self.suites for rule in suite.rules)

    @property
    def verdict(self) -> str:
        """passed, failed or not decided: a broken rule is the worst news, even where something is open besides."""
        return "failed" if False in self.outcomes else "not decided" if None in self.outcomes else "passed"


@dataclass(frozen=True, slots=True, kw_only=True)
class _GatePlan:
    """One suite with both sides bound."""

    suite: SuiteGate
    candidate: Plan
    baseline: Plan | None
    """None for one that is stored, or where there is none."""
    stored: Path | None


def run_gate(spec: GateSpec, progress: Progress, tell: Callable[[str], None]) -> GateResult:
    """Run the gate, or finish one that was interrupted; `tell` hears what is run where."""
    for source in spec.plugins:
        registry.add_loose_plugin(source)
    plans = [_plan(spec, suite) for suite in spec.suites]
    return GateResult(spec=spec, suites=tuple(_do(spec, plan, progress, tell) for plan in plans))


def _plan(spec: GateSpec, suite: SuiteGate) -> _GatePlan:
    candidate = _bound(spec, suite.spec_of(spec.candidate))
    if suite.rules.max_failure_rate is not None and suite.rules.gate_rate:
        refuse_null_rate(candidate, suite.rules.gate_rate)
    if suite.baseline is not None:
        _check_stored(spec, suite, candidate)
        return _GatePlan(suite=suite, candidate=candidate, baseline=None, stored=suite.baseline)
    if spec.baseline is None:
        return _GatePlan(suite=suite, candidate=candidate, baseline=None, stored=None)
    baseline = _bound(spec, suite.spec_of(spec.baseline))
    if baseline.choice() == candidate.choice():
        raise UsageError(message("gate-same-model", path=spec.path, model=spec.candidate.model))
    return _GatePlan(suite=suite, candidate=candidate, baseline=baseline, stored=None)


def _bound(spec: GateSpec, asked: RunSpec) -> Plan:
    """The run that is asked, refused where nobody would look at its pictures."""
    try:
        bound = make_plan(asked)
        require_detector(bound)
    except MissingRoleError as error:
        raise error.with_example(f'{error.role} = "{error.name}"  # in [parts] of {spec.path}') from error
    return bound


def _check_stored(spec: GateSpec, suite: SuiteGate, candidate: Plan) -> None:
    """Refuse a stored baseline that does not fit."""
    path = suite.baseline
    assert path is not None
    stored = read_run_file(path) if (path / DATABASE).is_file() else None
    if stored is None or not read_records(path).verdicts:
        command = _command(suite.spec, spec.baseline, path)
        raise UsageError(
            message("gate-baseline-missing", path=spec.path, baseline=str(path), suite=suite.title, command=command)
        )
    asked = stored.current_judging().spec
    if len(asked.models) != 1:
        command = _command(suite.spec, spec.baseline, path)
        raise UsageError(
            message("gate-baseline-models", path=spec.path, baseline=str(path), n=len(asked.models), command=command)
        )
    ours, theirs = _words(candidate.run_spec().redacted()), _words(asked)
    differing = [name for name in dict.fromkeys((*ours, *theirs)) if ours.get(name) != theirs.get(name)]
    if differing:
        differences = "; ".join(
            f"{name} {_word(theirs.get(name))} there, {_word(ours.get(name))} here" for name in differing
        )
        raise UsageError(
            message(
                "gate-baseline-differs",
                path=spec.path,
                baseline=str(path),
                suite=suite.title,
                differences=differences,
                command=_command(suite.spec, spec.baseline, path),
            )
        )


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


def _do(spec: GateSpec, plan: _GatePlan, progress: Progress, tell: Callable[[str], None]) -> SuiteResult:
    baseline, baseline_done = plan.stored, None
    if plan.baseline is not None:
        baseline = spec.out / RUNS / plan.baseline.directory_name()
        tell(f"{plan.suite.title}: the baseline {plan.baseline.models[0].label}: {baseline}")
        baseline_done = execute(plan.baseline, baseline, progress)
    candidate = spec.out / RUNS / plan.candidate.directory_name()
    tell(f"{plan.suite.title}: the candidate {plan.candidate.models[0].label}: {candidate}")
    done = execute(plan.candidate, candidate, progress)
    decision = _at_the_gate(candidate, plan.suite.rules, done)
    comparison = compare_runs([baseline, candidate], ("baseline", "candidate")) if baseline is not None else None
    (model,) = summarise_run(candidate).by_model
    rules = [_enough(model, done, baseline_done)]
    if comparison is not None and plan.suite.rules.fail_if_worse is not None:
        rules.append(_not_worse(comparison, plan.suite.rules.fail_if_worse))
    if decision is not None:
        passed = decision.passed if decision.decides else None
        rules.append(RuleResult(name=RATE, passed=passed, reason=decision.reason))
    return SuiteResult(
        title=plan.suite.title,
        suite=plan.suite.spec.suite.name,
        candidate=candidate,
        baseline=baseline,
        model=model,
        comparison=comparison,
        rules=tuple(rules),
    )


def _enough(model: ModelSummary, done: RunSummary, baseline_done: RunSummary | None) -> RuleResult:
    problems = [model.leading.reason or "too little is decided"] if _is_too_little(model) else []
    for who, summary in (("candidate", done), ("baseline", baseline_done)):
        if summary is not None and not summary.is_complete:
            problems.append(f"{quantity(_n_missing(summary), 'verdicts')} of the {who} ERROR or missing")
    figure = model.leading.figure
    reason = "; ".join(problems) or f"{quantity(figure.n if figure else 0, 'pairs')} of the candidate decided"
    return RuleResult(name=ENOUGH, passed=None if problems else True, reason=reason)


def _is_too_little(model: ModelSummary) -> bool:
    return bool(model.leading.reason) or model.leading.decides_too_little


def _n_missing(summary: RunSummary) -> int:
    return summary.outcomes.get("ERROR", 0) + summary.n_unpainted


def _not_worse(comparison: Comparison, margin: float) -> RuleResult:
    (duel,) = comparison.against_first
    passed = False if duel.is_worse_than(margin) else None if duel.too_little else True
    return RuleResult(name=NOT_WORSE, passed=passed, reason=gate_of(duel, margin).partition(": ")[2])


def _at_the_gate(directory: Path, rules: GateRules, done: RunSummary) -> Decision | None:
    """Hold the candidate against its limit and keep what was decided with the run, for its report."""
    figures = summarise_run(directory)
    (model,) = figures.by_model
    if rules.max_failure_rate is None:
        if model.gate is not None:
            forget(directory)
        return None
    gate = Gate(limit=rules.max_failure_rate, end=rules.gate_on, rate=rules.gate_rate, min_decided=rules.min_decided)
    n_missing = 0 if done.is_complete else _n_missing(done)
    decision = decide(model.model, model.leading, gate, n_missing=n_missing, only=figures.asked.only)
    keep(directory, [decision])
    return decision
