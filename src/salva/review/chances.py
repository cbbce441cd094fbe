"""How likely each rated thing was to be on the sheet: a sample by category gives small ones more than their share.

Rows that people filled in come in; weights go out, by which figures of the sample become figures of the whole run.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence

from salva.core.case import Case
from salva.review.rating_cells import as_number, column_key

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
    """What each thing counts; None where nothing was sampled, or not every chance is known."""
    sampled = [chance for chance in chances if chance is not None]
    if len(sampled) < len(chances) or len(set(sampled)) < 2:
        return None
    return tuple(1 / chance for chance in sampled)


def chance_in(row: Mapping[str, str]) -> float | None:
    """What a row says of its chance; None where that is no chance."""
    cell = next((cell for name, cell in row.items() if column_key(name) == CHANCE), "")
    chance = as_number(cell)
    return chance if chance is not None and 0 < chance <= 1 else None


def chance_note(rows: Sequence[Mapping[str, str]]) -> tuple[str, ...]:
    """What to tell where some rows say their chance and others do not."""
    n_known = sum(chance_in(row) is not None for row in rows)
    if not n_known or n_known == len(rows):
        return ()
    return (f"{len(rows) - n_known} of {len(rows)} rows have no {CHANCE} above 0 and up to 1; nothing is reweighted",)
