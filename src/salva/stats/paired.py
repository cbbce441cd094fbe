"""Differences of two rates or means over the same cases.

Numbers in, numbers out. A case is what counts: its repeats are taken together, and its two sides are subtracted before
anything is averaged, so that what makes a case hard for both sides is in neither interval.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import erf, sqrt

from salva.stats.intervals import MIN_CLUSTERS, Interval, t_95, t_within
from salva.stats.rates import Counted, Spread, by_category, difference_spread, jackknife, macro, without_entities

_Z_POWER = 0.8416212335729143
"""The normal quantile of 0.8, the chance to show a difference that is there which `detectable` stands for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """The second side less the first, a mean over categories."""

    value: float
    interval: Interval
    """95 %: these prompts, other seeds."""
    half_width: float
    """Of the interval, before it is cut to what a difference can be."""
    t: float
    """The quantile that the interval was made with."""
    interval_entities: Interval | None
    """95 %: prompts like these, other entities."""
    why_no_entities: str
    p: float
    """Of no difference, two-sided, by the same variance."""
    detectable: float
    """The smallest difference that so many pairs show with 80 % power."""
    effect_size: float | None
    """In standard deviations of the cases' differences; None where they have none."""


def paired_difference(
    cases: Sequence[Counted], *, is_share: bool = True, reach: float | None = 1.0
) -> Difference | None:
    """How far apart the two sides are; None with fewer than five.

    cases: n_hits is the second side's sum over the repeats that both sides have, less the first's.
    is_share: whether sides are shares of hits. reach: the largest difference there can be; None where there is none.
    """
    if len(cases) < MIN_CLUSTERS:
        return None
    value, spread = macro(cases), spread_of(cases, is_share=is_share)
    assert value is not None
    assert spread is not None
    left = without_entities(cases)
    half = t_95(spread.degrees) * sqrt(spread.variance)
    # Each entity is left out in turn; never surer than for other seeds, whose degrees of freedom may be fewer.
    others = None if isinstance(left, str) else t_95(len(left) - 1) * sqrt(max(jackknife(left), spread.variance))
    each = [case.rate for case in cases]
    centre = sum(each) / len(each)
    deviation = sqrt(sum((one - centre) ** 2 for one in each) / (len(each) - 1))
    return Difference(
        value=value,
        interval=_around(value, half, reach),
        half_width=half,
        t=t_95(spread.degrees),
        interval_entities=None if others is None else _around(value, max(half, others), reach),
        why_no_entities=left if isinstance(left, str) else "",
        p=p_value(value, spread),
        detectable=detectable(spread),
        effect_size=value / deviation if deviation > 0 else None,
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
    """The smallest difference whose interval excludes 0 with 80 % power."""
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


def _around(value: float, half: float, reach: float | None) -> Interval:
    interval = Interval(low=value - half, high=value + half)
    return interval if reach is None else interval.clipped(-reach, reach)
