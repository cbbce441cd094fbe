"""Two intervals of a rate: these prompts with other seeds, and prompts like these about other entities.

Counts in, numbers out. A rate is the mean over categories of each category's share of hits (one category: the plain
share). Intervals are Wilson's at an effective number of cases n = r (1 - r) / V, where V is the variance that the
question at hand implies. docs/explanation/statistics.md has the formulas and how well they cover.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import sqrt

from salva.core.grouping import group_by
from salva.stats.intervals import MIN_CLUSTERS, Z_95, Interval, t_95, wilson
from salva.stats.means import variance

LEAST_CORRELATION = 0.1
"""Cases of one cluster are taken to be at least this much alike, whatever few of them happen to show."""
PRIOR_CASES = 8
"""So many cases' worth of the overall rate's variance stand beside what a category shows itself."""
_FEW_HITS = 8
Z_90 = 1.6448536269514722
"""The normal quantile of a one-sided 95 % end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """One case: how often it was decided, and how often it was a hit."""

    category: str
    entities: tuple[str, ...] = ()
    """What it is about; cases that share an entity rise and fall together."""
    n_hits: float
    """Whole where hits are counted; of paired differences their sum."""
    n: int
    """Decided repeats; at least 1."""

    @property
    def rate(self) -> float:
        """Its share of hits."""
        return self.n_hits / self.n


def macro(cases: Iterable[Counted]) -> float | None:
    """The mean over categories of their shares of hits; None without cases."""
    shares = [share(group) for group in by_category(cases).values()]
    return sum(shares) / len(shares) if shares else None


def share(cases: Sequence[Counted]) -> float:
    """The plain share of hits."""
    return sum(case.n_hits for case in cases) / sum(case.n for case in cases)


def by_category(cases: Iterable[Counted]) -> dict[str, list[Counted]]:
    """Cases by category, in order of first appearance."""
    return group_by(cases, lambda case: case.category)


def seeds_interval(cases: Sequence[Counted], z: float = Z_95) -> Interval | None:
    """95 %: these prompts, other seeds. None without cases. z: of one look of several, where it is wider than 95 %."""
    rate = macro(cases)
    return None if rate is None else rate_interval(rate, n_effective(cases), z)


def n_effective(cases: Sequence[Counted]) -> float:
    """The number of evenly spread verdicts that would know the rate as well: r (1 - r) / V, and Kish's at 0 and 1."""
    hits = sum(case.n_hits for case in cases)
    if hits in (0, sum(case.n for case in cases)):
        return kish_n(cases)
    rate = macro(cases)
    assert rate is not None
    return rate * (1 - rate) / seeds_variance(cases)


def kish_n(cases: Iterable[Counted]) -> float:
    """The number of verdicts in categories of one size that would weigh as much: T^2 / sum 1/n_t."""
    sizes = [sum(case.n for case in group) for group in by_category(cases).values()]
    return len(sizes) ** 2 / sum(1 / n for n in sizes)


def seeds_variance(cases: Sequence[Counted]) -> float:
    """V = sum_t [(ss_t + 8 r (1 - r)) / (df_t + 8)] / (n_t T^2): each category's variance, drawn towards the rate's.

    With repeats the spread of a case over its seeds counts, not that between cases; so repeats narrow the interval.
    """
    rate = macro(cases)
    if rate is None:
        return 0.0
    groups = list(by_category(cases).values())
    is_repeated = any(case.n > 1 for case in cases)
    prior = PRIOR_CASES * rate * (1 - rate)
    total = 0.0
    for group in groups:
        n = sum(case.n for case in group)
        if is_repeated:
            squares = sum(case.n * case.rate * (1 - case.rate) for case in group)
            degrees = sum(case.n - 1 for case in group)
        else:
            squares, degrees = n * share(group) * (1 - share(group)), n - 1
        total += (squares + prior) / (degrees + PRIOR_CASES) / n
    return total / len(groups) ** 2


def rate_interval(rate: float, n: float, z: float = Z_95) -> Interval:
    """Wilson's interval, with Poisson's ends where fewer than eight hits or misses stand behind it."""
    interval = wilson(rate, n, z)
    low = min(interval.low, _poisson_end(rate, n, z))
    high = max(interval.high, 1 - _poisson_end(1 - rate, n, z))
    return Interval(low=low, high=high).clipped(0.0, 1.0)


def _poisson_end(rate: float, n: float, z: float) -> float:
    """The lower end of a share by Poisson's interval of its hits; 1 where there are enough of them for Wilson's."""
    hits = rate * n
    if hits >= _FEW_HITS:
        return 1.0
    if hits <= 0:
        return 0.0
    root = 1 - 1 / (9 * hits) - Z_90 * z / Z_95 / (3 * sqrt(hits))
    return hits * max(0.0, root) ** 3 / n


def share_interval(cases: Sequence[Counted]) -> Interval | None:
    """95 % of a plain share: these prompts, other seeds. None without cases.

    Where all categories have as many verdicts, share and mean over categories are one figure, and this is its interval.
    Elsewhere categories are put together, which is never too narrow: a small one that is all hits or none would count
    as certain beside a large one.
    """
    sizes = {sum(case.n for case in group) for group in by_category(cases).values()}
    return seeds_interval(cases if len(sizes) <= 1 else [replace(case, category="") for case in cases])


