"""Verdicts to counts: rates over any group of them.

Takes verdicts beside their cases, gives counted outcomes with intervals and bounds. Knows no suite and no label;
whoever groups verdicts says by what.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

from salva.core.case import Case
from salva.core.judgements import CaseVerdict
from salva.core.table import Cell
from salva.core.verdict import Outcome
from salva.stats.intervals import Interval, implied_bounds
from salva.stats.rates import Counted, macro, seeds_interval, share_interval

RATE_COLUMNS = ("n", "failed", "rate", "low", "high", "undecided")
RATE_NOTE = "Rates here are plain shares; low and high are their 95 % interval for these prompts under other seeds."

GroupKey = TypeVar("GroupKey", bound=Hashable)


class CategoryMean(NamedTuple):
    """The unweighted mean of category rates, without an interval."""

    rate: float | None
    n_categories: int


@dataclass(slots=True)
class Tally:
    """Outcomes counted, with the cases they came from."""

    outcomes: Counter[Outcome] = field(default_factory=Counter)
    hits: Counter[str] = field(default_factory=Counter)
    """Case to failed verdicts."""
    decided: Counter[str] = field(default_factory=Counter)
    """Case to verdicts that enter the rate."""
    cases: dict[str, Case] = field(default_factory=dict)
    """Those that have any."""

    def add(self, judged: CaseVerdict) -> None:
        """Count one verdict."""
        outcome, name = judged.verdict.outcome, judged.case.case_id
        self.outcomes[outcome] += 1
        if outcome in (Outcome.PASS, Outcome.FAIL):
            self.cases[name] = judged.case
            self.decided[name] += 1
            self.hits[name] += outcome is Outcome.FAIL

    @property
    def n(self) -> int:
        """Verdicts that enter the rate."""
        return self.outcomes[Outcome.PASS] + self.outcomes[Outcome.FAIL]

    @property
    def failed(self) -> int:
        """Verdicts that say the check broke."""
        return self.outcomes[Outcome.FAIL]

    @property
    def undecided(self) -> int:
        """Verdicts that enter no rate."""
        return self.outcomes[Outcome.UNDECIDED] + self.outcomes[Outcome.ERROR]

    @property
    def rate(self) -> float | None:
        """Violated among decided; None when nothing was decided."""
        return self.failed / self.n if self.n else None

    def interval(self) -> Interval | None:
        """95 %: these prompts, other seeds, as of every rate; None where nothing was decided."""
        return share_interval(
            [
                Counted(category=case.category, n_hits=self.hits[name], n=self.decided[name])
                for name, case in self.cases.items()
            ]
        )

    def bounds(self) -> Interval | None:
        """The rate if all undecided held, and if all were failed."""
        return implied_bounds(self.failed, self.n, self.undecided)

    def cells(self) -> tuple[Cell, ...]:
        """The values under RATE_COLUMNS."""
        interval = self.interval()
        low, high = (interval.low, interval.high) if interval else (None, None)
        return (self.n, self.failed, self.rate, low, high, self.undecided)


@dataclass(frozen=True, slots=True, kw_only=True)
class MacroRate:
    """The unweighted mean of category rates."""

    rate: float | None
    interval: Interval | None
    n_categories: int


def cluster_of(case: Case) -> str:
    """The cluster a case counts towards; a case that names none stands alone."""
    return case.cluster or case.case_id


def tally(group: Iterable[CaseVerdict]) -> Tally:
    """All of them counted together."""
    total = Tally()
    for judged in group:
        total.add(judged)
    return total


def tally_by(group: Iterable[CaseVerdict], key: Callable[[CaseVerdict], GroupKey | None]) -> dict[GroupKey, Tally]:
    """Counted by group, in order of first appearance; a key of None leaves a verdict out."""
    groups: dict[GroupKey, Tally] = {}
    for judged in group:
        name = key(judged)
        if name is None:
            continue
        if name not in groups:
            groups[name] = Tally()
        groups[name].add(judged)
    return groups


def category_mean(group: Iterable[CaseVerdict]) -> CategoryMean:
    """The mean over categories of their rates; a category where nothing was decided is left out."""
    by_category = tally_by(group, lambda judged: judged.case.category).values()
    rates = [counted.rate for counted in by_category if counted.rate is not None]
    return CategoryMean(sum(rates) / len(rates) if rates else None, len(rates))


def macro_rate(group: Iterable[CaseVerdict]) -> MacroRate:
    """The mean over categories, with its interval for these prompts under other seeds."""
    cases: dict[str, tuple[str, list[bool]]] = {}
    for judged in group:
        if judged.verdict.outcome in (Outcome.PASS, Outcome.FAIL):
            _, hits = cases.setdefault(judged.case.case_id, (judged.case.category, []))
            hits.append(judged.verdict.outcome is Outcome.FAIL)
    counted = [Counted(category=category, n_hits=sum(hits), n=len(hits)) for category, hits in cases.values()]
    return MacroRate(
        rate=macro(counted), interval=seeds_interval(counted), n_categories=len({case.category for case in counted})
    )
