"""What the crossed control shows: how often two images differ, by wording and seed."""

from __future__ import annotations

from salva.core.judgements import CaseVerdict, Judgements
from salva.core.table import Cell, Table
from salva.results.control import Excess, excess_of
from salva.results.tables import TableColumns, build_table, ends, group_by
from salva.results.tally import rate_cells, results_of_check

EXCESS: TableColumns[Excess] = TableColumns(
    ("n", "differs_between", "differs_within_a", "differs_within_b", "squared_distance", "low", "high"),
    lambda excess: (
        *(excess.n, excess.between, excess.within_a, excess.within_b, excess.excess),
        *ends(excess.interval),
    ),
)


def control_table(judgements: Judgements) -> Table | None:
    """How far apart the wordings are by check, and their disagreement at the same seed."""
    units: dict[tuple[str, str, int], CaseVerdict] = {}
    for control in judgements.controls:
        units.setdefault((control.verdict.check, control.case.case_id, control.verdict.repeat), control)
    groups = group_by(units.values(), lambda control: control.verdict.check)
    measured = [(check, excess) for check, group in groups.items() if (excess := excess_of(group)) is not None]

    def same_seed(check: str) -> tuple[Cell, ...]:
        compared = {control.case.case_id for control in groups[check]}
        mine = (pair for pair in judgements.of_check(check) if pair.case.case_id in compared)
        return rate_cells(results_of_check(mine))[2:5]

    return build_table(
        "control",
        ("check",),
        [((check,), (check, excess)) for check, excess in measured],
        TableColumns(EXCESS.names, lambda row: EXCESS.cells(row[1])),
        TableColumns(("same_seed_rate", "same_seed_low", "same_seed_high"), lambda row: same_seed(row[0])),
        note="How often two images differ. squared_distance: differs_between less the mean of differs_within.",
    )
