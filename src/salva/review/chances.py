"""Samples by category: the chance of each case, and weights that undo it.

Rows that people filled in come in; weights go out, by which figures of the sample become figures of the whole run.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence

from salva.core.case import Case
from salva.messages import message
from salva.review.cells import as_number

CHANCE = "chance"
"""The column with the share of its category's cases that were drawn."""


def drawn_cases(cases: Iterable[Case], per_category: int, seed: int) -> dict[str, float]:
    """So many cases of each category, each with its chance; a larger sample by the same seed holds a smaller one."""
    by_category: dict[str, list[str]] = {}
    for case in cases:
        by_category.setdefault(case.category, []).append(case.case_id)
    chances: dict[str, float] = {}
    for category, ids in by_category.items():
        ids.sort()
        random.Random(f"{seed}/{category}").shuffle(ids)
        chances |= dict.fromkeys(ids[:per_category], min(1.0, per_category / len(ids)))
    return chances


def weights_of(chances: Sequence[float | None]) -> tuple[float, ...] | None:
    """What each item counts; None where nothing was sampled, or not every chance is known."""
    sampled = [chance for chance in chances if chance is not None]
    if len(sampled) < len(chances) or len(set(sampled)) < 2:
        return None
    return tuple(1 / chance for chance in sampled)


def chance_in(row: Mapping[str, str]) -> float | None:
    """The chance that a row states; None where that is no chance."""
    chance = as_number(row.get(CHANCE, ""))
    return chance if chance is not None and 0 < chance <= 1 else None


def chance_note(rows: Sequence[Mapping[str, str]]) -> tuple[str, ...]:
    """The note for rows of which only some state their chance."""
    n_known = sum(chance_in(row) is not None for row in rows)
    return (message("chance-missing", n=len(rows) - n_known, total=len(rows)),) if 0 < n_known < len(rows) else ()
