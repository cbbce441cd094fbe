"""The scene suite: a scene alone, or beside every wording that a law proves."""

from __future__ import annotations

import pytest
from hypothesis import given
from strategies import formulas

from salva.core.case import SEVERAL_WORLDS, Case
from salva.errors import FormulaError, UsageError
from salva.logic.equivalence import are_equivalent, is_contradictory
from salva.logic.formula import Formula
from salva.logic.notation import parse, to_notation
from salva.suites.scene.suite import SceneSuite, SceneSuiteOptions


def cases(scene: str, law: str = "", prompt: str = "") -> list[Case]:
    return list(SceneSuite(SceneSuiteOptions(scene=scene, law=law, prompt=prompt)).cases("quick"))


def texts(case: Case) -> list[str]:
    return [prompt.text for prompt in case.prompts]


def test_a_law_gives_a_pair_for_every_other_wording() -> None:
    (case,) = cases("2 cat & dog", "commutative")
    assert texts(case) == ["There are two cats and a dog", "There is a dog and two cats"]
    assert (case.equivalent, case.determinate) == (True, True)
    assert (case.checks, case.measures) == (("truth", "right-answers"), ("same-scene",))
    assert case.labels == {"law": "commutative"}
    several = cases("cat & dog", "complement")
    assert len({case.case_id for case in several}) == len(several) == 3
    assert len({case.painting for case in several}) == 1, "the first wording is generated once"


def test_without_a_law_the_prompt_stands_alone() -> None:
    (case,) = cases("cat & dog", prompt="my two friends")
    assert texts(case) == ["my two friends"]
    assert case.prompts[0].formula == "cat & dog"
    assert (case.checks, case.measures) == (("truth", "right-answers"), ())
    assert cases("cat | dog")[0].findings[0].kind == SEVERAL_WORLDS


def test_a_sentence_is_its_own_wording_and_another_wording_is_another_case() -> None:
    (case,) = cases("a dog and two cats", "commutative")
    assert texts(case) == ["a dog and two cats", "There are two cats and a dog"]
    (other,) = cases("There is a dog and two cats", "commutative")
    assert case.case_id != other.case_id


@given(formulas())
def test_every_pair_is_an_equivalence(formula: Formula) -> None:
    if is_contradictory(formula):
        with pytest.raises(UsageError, match="option-invalid"):
            SceneSuiteOptions(scene=f"({to_notation(formula)})")
        return
    for case in cases(f"({to_notation(formula)})", "complement")[:3]:
        first, second = (parse(prompt.formula or "") for prompt in case.prompts)
        assert are_equivalent(first, second)


@pytest.mark.parametrize(
    ("scene", "law", "told"),
    [
        ("cat &", "", "cat &"),
        ("cat & !cat", "", "option-invalid"),
        ("cat", "communist", "no law named 'communist'"),
        ("cat", "distributive", "complement.*law-not-applicable"),
    ],
)
def test_what_cannot_be_tested_is_refused(scene: str, law: str, told: str) -> None:
    with pytest.raises((UsageError, FormulaError), match=told):
        cases(scene, law)
