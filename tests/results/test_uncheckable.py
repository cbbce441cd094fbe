"""Cases that no check can judge, and cases that were not judged yet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from report.fake_runs import RATES, make_case, make_verdict
from salva.results.headline import judgements
from salva.results.leading import OK, PARTIAL, leading_of
from salva.results.uncheckable import cases_without_check, checks_to_come

from salva.core.case import Case, Prompt
from salva.core.fingerprint import Json
from salva.core.judgements import Judgements, RunCheck
from salva.core.question import Question

BY_FORMULA, BY_ANSWERS = ("truth", "same-scene"), ("right-answers", "same-answers")


def with_formulas(case_id: str) -> Case:
    return replace(make_case(case_id), check_groups=(BY_FORMULA, BY_ANSWERS))


def without_formulas(case_id: str) -> Case:
    question = Question(kind="whole", text="Is all of it shown?", answer="yes")
    prompt = Prompt(role="a", text="a dream of spring", questions=(question,))
    return replace(make_case(case_id), prompts=(prompt,), checks=("right-answers",), check_groups=(BY_ANSWERS,))


def concluded(
    cases: list[Case], n_judged: int, checks: Mapping[str, Mapping[str, Json]], *, is_whole: bool = False
) -> Judgements:
    """A run that was stopped, or finished, after so many of its cases."""
    verdicts = [
        make_verdict(case.case_id, check="truth" if case.check_groups[0] == BY_FORMULA else "right-answers")
        for case in cases[:n_judged]
    ]
    taking_part = {name: RunCheck(rate=RATES.get(name), options=options) for name, options in checks.items()}
    return replace(judgements(cases, verdicts, taking_part), is_whole=is_whole)


def oracle(of: Judgements) -> tuple[str, str]:
    leading = leading_of(of, 1)
    return leading.oracle, leading.reason


def test_what_nobody_has_come_to_yet_is_no_fault_of_the_oracle() -> None:
    stopped = concluded([without_formulas(f"case-{n}") for n in range(30)], 2, {"right-answers": {}})
    assert cases_without_check(stopped) == []
    assert oracle(stopped) == (OK, "")
    stopped = concluded([with_formulas(f"case-{n}") for n in range(30)], 2, {"truth": {}, "same-scene": {}})
    assert cases_without_check(stopped) == []
    assert oracle(stopped) == (OK, "")
    assert leading_of(stopped, 2).n_asked == 60, "pairs that were asked for and are going to enter the rate"


def test_prompts_that_nobody_can_judge_are_counted_wherever_the_run_stands() -> None:
    cases = [*(with_formulas(f"formula-{n}") for n in range(6)), *(without_formulas(f"none-{n}") for n in range(4))]
    for n_judged in (2, 6):
        of = concluded(cases, n_judged, {"truth": {}, "same-scene": {}})
        assert cases_without_check(of) == cases[6:]
        assert oracle(of)[0] == PARTIAL
        assert oracle(of)[1].startswith("no check can judge 4 of 10 prompts")
        assert leading_of(of, 1).n_asked == 6


def test_a_file_of_questions_may_have_none_about_a_prompt() -> None:
    cases = [without_formulas(f"case-{n}") for n in range(10)]
    by_file: Mapping[str, Mapping[str, Json]] = {"right-answers": {"questions": "mine.jsonl"}}
    finished = concluded(cases, 6, by_file, is_whole=True)
    assert cases_without_check(finished) == cases[6:]
    assert oracle(finished)[0] == PARTIAL
    stopped = concluded(cases, 6, by_file)
    assert cases_without_check(stopped) == []
    assert oracle(stopped) == (OK, "")


def test_the_first_group_with_an_observer_is_the_one() -> None:
    both = concluded([], 0, {"truth": {}, "right-answers": {}})
    assert checks_to_come(with_formulas("a"), both) == ("truth",)
    assert checks_to_come(without_formulas("b"), both) == ("right-answers",)
    assert checks_to_come(without_formulas("b"), concluded([], 0, {"truth": {}})) == ()
