"""Differences of two rates or means over the same cases.

Numbers in, numbers out. A case is what counts: its repeats are taken together, and its two sides are subtracted before
anything is averaged, so that what makes a case hard for both sides is in neither interval.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import erf, sqrt

from salva.stats.intervals import Interval
from salva.stats.rates import Counted, Spread, by_category, difference_spread, jackknife, macro, without_entities
from salva.stats.student import t_95, t_within

POWER = 0.8
"""The chance to show a difference that is there which `detectable` stands for."""
_Z_POWER = 0.8416212335729143
"""The normal quantile of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Paired:
    """One case on both sides: sums over the repeats that both of them have."""

    category: str
    entities: tuple[str, ...] = ()
    """What it is about; cases that share an entity rise and fall together."""
    first: float
    second: float
    n: int
    """Repeats; at least 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """The second side less the first, a mean over categories."""

    value: float
    interval: Interval | None
    """95 %: these prompts, other seeds; None of a single case."""
    interval_entities: Interval | None
    """95 %: prompts like these, other entities."""
    why_no_entities: str
    p: float | None
    """Of no difference, two-sided, by the same variance; None of a single case."""
    detectable: float | None
    """The smallest difference that so many pairs show with the chance POWER; None of a single case."""
    standardised: float | None
    """In standard deviations of the cases' differences; None where they have none."""


def paired_difference(cases: Sequence[Paired], *, is_share: bool = True) -> Difference | None:
    """How far apart the two sides are; None without cases. is_share: whether sides are shares of hits."""
    counted = [
        Counted(category=case.category, entities=case.entities, n_hits=case.second - case.first, n=case.n)
        for case in cases
    ]
    value = macro(counted)
    if value is None:
        return None
    spread = spread_of(counted, is_share=is_share)
    entities = _entities(counted, value, spread, is_share=is_share)
    each = [case.rate for case in counted]
    centre = sum(each) / len(each)
    deviation = sqrt(sum((one - centre) ** 2 for one in each) / max(1, len(each) - 1))
    return Difference(
        value=value,
        interval=None if spread is None else _around(value, spread.variance, spread.degrees, is_share=is_share),
        interval_entities=entities if isinstance(entities, Interval) else None,
        why_no_entities="" if isinstance(entities, Interval) else entities,
        p=None if spread is None else p_value(value, spread),
        detectable=None if spread is None else detectable(spread),
        standardised=value / deviation if deviation > 0 else None,
    )


def spread_of(differences: Sequence[Counted], *, is_share: bool = True) -> Spread | None:
    """The variance of the mean over categories of cases' differences."""
    each = {name: [case.rate for case in group] for name, group in by_category(differences).items()}
    n_repeats = sum(case.n for case in differences) / max(1, len(differences))
    return difference_spread(each, n_repeats, is_share=is_share)


def p_value(value: float, spread: Spread) -> float:
    """How likely a difference as large is where there is none, two-sided, by Student's t."""
    return max(0.0, 1 - t_within(abs(value) / sqrt(spread.variance), spread.degrees))


def detectable(spread: Spread) -> float:
    """The smallest difference whose interval excludes 0 with the chance POWER."""
    return t_95(spread.degrees) * sqrt(spread.variance) + _Z_POWER * sqrt(spread.pure or spread.variance)


def chance_to_show(difference: float, spread: Spread, margin: float = 0.0) -> float:
    """The chance that an interval lies wholly above the margin where the true difference is this."""
    true = sqrt(spread.pure or spread.variance)
    reach = t_95(spread.degrees) * sqrt(spread.variance)
    return (1 + erf((difference - margin - reach) / true / sqrt(2))) / 2


def holm(p_values: Mapping[str, float | None]) -> dict[str, float | None]:
    """Holm's adjusted p-values: each may be read as if it were the only one asked."""
    known = sorted((p, name) for name, p in p_values.items() if p is not None)
    adjusted: dict[str, float | None] = dict.fromkeys(p_values)
    highest = 0.0
    for rank, (p, name) in enumerate(known):
        highest = max(highest, min(1.0, p * (len(known) - rank)))
        adjusted[name] = highest
    return adjusted


def pseudo_values(
    sums: Sequence[Sequence[float]], counts: Sequence[int], figure: Callable[[Sequence[float]], float | None]
) -> list[float] | None:
    """What each case adds to a figure of means, so that their mean is the figure: the jackknife's pseudo-values.

    sums: of every case, as many numbers each, over so many repeats as counts says. figure: of the means. None where
    the figure is not defined, or not without one of the cases.
    """
    n, totals = len(sums), [sum(column) for column in zip(*sums, strict=True)]
    n_repeats = sum(counts)
    whole = figure([total / n_repeats for total in totals]) if n_repeats else None
    if whole is None or n < 2:
        return None if whole is None else [whole]
    values = []
    for case, count in zip(sums, counts, strict=True):
        rest = figure([(total - own) / (n_repeats - count) for total, own in zip(totals, case, strict=True)])
        if rest is None:
            return None
        values.append(n * whole - (n - 1) * rest)
    return values


def _entities(counted: Sequence[Counted], value: float, spread: Spread | None, *, is_share: bool) -> Interval | str:
    """For prompts like these about other entities: each entity left out in turn, never surer than for other seeds."""
    left = without_entities(counted)
    if isinstance(left, str):
        return left
    if spread is None:
        return "it takes two cases"
    return _around(value, max(jackknife(left), spread.variance), len(left) - 1, is_share=is_share)


def _around(value: float, variance: float, degrees: int, *, is_share: bool) -> Interval:
    half = t_95(degrees) * sqrt(variance)
    low, high = value - half, value + half
    return Interval(low=max(-1.0, low), high=min(1.0, high)) if is_share else Interval(low=low, high=high)
