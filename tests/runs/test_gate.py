"""A gate says what it looked at, and a number nobody can trust passes none."""

from __future__ import annotations

from dataclasses import replace

import pytest
from report.fake_runs import judged, make_case, make_verdict
from results.test_rates import _leading, _truth

from salva.core.case import Prompt
from salva.core.verdict import Outcome
from salva.results.leading import Leading
from salva.runs.gate import Gate, decide


def _figures(n: int = 40, n_wrong: int = 2, named: float = 2.0) -> Leading:
    cases = [make_case(f"c{i}") for i in range(n)]
    verdicts = [_truth(case.case_id, i >= n_wrong, True, named=named) for i, case in enumerate(cases)]
    return _leading(judged(cases, verdicts))


@pytest.mark.parametrize(
    ("limit", "end", "passes"), [(0.1, "point", True), (0.01, "point", False), (0.04, "upper", False)]
)
def test_the_chosen_end_of_the_leading_rate_decides(limit: float, end: str, passes: bool) -> None:
    decision = decide("m", _figures(), Gate(limit=limit, end=end))
    assert (decision.passed, decision.decides, decision.rate) == (passes, True, "wrong")
    assert f"the {end} end of wrong is" in decision.reason
    assert "over 40 of 40 pairs" in decision.reason


def test_a_gate_says_the_whole_interval_and_what_it_cannot_rule_out() -> None:
    passed = decide("m", _figures(n_wrong=4), Gate(limit=0.1, end="lower"), only=(("law", "identity"),))
    assert passed.passed
    assert "(interval 0.0" in passed.reason
    compared, _, doubt = passed.reason.partition("; ")
    assert compared.endswith("--only law=identity")
    assert "40 pairs" in doubt
    assert "rule out" in doubt
    for other in (Gate(limit=0.9), Gate(limit=0.01)):
        assert "rule out" not in decide("m", _figures(n_wrong=4), other).reason
        assert "--only" not in decide("m", _figures(n_wrong=4), other).reason


def test_what_failed_passes_no_gate_and_saves_nobody_from_one() -> None:
    undecided = decide("m", _figures(), Gate(limit=0.5), n_missing=3)
    assert (undecided.to_json()["passed"], undecided.decides) == (False, False)
    assert "3 verdicts ERROR" in undecided.reason
    above = decide("m", _figures(n_wrong=30), Gate(limit=0.5), n_missing=3)
    assert (above.passed, above.decides) == (False, True)


@pytest.mark.parametrize(("n_wrong", "is_said"), [(30, True), (0, False)])
def test_agreement_does_not_hide_what_is_wrong(n_wrong: int, is_said: bool) -> None:
    leading = _figures(n_wrong=n_wrong)
    agreeing = replace(leading, rates={**leading.rates, "inconsistent": _figures(n_wrong=0).figure})
    decision = decide("m", agreeing, Gate(limit=0.2, rate="inconsistent"))
    assert decision.passed
    assert ("wrong is 0.750" in decision.reason) is is_said
    assert "wrong is 0.750;" not in decide("m", leading, Gate(limit=0.2)).reason


@pytest.mark.parametrize(("n_differing", "passes"), [(0, True), (20, False)])
def test_pairs_without_formulas_are_decided_by_what_leads(n_differing: int, passes: bool) -> None:
    cases = []
    for i in range(20):
        prompts = tuple(Prompt(role=role, text=f"{role} {i}") for role in "ab")
        cases.append(replace(make_case(f"c{i}"), prompts=prompts, determinate=None, equivalent=None))
    outcomes = [Outcome.FAIL if i < n_differing else Outcome.PASS for i in range(20)]
    verdicts = [make_verdict(case.case_id, outcome) for case, outcome in zip(cases, outcomes, strict=True)]
    decision = decide("m", _leading(judged(cases, verdicts)), Gate(limit=0.5))
    assert (decision.passed, decision.decides, decision.rate, decision.n) == (passes, True, "inconsistent", 20)
    assert not decide("m", _leading(judged(cases, verdicts)), Gate(limit=0.5, rate="wrong")).decides


def test_too_few_pairs_decide_nothing() -> None:
    decision = decide("m", _figures(n=8, n_wrong=0), Gate(limit=0.5))
    assert (decision.passed, decision.decides) == (False, False)
    assert "it takes 16" in decision.reason
    assert decide("m", _figures(n=8, n_wrong=0), Gate(limit=0.5, min_decided=8)).passed


def test_a_blind_oracle_passes_no_gate_whatever_the_limit() -> None:
    decision = decide("m", _figures(n_wrong=40, named=0.0), Gate(limit=1.0))
    assert not decision.passed
    assert "found in 0 of" in decision.reason


def test_a_rate_that_nothing_was_judged_for_is_not_decided() -> None:
    decision = decide("m", _figures(), Gate(limit=0.5, rate="inconsistent"))
    assert (decision.passed, decision.decides, decision.value) == (False, False, None)
