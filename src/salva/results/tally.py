"""Results to counts: rates over any group of them.

Takes results, gives counted outcomes with intervals. Knows no suite and no label; the caller groups the results.
"""

from __future__ import annotations

from collections.abc import Iterable

from salva.core.case import Case
from salva.core.judgements import CaseVerdict
from salva.core.result import Result
from salva.core.table import Cell
from salva.core.verdict import Outcome
from salva.results.rates import MACRO, counted_cases
from salva.stats.rates import macro, share_interval

RATE_COLUMNS = ("n", "failed", "rate", "low", "high", "undecided")
RATE_NOTE = "Rates here are plain shares, with their 95 % interval for other seeds."


def rate_cells(group: Iterable[Result]) -> tuple[Cell, ...]:
    """The values under RATE_COLUMNS."""
    results = list(group)
    decided = [result for result in results if result.is_decided]
    n_failed = sum(result.is_fail for result in decided)
    interval = share_interval(counted_cases(decided, MACRO))
    low, high = (interval.low, interval.high) if interval else (None, None)
    rate = n_failed / len(decided) if decided else None
    return (len(decided), n_failed, rate, low, high, len(results) - len(decided))


def mean_of_categories(group: Iterable[Result]) -> float | None:
    """The mean over categories of their shares of FAIL; None where nothing is decided."""
    return macro(counted_cases(group, MACRO))


def results_of_check(pairs: Iterable[CaseVerdict]) -> list[Result]:
    """Verdicts of one check as if each of them made the result of its case."""
    return [
        Result(
            case=case,
            repeat=verdict.repeat,
            model=verdict.model,
            outcome=verdict.outcome,
            check=verdict.check,
            verdict=verdict,
            reason=verdict.reason,
        )
        for case, verdict in pairs
    ]


def cluster_of(case: Case) -> str:
    """The cluster a case counts towards; a case that names none stands alone."""
    return case.cluster or case.case_id


def n_decided(group: Iterable[Result]) -> int:
    """How many of them enter a rate."""
    return sum(result.outcome in (Outcome.PASS, Outcome.FAIL) for result in group)
