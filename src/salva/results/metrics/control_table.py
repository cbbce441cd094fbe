"""What the crossed control shows: how often two images differ, by wording and seed."""

from __future__ import annotations

from collections.abc import Sequence

from salva.core.judgements import CaseVerdict
from salva.core.table import Cell, Table
from salva.results.control import Excess, excess_of
from salva.results.headline import main_observers
from salva.results.tables import TableColumns, build_table, ends, group_by
from salva.results.tally import tally

EXCESS: TableColumns[Excess] = TableColumns(
    ("n", "differs_between", "differs_within_a", "differs_within_b", "squared_distance", "low", "high"),
    lambda excess: (
        *(excess.n, excess.between, excess.within_a, excess.within_b, excess.excess),
        *ends(excess.interval),
    ),
)


def control_table(controls: Sequence[CaseVerdict], pairs: Sequence[CaseVerdict]) -> Table | None:
    """How far apart the wordings are by check, and their disagreement at the same seed."""
    main = main_observers(pairs)
    groups = group_by(controls, lambda judged: judged.verdict.check)
    measured = [(check, excess) for check, group in groups.items() if (excess := excess_of(group)) is not None]

    def same_seed(check: str) -> tuple[Cell, ...]:
        compared = {judged.case.case_id for judged in groups[check]}
        of_check = (judged for judged in pairs if judged.verdict.check == check)
        mine = (judged for judged in of_check if judged.verdict.observers == main[check])
        rate = tally(judged for judged in mine if judged.case.case_id in compared)
        return (rate.rate, *ends(rate.interval()))

    return build_table(
        "control",
        ("check",),
        [((check,), (check, excess)) for check, excess in measured],
        TableColumns(EXCESS.names, lambda row: EXCESS.cells(row[1])),
        TableColumns(("same_seed_rate", "same_seed_low", "same_seed_high"), lambda row: same_seed(row[0])),
        note="How often two images differ: other wording and other seed, same wording and other seed. The first less "
        "the mean of the others is half the squared distance of what the two wordings show. same_seed_rate: two "
        "wordings under one seed.",
    )
