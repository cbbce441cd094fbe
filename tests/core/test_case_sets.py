"""Ids and small samples of cases: the same every time."""

from __future__ import annotations

from dataclasses import replace

import pytest

from salva.core.case import Case, Prompt
from salva.core.case_sets import few_cases, few_of_each, slug, with_distinct_ids

CASE = Case(case_id="c", suite="s", category="x", prompts=(Prompt(role="a", text="a cat"),), checks=("truth",))


@pytest.mark.parametrize(
    ("text", "expected"), [("A Cat, 2 dogs!", "a-cat-2-dogs"), ("--a__b--", "a-b"), ("猫", "none"), ("", "none")]
)
def test_a_slug_has_the_letters_of_a_case_id(text: str, expected: str) -> None:
    assert slug(text, "none") == expected
    assert slug("猫") == ""


def test_a_sample_has_the_first_of_each_group_by_a_hash() -> None:
    items = [f"{group}{number}" for number in range(30) for group in "ab"]
    chosen = few_of_each(items, 3, lambda item: item[0], str)
    assert [sum(item[0] == group for item in chosen) for group in "ab"] == [3, 3]
    assert chosen == sorted(chosen, key=items.index)
    assert set(chosen) == set(few_of_each(items[::-1], 3, lambda item: item[0], str)), "whatever the order"
    assert set(chosen) < set(few_of_each(items, 4, lambda item: item[0], str))
    assert set(chosen) != {f"{group}{number}" for number in range(3) for group in "ab"}
    cases = [replace(CASE, case_id=f"c-{n}", category="xy"[n % 2]) for n in range(9)]
    assert [case.category for case in few_cases(cases, 1)] in (["x", "y"], ["y", "x"])


def test_equal_ids_get_a_hash_of_what_the_cases_say() -> None:
    other = replace(CASE, prompts=(Prompt(role="a", text="a dog"),))
    labelled = replace(CASE, labels={"law": "x"})
    single = replace(CASE, case_id="single")
    made = with_distinct_ids(case for case in (CASE, other, labelled, single))
    assert made[3] is single
    ids = [case.case_id for case in made[:3]]
    assert len(set(ids)) == 3
    assert all(len(case_id) == len("c-12345678") and case_id.startswith("c-") for case_id in ids)
    assert [replace(case, case_id="c") for case in made[:3]] == [CASE, other, labelled]
