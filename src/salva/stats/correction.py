"""A failure rate corrected by people who reviewed a random part of the results.

Weights and people's labels by stratum come in, a share with its interval goes out. The share is of all results, those
that observers could not decide included. docs/explanation/statistics.md has the formulas and how well they cover.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from math import fsum

from salva.stats.intervals import Interval
from salva.stats.rates import rate_interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Stratum:
    """Results of one kind, of which people reviewed a random part."""

    weight: float
    """What all its results weigh; the weights of all strata sum to 1."""
    share: float | None = None
    """The weighted share that people call FAIL; None where nobody reviewed any, or nobody could tell."""
    n: float = 0.0
    """The number of reviewed results of even weight that would know the share as well."""
    bounds: tuple[float, float] = (0.0, 1.0)
    """The share if all that people cannot tell is PASS, and if it is FAIL."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectedRate:
    """A rate after correction."""

    rate: float | None
    """None where a stratum has no review."""
    interval: Interval
    bounds: Interval
    """The rate if all that is not known is PASS, and if it is FAIL."""


def stratum_of(weights: Collection[float], reviewed: Iterable[tuple[float, bool | None]]) -> Stratum:
    """A stratum of results; weights: of all of them, reviewed: weight and whether it is a FAIL, None if unclear."""
    given = list(reviewed)
    clear = [(weight, is_fail) for weight, is_fail in given if is_fail is not None]
    if not clear:
        return Stratum(weight=fsum(weights))
    return Stratum(
        weight=fsum(weights),
        share=_share(clear),
        n=kish(weight for weight, _ in clear),
        bounds=(_share([(w, bool(fail)) for w, fail in given]), _share([(w, fail is not False) for w, fail in given])),
    )


def _share(labels: Collection[tuple[float, bool]]) -> float:
    return fsum(weight for weight, is_fail in labels if is_fail) / fsum(weight for weight, _ in labels)


def kish(weights: Iterable[float]) -> float:
    """The number of results of even weight that would know as much: (sum w)^2 / sum w^2."""
    numbers = list(weights)
    return fsum(numbers) ** 2 / fsum(weight * weight for weight in numbers)


def correct_rate(strata: Sequence[Stratum], n: float) -> CorrectedRate:
    """The share of FAIL over all strata, 95 %: these prompts, other seeds.

    n: the number of results of even weight in the run. A stratum without reviews may be all PASS or all FAIL.
    """
    low, high = ([assumed if one.share is None else one.share for one in strata] for assumed in (0.0, 1.0))
    rate = None if any(one.share is None for one in strata) else _sum(strata, low)
    interval = Interval(low=_interval(strata, low, n).low, high=_interval(strata, high, n).high)
    least, most = (_sum(strata, [one.bounds[end] for one in strata]) for end in (0, 1))
    return CorrectedRate(rate=rate, interval=interval, bounds=Interval(low=least, high=most))


def _interval(strata: Sequence[Stratum], shares: Sequence[float], n: float) -> Interval:
    rate = _sum(strata, shares)
    # Two labels more, one of each kind: what all reviewers agree on is still no certainty.
    pulled = [
        share if one.share is None else (share * one.n + 1) / (one.n + 2)
        for one, share in zip(strata, shares, strict=True)
    ]
    variance = fsum(one.weight * (share - rate) ** 2 for one, share in zip(strata, shares, strict=True)) / n
    variance += fsum(
        one.weight**2 * share * (1 - share) / one.n
        for one, share in zip(strata, pulled, strict=True)
        if one.share is not None
    )
    for end in (0.0, 1.0):
        if all(share == end for share in shares):
            near = _sum(strata, pulled)
            return rate_interval(end, min(n, near * (1 - near) / variance) if variance else n)
    return rate_interval(rate, rate * (1 - rate) / variance)


def _sum(strata: Sequence[Stratum], shares: Sequence[float]) -> float:
    # The weights sum to 1 but for rounding, which may not keep a rate from being 1.
    sums = fsum(one.weight * share for one, share in zip(strata, shares, strict=True))
    return sums / fsum(one.weight for one in strata)
