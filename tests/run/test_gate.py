"""A gate says what it looked at, and a number nobody can trust passes none."""

from __future__ import annotations

import pytest
from judging.test_rates import _leading, _truth
from report.fake_runs import judged, make_case

from salva.judging.leading import Leading
from salva.run.gate import Gate, decide


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
