"""The failure rate of results: averaged over categories, with its intervals, bounds and counts.

Results in, figures out. How sure a rate is, salva.stats says; docs/explanation/statistics.md has the formulas.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from salva.core.case import Case
from salva.core.grouping import group_by
from salva.core.result import Result, counted
from salva.core.verdict import Outcome
from salva.errors import FormulaError
from salva.logic.formula import entities
from salva.logic.notation import parse
from salva.stats.intervals import Z_95, Interval
from salva.stats.rates import Counted, entities_interval, kish_n, macro, n_effective, seeds_interval

MACRO, POOLED = "macro", "pooled"


class _Counts:
    """How many results there are of each outcome."""

    __slots__ = ()
    counts: dict[Outcome, int]

    @property
    def n(self) -> int:
        """Decided results."""
        return self.counts[Outcome.PASS] + self.counts[Outcome.FAIL]

    @property
    def total(self) -> int:
        """All results."""
        return sum(self.counts.values())

    @property
    def failed(self) -> int:
        """Results that are a FAIL."""
        return self.counts[Outcome.FAIL]


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoryCount(_Counts):
    """The results of one category."""

    name: str
    counts: dict[Outcome, int]

    @property
    def rate(self) -> float | None:
        """The share of FAIL among the decided; None without any."""
        return self.failed / self.n if self.n else None


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureRate(_Counts):
    """How often cases failed, and how sure that is."""

    counts: dict[Outcome, int] = field(default_factory=lambda: dict.fromkeys(Outcome, 0))
    average: str = MACRO
    rate: float | None = None
    """The mean over categories, or the plain share; None where nothing is decided."""
    interval: Interval | None = None
    """95 %: these prompts, other seeds."""
    interval_entities: Interval | None = None
    """95 %: prompts like these about other entities."""
    why_no_entities: str = ""
    bounds: Interval | None = None
    """The rate with UNDECIDED and ERROR as PASS, and as FAIL."""
    n_effective: float = 0.0
    kish: float = 0.0
    """The number of decided results in even categories that would weigh as much."""
    categories: tuple[CategoryCount, ...] = ()

    @property
    def coverage(self) -> float | None:
        """The share of results that are decided; None without results."""
        return self.n / self.total if self.total else None

    @property
    def n_averaged(self) -> int:
        """How many categories the rate is a mean of."""
        return sum(bool(category.n) for category in self.categories) if self.average == MACRO else 1


def failure_rate(results: Sequence[Result], average: str = MACRO) -> FailureRate:
    """The failure rate of results, averaged over their categories or pooled."""
    if not results:
        return FailureRate(average=average)
    cases = counted_cases(results, average)
    entities_ends = entities_interval(cases)
    low, high = (macro(counted_cases(results, average, is_fail)) for is_fail in (False, True))
    return FailureRate(
        counts=counted(results),
        average=average,
        rate=macro(cases),
        interval=seeds_interval(cases),
        interval_entities=entities_ends if isinstance(entities_ends, Interval) else None,
        why_no_entities="" if isinstance(entities_ends, Interval) else entities_ends,
        bounds=Interval(low=low, high=high) if low is not None and high is not None else None,
        n_effective=n_effective(cases) if cases else 0.0,
        kish=kish_n(cases) if cases else 0.0,
        categories=categories_of(results),
    )


def categories_of(results: Iterable[Result]) -> tuple[CategoryCount, ...]:
    """The results of each category, in order of first appearance."""
    groups = group_by(results, lambda result: result.case.category)
    return tuple(CategoryCount(name=name, counts=counted(group)) for name, group in groups.items())


def counted_cases(results: Iterable[Result], average: str, undecided: bool | None = None) -> list[Counted]:
    """Each case with its decided repeats; undecided: what UNDECIDED and ERROR count as, None to leave them out."""
    cases: dict[str, Case] = {}
    hits: dict[str, list[bool]] = {}
    for result in results:
        is_hit = result.is_fail if result.is_decided else undecided
        if is_hit is not None:
            cases[result.case.case_id] = result.case
            hits.setdefault(result.case.case_id, []).append(is_hit)
    return [
        Counted(
            category=cases[name].category if average == MACRO else "",
            entities=entities_of(cases[name]),
            n_hits=sum(each),
            n=len(each),
        )
        for name, each in hits.items()
    ]


def ends_either_way(results: Sequence[Result], average: str, z: float = Z_95) -> Interval | None:
    """The lower end with UNDECIDED and ERROR as PASS, and the upper end with them as FAIL: what a gate goes by."""
    as_pass, as_fail = (seeds_interval(counted_cases(results, average, is_fail), z) for is_fail in (False, True))
    return None if as_pass is None or as_fail is None else Interval(low=as_pass.low, high=as_fail.high)


def entities_of(case: Case) -> tuple[str, ...]:
    """What a case is about: the entities its formulas name; without formulas, its cluster."""
    return named_in(tuple(prompt.formula for prompt in case.prompts)) or (case.cluster or case.case_id,)


@lru_cache(maxsize=16384)
def named_in(notations: tuple[str | None, ...]) -> tuple[str, ...]:
    """The entities that formulas name, sorted."""
    try:
        return tuple(sorted({name for notation in notations if notation for name in entities(parse(notation))}))
    except FormulaError:
        # A run that somebody else made may hold anything; what cannot be read names nothing.
        return ()
