"""Which check makes the result of a case, and what the result is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from report.fake_runs import make_case, make_verdict

from salva.core.case import Case, Finding
from salva.core.judgements import RunCheck
from salva.core.result import Result, Rule, counted
from salva.core.verdict import Failure, Outcome, Verdict
from salva.results.deciding import NO_CHECK, NOT_JUDGED, join, results_of

PASS, FAIL, UNDECIDED, ERROR = Outcome
CHECKS = {
    "truth": RunCheck(),
    "right-answers": RunCheck(),
    "named-entities": RunCheck(),
    "same-scene": RunCheck(compares=True),
}
VETOES = ("truth", "named-entities")


def results(
    cases: Sequence[Case],
    verdicts: Sequence[Verdict],
    primary: str = "truth",
    *,
    rule: Rule | None = None,
    deciding: Sequence[str] = (),
    repeats: int = 1,
    vetoes: Sequence[str] = VETOES,
    is_whole: bool = True,
    is_imported: bool = False,
) -> list[Result]:
    """The results of cases that all have one primary check."""
    made = results_of(
        cases,
        join(cases, verdicts, deciding),
        model="painter",
        repeats=repeats,
        rule=rule or Rule(),
        primaries={case.case_id: primary for case in cases},
        checks=CHECKS,
        vetoes=vetoes,
        is_whole=is_whole,
        is_imported=is_imported,
    )
    return list(made)


def outcome(primary: str, rule: Rule | None = None, **verdicts: Outcome) -> Outcome:
    """What a case comes to when checks conclude these, with _ for -."""
    judged = [make_verdict(check=name.replace("_", "-"), outcome=one) for name, one in verdicts.items()]
    return results([make_case()], judged, primary, rule=rule)[0].outcome


@pytest.mark.parametrize("own", Outcome)
def test_the_primary_check_makes_the_result_and_others_are_metrics(own: Outcome) -> None:
    assert outcome("truth", truth=own, same_scene=FAIL, right_answers=FAIL) is own


@pytest.mark.parametrize(("own", "wanted"), [(PASS, FAIL), (FAIL, FAIL), (UNDECIDED, FAIL), (ERROR, FAIL)])
def test_a_veto_fails_a_case_whatever_its_primary_check_concludes(own: Outcome, wanted: Outcome) -> None:
    assert outcome("right-answers", right_answers=own, truth=FAIL) is wanted
    assert outcome("right-answers", right_answers=own, named_entities=FAIL) is wanted


@pytest.mark.parametrize("unsure", [UNDECIDED, ERROR])
def test_images_that_were_only_compared_do_not_pass_where_truth_cannot_decide(unsure: Outcome) -> None:
    assert outcome("same-scene", same_scene=PASS, truth=unsure) is UNDECIDED
    assert outcome("right-answers", right_answers=PASS, truth=unsure) is PASS, "held against their prompts all the same"
    assert outcome("same-scene", same_scene=PASS, named_entities=unsure) is PASS
    assert outcome("same-scene", same_scene=FAIL, truth=unsure) is FAIL


@pytest.mark.parametrize("rule", [Rule(check="same-scene"), Rule(check="same-scene", is_published=True)])
def test_a_chosen_check_and_a_published_rule_alone_make_the_result(rule: Rule) -> None:
    assert outcome("truth", rule, truth=FAIL, same_scene=PASS) is PASS
    assert outcome("truth", rule, truth=PASS) is UNDECIDED


def test_every_case_and_repeat_has_one_result_and_says_why_it_is_open() -> None:
    cases = [make_case("judged"), make_case("left", findings=(Finding(kind="no-formula", sentence="no formula"),))]
    verdicts = [make_verdict("judged", check="truth", repeat=1), make_verdict("elsewhere", check="truth")]
    whole = results(cases, verdicts, repeats=2)
    assert [(one.case.case_id, one.repeat, one.outcome) for one in whole] == [
        ("judged", 0, UNDECIDED),
        ("judged", 1, PASS),
        ("left", 0, UNDECIDED),
        ("left", 1, UNDECIDED),
    ]
    assert [one.reason for one in whole] == [NO_CHECK, "", f"{NO_CHECK}: no formula", f"{NO_CHECK}: no formula"]
    running = results(cases, verdicts, repeats=2, is_whole=False)
    assert [one.reason for one in running] == [NOT_JUDGED, "", NOT_JUDGED, NOT_JUDGED]
    unchecked = results(cases, verdicts, primary="", repeats=2, is_whole=False)
    assert {one.outcome for one in unchecked} == {UNDECIDED}
    imported = results(cases, verdicts, repeats=2, is_imported=True)
    assert [(one.case.case_id, one.repeat) for one in imported] == [("judged", 1)]


def test_the_first_named_judge_decides_and_the_control_arm_never_does() -> None:
    by = {("boxes", "one"): PASS, ("boxes", "two"): FAIL}
    verdicts = [make_verdict(check="truth", observers=who, outcome=said) for who, said in by.items()]
    verdicts.append(make_verdict(check="truth", arm="control", outcome=ERROR, observers=("boxes", "one")))
    for first, wanted in (("one", PASS), ("two", FAIL)):
        (result,) = results([make_case()], verdicts, deciding=("boxes", first))
        assert (result.outcome, result.verdict and result.verdict.observers[-1]) == (wanted, first)
    # Cases without formulas give a detector nothing to do: the judge alone is still the same judge.
    alone = [make_verdict(check="truth", observers=("one",)), make_verdict(check="truth", observers=("two", "x"))]
    assert results([make_case()], alone, deciding=("boxes", "one"))[0].outcome is PASS


def test_a_result_has_the_findings_and_images_of_all_that_failed() -> None:
    def failed(check: str, kind: str, role: str) -> Verdict:
        failure = Failure(failure_type=kind, role=role, message=kind)
        images = {role: f"{check}-{role}", "b": f"{check}-b"}
        return make_verdict(check=check, outcome=FAIL, errors=(kind,), failures=(failure,), images=images)

    own, veto = failed("right-answers", "answer-mismatch", "a"), failed("truth", "entity-omission", "c")
    (both,) = results([make_case()], [own, veto], "right-answers")
    assert both.failure_types == ("answer-mismatch", "entity-omission")
    assert [one.failure_type for one in both.failures] == ["answer-mismatch", "entity-omission"]
    assert both.images == {"a": "right-answers-a", "b": "right-answers-b", "c": "truth-c"}
    (vetoed,) = results(
        [make_case()], [replace(own, outcome=PASS, failures=(), failure_types=()), veto], "right-answers"
    )
    assert (vetoed.is_fail, vetoed.failure_types, vetoed.evidence[0]) == (True, ("entity-omission",), veto)
    (passed,) = results([make_case()], [make_verdict(check="truth")])
    assert (passed.failures, passed.failure_types) == ((), ())


def test_compared_only_is_known_by_the_check_and_by_truth() -> None:
    same = make_verdict(check="same-scene")

    def is_compared(*others: Verdict) -> bool:
        return results([make_case()], [same, *others], "same-scene")[0].is_compared_only

    assert is_compared()
    assert is_compared(make_verdict(check="named-entities")), "it holds a part of the prompt alone"
    assert not is_compared(make_verdict(check="truth"))
    assert not results([make_case()], [make_verdict(check="truth")])[0].is_compared_only


def test_a_refusal_is_an_error_of_its_own_kind() -> None:
    refused = replace(make_verdict(check="truth", outcome=ERROR), is_refused=True)
    assert results([make_case()], [refused])[0].is_refused
    assert not results([make_case()], [make_verdict(check="truth", outcome=ERROR)])[0].is_refused


_VERDICTS = st.lists(
    st.tuples(
        st.sampled_from(["c0", "c1", "c2", "other"]),
        st.sampled_from([*CHECKS]),
        st.integers(0, 2),
        st.sampled_from(Outcome),
        st.sampled_from(["pair", "control"]),
    )
)


@given(
    verdicts=_VERDICTS,
    primary=st.sampled_from(["", *CHECKS]),
    chosen=st.sampled_from(["", "truth", "same-scene"]),
    is_whole=st.booleans(),
)
def test_whatever_was_judged_every_submitted_case_is_counted_once(
    verdicts: list[tuple[str, str, int, Outcome, str]], primary: str, chosen: str, is_whole: bool
) -> None:
    cases = [make_case(f"c{n}") for n in range(3)]
    stored = [make_verdict(name, one, check=check, repeat=n, arm=arm) for name, check, n, one, arm in verdicts]
    found = results(cases, stored, primary, rule=Rule(check=chosen), repeats=2, is_whole=is_whole)
    assert [(one.case.case_id, one.repeat) for one in found] == [(f"c{n}", k) for n in range(3) for k in range(2)]
    assert sum(counted(found).values()) == 6
    assert not any(one.reason for one in found if one.is_decided)