def entities_interval(cases: Sequence[Counted]) -> Interval | str:
    """95 %: prompts like these, other entities; or the reason why nobody can say.

    Each entity in turn is left out with every case about it, and the whole statistic computed again (delete-one
    jackknife): V = (G - 1) / G sum (r_-g - mean)^2, never below the seeds' variance, with Student's t at G - 1.
    """
    rate = macro(cases)
    if rate is None:
        return "no case is decided"
    rates = without_entities(cases)
    if isinstance(rates, str):
        return rates
    variance = max(jackknife(rates), seeds_variance(cases))
    n = rate * (1 - rate) / variance if variance > 0 and 0 < rate < 1 else kish_n(cases)
    inner = seeds_interval(cases)
    assert inner is not None
    outer = wilson(rate, n, t_95(len(rates) - 1))
    return Interval(low=min(inner.low, outer.low), high=max(inner.high, outer.high))


def without_entities(cases: Sequence[Counted]) -> list[float] | str:
    """The mean over categories without each entity in turn, or the reason why that says nothing."""
    entities = sorted({entity for case in cases for entity in case.entities})
    if len(entities) < MIN_CLUSTERS:
        return f"it takes {MIN_CLUSTERS} different entities, and these prompts are about {len(entities)}"
    if not any(len({case.entities for case in group}) > 1 for group in by_category(cases).values()):
        return "every category is about one set of entities only"
    rates = _left_out(cases, entities)
    return rates if len(rates) >= MIN_CLUSTERS else "leaving out one entity leaves no case"


def clusters_interval(clusters: Sequence[Counted]) -> Interval | None:
    """95 % of a plain share over clusters that share nothing; None with fewer than five of them.

    A cluster is a Counted of all its cases together.
    """
    filled = [cluster for cluster in clusters if cluster.n]
    if len(filled) < MIN_CLUSTERS:
        return None
    rate, n = share(filled), sum(cluster.n for cluster in filled)
    n_hits = sum(cluster.n_hits for cluster in filled)
    rates = [(n_hits - cluster.n_hits) / (n - cluster.n) for cluster in filled]
    variance = jackknife(rates)
    least = 1 + LEAST_CORRELATION * (sum(cluster.n**2 for cluster in filled) / n - 1)
    n_effective = n / least
    if variance > 0:
        n_effective = min(n_effective, rate * (1 - rate) / variance)
    return wilson(rate, n_effective, t_95(len(filled) - 1))


def difference_interval(differences: Mapping[str, Sequence[float]], n_repeats: float = 1) -> Interval | None:
    """95 % of the mean over categories of paired differences of shares, one a case; None of fewer than five cases.

    n_repeats: over how many a case's difference is a mean.
    """
    spread = difference_spread(differences, n_repeats)
    if spread is None:
        return None
    centre = sum(sum(group) / len(group) for group in differences.values()) / len(differences)
    half = t_95(spread.degrees) * sqrt(spread.variance)
    return Interval(low=centre - half, high=centre + half).clipped(-1.0, 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """How far a mean over categories of paired differences may lie from what other seeds would give."""

    variance: float
    degrees: int
    """Of freedom, for Student's t."""
    pure: float
    """The variance less what is added for differences that were not seen."""


def difference_spread(
    differences: Mapping[str, Sequence[float]], n_repeats: float = 1, *, is_share: bool = True
) -> Spread | None:
    """The variance behind the interval of paired differences, one a case; None of fewer than five cases.

    The same variance as a rate's, with Student's t: within categories, a category of one case taking the spread of all.
    To it comes what one more difference each way would add: none seen among few cases does not mean that there is none.
    is_share: whether a difference is one of shares, so that one that was not seen is as large as a repeat's.
    """
    everything = [value for group in differences.values() for value in group]
    if len(everything) < MIN_CLUSTERS:
        return None
    spread = variance(everything)
    variances = [(variance(group) if len(group) > 1 else spread) / len(group) for group in differences.values()]
    n_even = len(differences) ** 2 / sum(1 / len(group) for group in differences.values())
    pure = sum(variances) / len(differences) ** 2
    return Spread(
        variance=pure + 2 * _one_more(everything, n_repeats, is_share=is_share) / n_even**2,
        degrees=max(1, len(everything) - sum(len(group) > 1 for group in differences.values())),
        pure=pure,
    )


def one_more_repeat(n_repeats: float) -> float:
    """The square of what one more repeat that came out otherwise makes of a case's difference of shares."""
    return (1 + LEAST_CORRELATION * (n_repeats - 1)) / n_repeats**2


def _one_more(differences: Sequence[float], n_repeats: float, *, is_share: bool) -> float:
    """The square of one more difference: as large as those seen, and of shares at least that of one repeat."""
    seen = [value * value for value in differences if value]
    least = one_more_repeat(n_repeats) if is_share or not seen else 0.0
    return max(least, sum(seen) / len(seen) if seen else 0.0)


def _left_out(cases: Sequence[Counted], entities: Sequence[str]) -> list[float]:
    """The rate without each entity and every case about it; none where that leaves no case."""
    total: dict[str, list[float]] = {}
    about: dict[str, dict[str, list[float]]] = {entity: {} for entity in entities}
    for case in cases:
        for sums in (total, *(about[entity] for entity in set(case.entities))):
            hits_and_n = sums.setdefault(case.category, [0.0, 0.0])
            hits_and_n[0] += case.n_hits
            hits_and_n[1] += case.n
    rates = []
    for of_thing in about.values():
        shares = []
        for category, (n_hits, n) in total.items():
            taken_hits, taken = of_thing.get(category, (0, 0))
            if n > taken:
                shares.append((n_hits - taken_hits) / (n - taken))
        if shares:
            rates.append(sum(shares) / len(shares))
    return rates


def jackknife(rates: Sequence[float]) -> float:
    """The variance that leaving out one at a time shows."""
    centre = sum(rates) / len(rates)
    return (len(rates) - 1) / len(rates) * sum((rate - centre) ** 2 for rate in rates)
