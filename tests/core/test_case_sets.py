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


@pytest.mark.parametrize(("n", "a_category", "n_few"), [(60, 10, 20), (60, 9, 18), (60, 1, 18), (9, 1, 9), (0, 3, 0)])
def test_a_few_cases_are_as_many_of_each_category_and_enough_to_be_a_size(n: int, a_category: int, n_few: int) -> None:
    cases = [replace(CASE, case_id=f"c-{i}", category="xy"[i % 2]) for i in range(n)]
    few = few_cases(cases, a_category)
    assert len(few) == n_few
    assert abs(sum(1 if case.category == "x" else -1 for case in few)) <= 1


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
