"""Gates: a limit on the failure rate or on a metric, with three outcomes: passed, failed, inconclusive.

Results and metrics in, decisions out. A gate on the failure rate holds at both ends of what the undecided leave open.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field

import msgspec

from salva.core.fingerprint import Json
from salva.core.metric import HIGHER, LOWER, MetricValue
from salva.core.result import Result
from salva.errors import UsageError
from salva.messages import message
from salva.results.rates import FailureRate, ends_either_way
from salva.results.trust import AGREEMENT_ONLY, NONE, Trust
from salva.stats.intervals import Interval
from salva.stats.pairs_needed import MOST_PAIRS, pairs_for_rate

PASSED, FAILED, INCONCLUSIVE = "passed", "failed", "inconclusive"
FAILURE_RATE = "failure_rate"
MIN_DECIDED = 16
GATE_ON = ("interval", "lower", "point", "upper")
"""What decides: both ends of the interval, its lower end, the point, or its upper end."""
WITH_UNDECIDED = " with the undecided counted"
"""Said of an interval whose low end has the undecided and errors as PASS, and its high end as FAIL."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """The limits that a command sets."""

    max_failure_rate: float | None = None
    metrics: Mapping[str, float] = field(default_factory=dict)
    """Metric to its limit: the least value where higher is better, the largest otherwise."""
    on: str = "interval"
    min_decided: int = MIN_DECIDED

    def __bool__(self) -> bool:
        return self.max_failure_rate is not None or bool(self.metrics)


@dataclass(frozen=True, slots=True, kw_only=True)
class GateDecision:
    """What one limit came to for one model."""

    metric: str
    """FAILURE_RATE, or the name of a metric."""
    decision: str
    """PASSED, FAILED or INCONCLUSIVE."""
    limit: float
    value: float | None
    interval: tuple[float, float] | None
    """For the failure rate with the undecided at either end."""
    reason: str = ""
    """What kept it from a decision; empty where the numbers decided."""
    pairs_needed: int | None = None
    """About how many decided results would decide it; None where that is unknown or over MOST_PAIRS."""
    is_out_of_reach: bool = False
    """Whether it would take more than MOST_PAIRS."""
    is_share: bool = True
    """Whether people read it in percent."""

    def to_json(self) -> dict[str, Json]:
        """As a run keeps it and a report shows it."""
        return {**asdict(self), "interval": None if self.interval is None else [*self.interval]}

    @classmethod
    def from_json(cls, stored: Json) -> GateDecision:
        """From its stored form."""
        return msgspec.convert(stored, cls)


def decide(
    gate: Gate, rate: FailureRate, results: Sequence[Result], metrics: Mapping[str, MetricValue], trust: Trust
) -> list[GateDecision]:
    """Hold one model's figures against every limit of a gate."""
    decisions = []
    if gate.max_failure_rate is not None:
        decisions.append(_on_failure_rate(gate, gate.max_failure_rate, rate, results, trust))
    decisions += [_on_metric(gate, name, limit, metrics, rate, trust) for name, limit in gate.metrics.items()]
    return decisions


def _on_failure_rate(
    gate: Gate, limit: float, rate: FailureRate, results: Sequence[Result], trust: Trust
) -> GateDecision:
    ends = ends_either_way(results, rate.average)
    decision, reason = outcome(rate.rate, ends, limit, gate.on), ""
    if decision == PASSED and trust.has(AGREEMENT_ONLY):
        decision, reason = INCONCLUSIVE, message("gate-agreement-only")
    decision, reason = _held_back(decision, reason, gate, rate, trust)
    needed, is_out_of_reach = None, False
    if decision == INCONCLUSIVE and not reason and rate.rate is not None:
        needed = pairs_for_rate(rate.rate, rate.n, rate.n_effective, limit)
        is_out_of_reach = needed is None and rate.rate != limit
        if needed is not None and needed <= rate.n:
            needed, reason = None, message("gate-undecided")
    return GateDecision(
        metric=FAILURE_RATE,
        decision=decision,
        limit=limit,
        value=rate.rate,
        interval=(ends.low, ends.high) if ends else None,
        reason=reason,
        pairs_needed=needed,
        is_out_of_reach=is_out_of_reach,
    )


def _on_metric(
    gate: Gate, name: str, limit: float, metrics: Mapping[str, MetricValue], rate: FailureRate, trust: Trust
) -> GateDecision:
    # Its name was checked before the run; a metric that this run has no part of was not measured.
    metric = metrics.get(name, MetricValue(value=None, better=LOWER))
    if metric.better not in (HIGHER, LOWER):
        raise UsageError(message("gate-no-direction", metric=name))
    if metric.is_share and not 0 <= limit <= 1:
        raise UsageError(message("not-a-fraction", name=f"--gate {name}", value=f"{limit:g}", meant=limit / 100))
    # A metric that is better when it is higher passes above its limit: the same rule with both signs turned.
    sign = 1 if metric.better == LOWER else -1
    ends = None
    if metric.interval is not None:
        low, high = sorted(sign * end for end in metric.interval)
        ends = Interval(low=low, high=high)
    value = None if metric.value is None else sign * metric.value
    decision, reason = outcome(value, ends, sign * limit, gate.on), ""
    if metric.value is None:
        reason = metric.reason or message("gate-no-value", metric=name)
    elif ends is None and gate.on != "point":
        reason = message("gate-no-interval", metric=name)
    decision, reason = _held_back(decision, reason, gate, rate, trust)
    return GateDecision(
        metric=name,
        decision=decision,
        limit=limit,
        value=metric.value,
        interval=metric.interval,
        reason=reason,
        is_share=metric.is_share,
    )


def outcome(value: float | None, ends: Interval | None, limit: float, on: str) -> str:
    """What numbers say of a limit that must not be exceeded."""
    if value is None or (ends is None and on != "point"):
        return INCONCLUSIVE
    low, high = (ends.low, ends.high) if ends is not None else (value, value)
    match on:
        case "point":
            return PASSED if value <= limit else FAILED
        case "lower":
            return FAILED if low > limit else PASSED
        case "upper":
            return PASSED if high <= limit else FAILED
        case _:
            return PASSED if high <= limit else FAILED if low > limit else INCONCLUSIVE


def _held_back(decision: str, reason: str, gate: Gate, rate: FailureRate, trust: Trust) -> tuple[str, str]:
    """No gate passes on numbers that cannot be trusted, or that are too few."""
    if decision == PASSED and trust.status == NONE:
        return INCONCLUSIVE, message("gate-no-trust")
    if decision == PASSED and rate.n < gate.min_decided:
        return INCONCLUSIVE, message("gate-few-decided", n=rate.n, wanted=gate.min_decided)
    return decision, reason


def pairs_text(decision: GateDecision) -> str:
    """How many pairs would decide, in words; empty where that is unknown."""
    if decision.is_out_of_reach:
        return f"more than {MOST_PAIRS:,} pairs would decide"
    return f"about {decision.pairs_needed:,} pairs would decide" if decision.pairs_needed else ""
