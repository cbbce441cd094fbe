"""What suites share when they make cases: ids, and small samples that are the same every time."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from salva.core.case import Case
from salva.core.fingerprint import fingerprint
from salva.core.grouping import group_by

Item = TypeVar("Item")
FEWEST_CASES = 18
"""What the smallest size of a suite has at least, where there are as many."""


def slug(text: str, empty: str = "") -> str:
    """A text in the letters of a case id; empty: what stands for a text that has none of them."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-") or empty


def few_of_each(
    items: Sequence[Item], n: int, group: Callable[[Item], str], name: Callable[[Item], str], fewest: int = 0
) -> list[Item]:
    """The first n of each group by a hash of their names, in the order of the items; more where that is too few."""
    groups = group_by(range(len(items)), lambda i: group(items[i]))
    chosen = {i for members in groups.values() for i in sorted(members, key=lambda i: fingerprint(name(items[i])))[:n]}
    if len(chosen) < min(fewest, len(items)):
        return few_of_each(items, n + 1, group, name, fewest)
    return [item for i, item in enumerate(items) if i in chosen]


def few_cases(cases: Sequence[Case], n: int) -> list[Case]:
    """The first n cases of each category by a hash of their ids; more of each where that gives too few to be a size."""
    return few_of_each(cases, n, lambda case: case.category, lambda case: case.case_id, FEWEST_CASES)


def with_distinct_ids(cases: Iterable[Case]) -> list[Case]:
    """The cases; equal ids get a hash of labels and prompts."""
    listed = list(cases)
    counts = Counter(case.case_id for case in listed)
    return [case if counts[case.case_id] == 1 else _with_hash(case) for case in listed]


def _with_hash(case: Case) -> Case:
    said = [{**case.labels}, *(prompt.text for prompt in case.prompts)]
    return replace(case, case_id=f"{case.case_id}-{fingerprint(said)[:8]}")
