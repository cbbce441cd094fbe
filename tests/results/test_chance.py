"""The rate of shuffled images: what a faultless model gets with every image in another's place."""

from __future__ import annotations

from dataclasses import replace

import pytest
from report.fake_runs import make_case

from salva.core.case import Case, Prompt
from salva.core.run_spec import ComponentSpec
from salva.registry import bind
from salva.results.chance import chance_of, chance_to_differ


@pytest.fixture(scope="module")
def quick() -> list[Case]:
    suite = bind(ComponentSpec(role="suite", name="metalogic")).build()
    return [case for case in suite.cases("quick") if case.labels["law"] != "numbering"]


def test_chance_is_between_faultless_and_hopeless_and_the_same_each_time(quick: list[Case]) -> None:
    chance = chance_of(quick)
    assert chance is not None
    assert 0.3 < chance < 0.95
    assert chance_of(quick) == chance
    assert chance_of(quick[:1]) is None


def test_chance_deals_the_images_there_are_and_not_as_many_of_each_category() -> None:
    def pair(case_id: str, category: str, formula: str) -> Case:
        prompts = tuple(Prompt(role=role, text=formula, formula=formula) for role in ("a", "b"))
        return replace(make_case(case_id, category=category), prompts=prompts)

    cats = [pair(f"cat-{i}", "many", "cat") for i in range(300)]
    dogs = [pair(f"dog-{i}", "few", "dog") for i in range(100)]
    # A cat pair gets 299 cats and 100 dogs, a dog pair 99 dogs and 300 cats.
    assert chance_of([*cats, *dogs]) == pytest.approx((100 / 399 + 300 / 399) / 2, abs=0.001)


def test_one_prompt_for_all_is_no_harder_by_chance(quick: list[Case]) -> None:
    same = [replace(quick[0], case_id=f"same-{i}") for i in range(5)]
    assert chance_of(same) == 0.0


def test_two_images_of_different_pairs_differ_by_chance(quick: list[Case]) -> None:
    alike = [replace(quick[0], case_id=f"same-{i}") for i in range(5)]
    assert chance_to_differ(alike, alike) == 0.0
    assert chance_to_differ(quick[:1], quick[:1]) is None, "nothing to shuffle"
    determinate = [case for case in quick if case.determinate]
    mentioned, everything = (chance_to_differ(determinate, quick, is_all=is_all) for is_all in (False, True))
    assert mentioned is not None
    assert everything is not None
    assert 0.3 < mentioned < everything < 1, "labels that no prompt of the pair names differ besides"


def test_formulas_that_cannot_be_read_cost_nothing(quick: list[Case]) -> None:
    broken = replace(
        quick[0], case_id="broken", prompts=tuple(replace(p, formula="<script>") for p in quick[0].prompts)
    )
    assert chance_of([*quick, broken]) == chance_of(quick)


def test_chance_reads_numbers_as_the_run_or_the_case_does() -> None:
    def pair(case_id: str, formula: str) -> Case:
        return replace(make_case(case_id), prompts=tuple(Prompt(role=r, text="", formula=formula) for r in ("a", "b")))

    cases = [pair(f"{n}-cat-{i}", f"{n} cat") for n in (1, 2) for i in range(3)]
    exact, lax = chance_of(cases), chance_of(cases, "at-least")
    assert exact is not None
    assert lax is not None
    assert lax < exact, "two cats are right for a cat there"
    assert chance_of([replace(case, counts="at-least") for case in cases]) == lax
