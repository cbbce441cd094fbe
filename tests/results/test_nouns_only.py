"""A model that draws every entity and ignores the logic: where it fails, and how much better a run is."""

from __future__ import annotations

from dataclasses import replace

import pytest
from judged import judged
from report.fake_runs import make_case, make_verdict

from salva.core.case import Case, Prompt
from salva.core.run_spec import ComponentSpec
from salva.core.verdict import Outcome
from salva.registry import bind
from salva.results.nouns_only import NOUNS_ONLY, SKILL, failed_by_nouns, nouns_only_metrics


def case_of(formula: str, category: str = "one", case_id: str = "") -> Case:
    prompts = (Prompt(role="a", text=formula, formula=formula),)
    made = make_case(case_id or "pair", category=category)
    return replace(made, prompts=prompts, equivalent=None, determinate=None)


@pytest.mark.parametrize(
    ("formula", "is_failed"),
    [
        ("cat & dog", False),
        ("cat | dog", False),
        ("!!(cat & dog)", False),
        ("2 cat & dog@left", False),
        ("left_of(cat, dog)", False),
        ("!cat & dog", True),
        ("!(cat & dog)", True),
        ("(cat & !dog) | (dog & !cat)", True),
        # Two places that cannot both hold for one cat: the cat alone is drawn.
        ("cat@left & cat@right", False),
    ],
)
def test_only_denial_and_exclusion_need_more_than_nouns(formula: str, is_failed: bool) -> None:
    assert failed_by_nouns([case_of(formula)]) == {"one": [is_failed]}


def test_no_category_of_metalogic_needs_more_than_nouns() -> None:
    suite = bind(ComponentSpec(role="suite", name="metalogic")).build()
    failed = failed_by_nouns(suite.cases("quick"))
    assert len(failed) == 21
    assert not any(map(any, failed.values()))


def test_skill_is_what_is_left_of_the_baseline() -> None:
    cases = [case_of("!cat & dog", "denial", f"no-{i}") for i in range(8)]
    cases += [case_of("cat & dog", "plain", f"both-{i}") for i in range(8)]
    failed = [make_verdict(f"no-{i}", outcome=Outcome.FAIL if i < 2 else Outcome.PASS, check="truth") for i in range(8)]
    passed = [make_verdict(f"both-{i}", check="truth") for i in range(8)]
    metrics = nouns_only_metrics(judged(cases, [*failed, *passed]))
    assert metrics[NOUNS_ONLY].value == 0.5
    # 2 of 8 and 0 of 8: a rate of .125, a quarter of the baseline.
    assert metrics[SKILL].value == pytest.approx(0.75)
    low, high = metrics[SKILL].interval or (0, 0)
    assert low < 0.75 < high <= 1.0


def test_skill_does_not_rest_on_a_few_cases() -> None:
    cases = [case_of("!cat & dog", "denial", f"no-{i}") for i in range(7)]
    metrics = nouns_only_metrics(judged(cases, [make_verdict(f"no-{i}", check="truth") for i in range(7)]))
    assert metrics[NOUNS_ONLY].value == 1.0
    assert metrics[SKILL].value is None


def test_without_a_case_that_needs_logic_there_is_no_skill() -> None:
    metrics = nouns_only_metrics(judged([case_of("cat & dog")], [make_verdict("pair", check="truth")]))
    assert metrics[NOUNS_ONLY].value == 0.0
    assert metrics[SKILL].value is None


def test_other_checks_than_truth_say_nothing_about_it() -> None:
    assert nouns_only_metrics(judged([case_of("cat & dog")], [make_verdict("pair", check="same-scene")])) == {}
