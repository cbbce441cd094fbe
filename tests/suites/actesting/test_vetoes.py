"""What fails a pair whose images changed as they should: truth, and an entity that an own caption names."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from judged import judged

from salva.core.case import Case
from salva.core.judgements import RunCheck
from salva.core.result import Result, Rule
from salva.core.verdict import PAIR, Failure, Outcome, Verdict
from salva.suites.actesting.suite import Actesting, ActestingOptions

FAIL, PASS, UNDECIDED, ERROR = Outcome.FAIL, Outcome.PASS, Outcome.UNDECIDED, Outcome.ERROR
CASE = next(iter(Actesting(ActestingOptions()).cases("quick")))
CHECKS = {CASE.check: RunCheck(compares=True), "named-entities": RunCheck(), "truth": RunCheck()}


def verdict(check: str, outcome: Outcome, case: Case = CASE) -> Verdict:
    failures = (Failure(failure_type=f"by-{check}", role="b", message="wrong"),) if outcome is FAIL else ()
    return Verdict(
        case_id=case.case_id,
        repeat=0,
        arm=PAIR,
        model="m",
        check=check,
        observers=("d",),
        outcome=outcome,
        failure_types=tuple(failure.failure_type for failure in failures),
        failures=failures,
        reason="" if outcome in (PASS, FAIL) else f"{check} says so",
    )


def result(by_check: Mapping[str, Outcome], rule: Rule | None = None) -> Result:
    given = {"named-entities" if name == "named" else name: outcome for name, outcome in by_check.items()}
    verdicts = [verdict(CASE.check if name == "own" else name, outcome) for name, outcome in given.items()]
    (made,) = judged([CASE], verdicts, CHECKS, rule=rule, vetoes=Actesting.about.vetoes).results
    return made


@pytest.mark.parametrize(
    ("by_check", "outcome"),
    [
        ({"own": PASS}, PASS),
        ({"own": PASS, "truth": PASS, "named": PASS}, PASS),
        ({"own": PASS, "truth": FAIL, "named": PASS}, FAIL),
        ({"own": PASS, "truth": PASS, "named": FAIL}, FAIL),
        ({"own": PASS, "named": FAIL}, FAIL),
        ({"own": UNDECIDED, "named": FAIL}, FAIL),
        ({"own": ERROR, "truth": FAIL}, FAIL),
        ({"own": ERROR, "truth": PASS}, ERROR),
        ({"own": PASS, "truth": UNDECIDED}, UNDECIDED),
        ({"own": PASS, "truth": PASS, "named": UNDECIDED}, PASS),
    ],
)
def test_a_veto_fails_the_pair_whatever_its_own_check_concludes(by_check: dict[str, Outcome], outcome: Outcome) -> None:
    made = result(by_check)
    assert made.outcome is outcome
    assert bool(made.failure_types) == made.is_fail
    assert made.check == CASE.check


def test_the_failures_of_all_that_failed_are_named() -> None:
    made = result({"own": FAIL, "truth": FAIL, "named": FAIL})
    assert made.failure_types == (f"by-{CASE.check}", "by-truth", "by-named-entities")


@pytest.mark.parametrize("rule", [Rule(is_published=True), Rule(check=CASE.check)])
def test_a_chosen_check_decides_alone(rule: Rule) -> None:
    assert result({"own": PASS, "truth": FAIL, "named": FAIL}, rule).outcome is PASS


def test_only_truth_holds_an_image_against_all_of_its_caption() -> None:
    """Without formulas a model that always draws the other meaning could pass, and nobody would be told."""
    assert not result({"own": PASS, "truth": PASS}).is_compared_only
    assert result({"own": PASS, "named": PASS}).is_compared_only
    assert result({"own": PASS, "truth": UNDECIDED, "named": PASS}).is_compared_only
