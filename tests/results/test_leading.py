"""What stands beside the leading rate: a judge that always says what is expected is told."""

from __future__ import annotations

import pytest
from report.fake_runs import make_case, make_verdict

from salva.core.judgements import RunCheck
from salva.report.lead import warning_of
from salva.results.headline import judgements
from salva.results.leading import Leading, leading_of


def answered(*faith: float) -> Leading:
    """What leads where pictures have these shares of right answers, one a case."""
    cases = [make_case(f"case-{n}", check="right-answers") for n in range(len(faith))]
    verdicts = [
        make_verdict(case.case_id, check="right-answers", scores={"faith_A": share, "faith_mean": share})
        for case, share in zip(cases, faith, strict=True)
    ]
    concluded = judgements(cases, verdicts, {"right-answers": RunCheck()})
    return leading_of(concluded, 1)


@pytest.mark.parametrize(
    ("faith", "is_told"), [([1.0] * 8, True), ([1.0] * 7, False), ([1.0] * 30 + [0.9], False), ([0.0] * 8, False)]
)
def test_answers_that_are_all_as_expected_are_told(faith: list[float], is_told: bool) -> None:
    assert ("every answer is the expected one" in warning_of(answered(*faith))) == is_told
