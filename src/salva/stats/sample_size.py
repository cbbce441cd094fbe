"""The number of pairs that a half-width or a difference needs.

Numbers in, numbers out. A variance shrinks as cases are added to every category alike; with repeats only the part of it
shrinks that repeats of one case show.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil

from salva.stats.means import variance as variance_of
from salva.stats.paired import detectable
from salva.stats.rates import PRIOR_CASES, Spread, rate_interval

_LARGEST = 1024.0
MOST_PAIRS = 10_000_000
"""Beyond this an answer is "more than anybody has"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VarianceParts:
    """The variance of a case's mean over its repeats, taken apart, as a mean within categories."""

    between: float
    """What cases differ by, however often each is repeated."""
    within: float | None
    """What repeats of one case differ by, for a single one; None where no case was repeated, and `between` is all."""

    def total(self, n_repeats: float) -> float:
        """The variance of a case's mean over so many repeats; without repeats to go by, that of one."""
        return self.between if self.within is None else self.between + self.within / n_repeats

    def times(self, factor: float) -> VarianceParts:
        """So many times as much of it."""
        return VarianceParts(
            between=factor * self.between, within=None if self.within is None else factor * self.within
        )


def beside_worse(single: VarianceParts, rate: float, difference: float) -> VarianceParts:
    """That of the difference to another model that fails independently and is worse by so much.

    A rate nearer to a half has more variance: cases of the other have as much more as rates of their mean would.
    """
    if not 0 < rate < 1:
        return single.times(2.0)
    other = rate + difference if rate + difference < 1 else rate - difference
    return single.times(1 + max(0.0, other * (1 - other)) / (rate * (1 - rate)))


def parts_of(values: Mapping[str, Sequence[Sequence[float]]]) -> VarianceParts | None:
    """Values of cases by category, repeats apart; None where no category has two cases."""
    groups = [group for group in values.values() if len(group) > 1]
    if not groups:
        return None
    n_repeats = sum(len(case) for group in groups for case in group) / sum(map(len, groups))
    spread = sum(variance_of([sum(case) / len(case) for case in group]) for group in groups) / len(groups)
    repeated = [[variance_of(case) for case in group if len(case) > 1] for group in groups]
    known = [sum(each) / len(each) for each in repeated if each]
    if not known:
        return VarianceParts(between=spread, within=None)
    within = sum(known) / len(known)
    return VarianceParts(between=max(0.0, spread - within / n_repeats), within=within)


def evenly(variance: float, n_pairs: float, n_categories: int, more: float = 1.0) -> Spread:
    """The spread of a difference whose cases have this variance, as many in every category.

    more: the square of one more difference each way, as intervals of differences allow for.
    """
    pure = variance / n_pairs
    degrees = max(1, round(n_pairs - (n_categories if n_pairs > n_categories else 0)))
    return Spread(variance=pure + 2 * more / n_pairs**2, degrees=degrees, pure=pure)


def fewest(is_enough: Callable[[int], bool], step: int = 1) -> int | None:
    """The smallest number of pairs, a multiple of step, that is enough; None where nobody has so many."""
    low, high = 0, step
    while not is_enough(high):
        low, high = high, high * 2
        if high > MOST_PAIRS:
            return None
    while high - low > step:
        middle = ceil((low + high) / 2 / step) * step
        if middle in (low, high):
            break
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high


def shown_by(variance_at: Callable[[float], float], n_pairs: float, n_categories: int, more: float = 1.0) -> float:
    """The smallest difference that so many pairs show with 80 % power; variance_at: of a case's, given a difference."""
    low, high = 0.0, 1.0
    while detectable(evenly(variance_at(high), n_pairs, n_categories, more)) > high and high < _LARGEST:
        low, high = high, 2 * high
    for _ in range(40):
        middle = (low + high) / 2
        if detectable(evenly(variance_at(middle), n_pairs, n_categories, more)) <= middle:
            high = middle
        else:
            low = middle
    return high


def pairs_for_difference(difference: float, variance: float, n_categories: int, more: float = 1.0) -> int | None:
    """How many pairs show a difference with 80 % power, as many in every category."""
    return fewest(lambda n: detectable(evenly(variance, n, n_categories, more)) <= difference, n_categories)


def pairs_for_half_width(
    half_width: float, rate: float, parts: VarianceParts, n_categories: int, n_repeats: int = 1
) -> int | None:
    """How many cases give a failure rate an interval that reaches so far each way."""
    return fewest(lambda n: half_of(rate, parts, n, n_categories, n_repeats) <= half_width, n_categories)


def half_of(rate: float, parts: VarianceParts, n_cases: int, n_categories: int, n_repeats: int = 1) -> float:
    """Half the width of a failure rate's interval under other seeds, with as many cases in every category.

    The variance is the interval's own: with repeats only what repeats of a case differ by, drawn towards the rate's.
    """
    prior = rate * (1 - rate)
    if n_repeats > 1 and parts.within is not None:
        variance, degrees, n = parts.within, n_cases / n_categories * (n_repeats - 1), n_cases * n_repeats
    else:
        variance, degrees, n = parts.total(1), max(0.0, n_cases / n_categories - 1), n_cases
    drawn = (variance * degrees + PRIOR_CASES * prior) / (degrees + PRIOR_CASES)
    interval = rate_interval(rate, n * prior / drawn if drawn > 0 and prior > 0 else n)
    return (interval.high - interval.low) / 2
