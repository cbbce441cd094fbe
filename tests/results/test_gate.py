"""Gates: passed, failed or inconclusive, and never passed on numbers that nobody can trust."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from report.fake_runs import judged, make_case, make_verdict

from salva.core.metric import HIGHER, LOWER, MetricValue
from salva.core.result import Result
from salva.core.verdict import Outcome
from salva.errors import UsageError
from salva.report.headline_text import gate_text
from salva.results.gate import (
    FAILED,
    FAILURE_RATE,
    INCONCLUSIVE,
    PASSED,
    WITH_UNDECIDED,
    Gate,
    GateDecision,
    decide,
    outcome,
    pairs_text,
)
from salva.results.rates import failure_rate
from salva.results.trust import AGREEMENT_ONLY, LIMITED, NONE, Trust, TrustReason
from salva.stats.intervals import Interval

TRUSTED = Trust()


def results(n_pass: int, n_fail: int = 0, n_undecided: int = 0, n_error: int = 0) -> list[Result]:
    """Results of one category."""
    said = [Outcome.PASS] * n_pass + [Outcome.FAIL] * n_fail
    said += [Outcome.UNDECIDED] * n_undecided + [Outcome.ERROR] * n_error
    cases = [make_case(f"c{n}") for n in range(len(said))]
    verdicts = [make_verdict(case.case_id, one, check="truth") for case, one in zip(cases, said, strict=True)]
    return list(judged(cases, verdicts).results)


def on_rate(found: Sequence[Result], limit: float, trust: Trust = TRUSTED, **gate: object) -> GateDecision:
    asked = Gate(max_failure_rate=limit, **gate)  # type: ignore[arg-type]  # fields by name
    (decision,) = decide(asked, failure_rate(found), found, {}, trust)
    return decision


def on_metric(metric: MetricValue, limit: float, trust: Trust = TRUSTED, n: int = 20, **gate: object) -> GateDecision:
    found = results(n)
    asked = Gate(metrics={"kappa": limit}, **gate)  # type: ignore[arg-type]  # fields by name
    (decision,) = decide(asked, failure_rate(found), found, {"kappa": metric}, trust)
    return decision


@pytest.mark.parametrize(
    ("on", "below", "around", "above"),
    [
        ("interval", PASSED, INCONCLUSIVE, FAILED),
        ("lower", PASSED, PASSED, FAILED),
        ("upper", PASSED, FAILED, FAILED),
        ("point", PASSED, FAILED, FAILED),
    ],
)
def test_which_end_decides(on: str, below: str, around: str, above: str) -> None:
    ends = Interval(low=0.3, high=0.5)
    assert [outcome(0.4, ends, limit, on) for limit in (0.5, 0.35, 0.29)] == [below, around, above]
    assert outcome(0.4, ends, 0.4, "point") == PASSED
    assert outcome(0.4, ends, 0.3, "lower") == PASSED
    assert outcome(None, None, 1.0, on) == INCONCLUSIVE
    assert outcome(0.1, None, 1.0, on) == (PASSED if on == "point" else INCONCLUSIVE)


def test_a_gate_reads_like_the_report() -> None:
    share = MetricValue(value=0.147, low=0.056, high=0.305, better=LOWER, is_share=True)
    assert gate_text(on_metric(share, 0.3)) == "inconclusive: kappa 14.7 % (5.6 to 30.5 %), limit 30 %"
    score = MetricValue(value=0.147, low=0.056, high=0.305, better=LOWER)
    assert gate_text(on_metric(score, 0.4)) == "passed: kappa 0.147 (0.056 to 0.305), limit 0.4"
    rate = on_rate(results(366, 34), 0.15)
    assert GateDecision.from_json(rate.to_json()) == rate
    assert WITH_UNDECIDED in gate_text(rate)


def test_undecided_and_errors_are_held_against_the_gate_at_both_ends() -> None:
    golden = on_rate(results(306, 34, 60), 0.15)
    assert (golden.decision, golden.value, golden.reason) == (INCONCLUSIVE, 0.1, "")
    assert golden.interval is not None
    assert golden.interval[1] == pytest.approx(0.279, abs=5e-4)
    assert on_rate(results(366, 34), 0.15).decision == PASSED
    assert on_rate(results(306, 34, n_error=60), 0.15).decision == INCONCLUSIVE
    assert on_rate(results(40, 40, 20), 0.25).decision == FAILED, "even if all others had passed"
    assert on_rate(results(60, 40, 100), 0.25).decision == INCONCLUSIVE


def test_an_inconclusive_gate_says_how_many_pairs_would_decide() -> None:
    assert (on_rate(results(47, 16), 0.2).pairs_needed, on_rate(results(63), 0.05).pairs_needed) == (461, 143)
    assert on_rate(results(63), 0.2).pairs_needed is None, "it is decided"
    far = on_rate(results(399, 101), 0.2)
    assert (far.decision, far.pairs_needed, far.is_out_of_reach) == (INCONCLUSIVE, None, True)
    same = on_rate(results(40, 10), 0.2)
    assert (same.decision, same.pairs_needed, same.is_out_of_reach, pairs_text(same)) == (INCONCLUSIVE, None, False, "")
    assert "20,000" in pairs_text(far)
    assert "143" in pairs_text(on_rate(results(63), 0.05))


@pytest.mark.parametrize("on", ["interval", "lower", "upper", "point"])
def test_no_gate_passes_without_trust_or_with_few_decided_and_failing_stands(on: str) -> None:
    none = Trust(status=NONE)
    for held in (on_rate(results(100), 0.9, none, on=on), on_metric(_KAPPA, 0.1, none, on=on)):
        assert (held.decision, getattr(held.reason, "code", "")) == (INCONCLUSIVE, "gate-no-trust")
    for held in (on_rate(results(15), 0.9, on=on), on_metric(_KAPPA, 0.1, n=15, on=on)):
        assert (held.decision, getattr(held.reason, "code", "")) == (INCONCLUSIVE, "gate-few-decided")
    assert on_rate(results(16), 0.9, on=on).decision == PASSED
    assert on_rate(results(8), 0.9, on=on, min_decided=8).decision == PASSED
    assert on_rate(results(0, 100), 0.1, none, on=on).decision == FAILED
    assert on_rate(results(100), 0.9, Trust(status=LIMITED), on=on).decision == PASSED


def test_agreement_alone_passes_no_gate_on_the_failure_rate() -> None:
    agreeing = Trust(status=LIMITED, reasons=(TrustReason(code=AGREEMENT_ONLY, text=""),))
    held = on_rate(results(100), 0.9, agreeing)
    assert (held.decision, getattr(held.reason, "code", "")) == (INCONCLUSIVE, "gate-agreement-only")
    assert on_rate(results(0, 100), 0.1, agreeing).decision == FAILED


_KAPPA = MetricValue(value=0.4, low=0.3, high=0.5, better=HIGHER)


def test_a_metric_is_held_to_its_least_value_where_higher_is_better() -> None:
    assert [on_metric(_KAPPA, limit).decision for limit in (0.3, 0.31, 0.51)] == [PASSED, INCONCLUSIVE, FAILED]
    lower = replace(_KAPPA, better=LOWER)
    assert [on_metric(lower, limit).decision for limit in (0.5, 0.4, 0.29)] == [PASSED, INCONCLUSIVE, FAILED]
    held = on_metric(_KAPPA, 0.3)
    assert (held.metric, held.value, held.interval, held.limit) == ("kappa", 0.4, (0.3, 0.5), 0.3)


def test_a_metric_without_interval_value_or_direction_decides_nothing() -> None:
    bare = MetricValue(value=0.4, better=HIGHER)
    assert (on_metric(bare, 0.1).decision, on_metric(bare, 0.1, on="point").decision) == (INCONCLUSIVE, PASSED)
    missing = on_metric(MetricValue(value=None, better=HIGHER, reason="no judge"), 0.1)
    assert (missing.decision, missing.reason) == (INCONCLUSIVE, "no judge")
    (absent,) = decide(Gate(metrics={"distance": 0.1}), failure_rate([]), [], {"kappa": _KAPPA}, TRUSTED)
    assert (absent.decision, getattr(absent.reason, "code", "")) == (INCONCLUSIVE, "gate-no-value")
    for metric, limit, code in (
        (replace(_KAPPA, better=""), 0.1, "gate-no-direction"),
        (replace(_KAPPA, is_share=True), 60.0, "not-a-fraction"),
    ):
        with pytest.raises(UsageError) as refused:
            on_metric(metric, limit)
        assert refused.value.code == code


def test_a_decision_comes_back_from_the_store_as_it_was() -> None:
    for decision in (on_rate(results(20, 3), 0.1), on_metric(_KAPPA, 0.3), on_rate([], 0.1)):
        assert GateDecision.from_json(decision.to_json()) == replace(decision, reason=str(decision.reason))
    assert on_rate([], 0.1).metric == FAILURE_RATE
    assert not Gate()
    assert Gate(max_failure_rate=0.0)


def test_where_only_the_undecided_leave_a_gate_open_more_pairs_are_no_advice() -> None:
    # Without the undecided the upper end is far below the limit.
    decision = on_rate(results(n_pass=390, n_fail=10, n_undecided=100), 0.15)
    assert (decision.decision, decision.pairs_needed) == (INCONCLUSIVE, None)
    assert decision.reason.code == "gate-undecided"  # type: ignore[attr-defined]  # a Message
    assert not on_rate(results(n_pass=306, n_fail=34, n_undecided=60), 0.15).reason, "363 would decide"
