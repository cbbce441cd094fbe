"""How often the intervals of rates, differences, clusters and kappa hold what they promise, by simulation.

    python bench/coverage.py [--runs 4000] [--only rates|repeats|differences|clusters|kappa]

Every cell is a world with a known answer: things (or clusters) differ by a random effect on the logit scale, cases are
drawn from it, and an interval is counted when it holds the answer. All runs of a cell are computed at once; the first
few of them are computed again by salva.stats, and must come out the same. Printed, for each answer: the share of runs
that hold it, the mean width, and in brackets the width in units of 3.92 true standard errors (1 would be ideal).
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, permutations, product
from math import isclose
from zlib import crc32

import numpy as np

from salva.stats.intervals import Z_95, Interval
from salva.stats.mean_intervals import mean_interval
from salva.stats.rates import (
    LEAST_CORRELATION,
    MIN_ENTITIES,
    Counted,
    clusters_interval,
    difference_interval,
    entities_interval,
    seeds_interval,
)
from salva.stats.student import t_95

RATES = (0.02, 0.05, 0.1, 0.2, 0.3, 0.5)
THINGS_A_CATEGORY = tuple(n for n in (2, 3, 3, 2, 2) for _ in range(4))
"""How many things the prompts of MetaLogic's 20 logic categories name: five laws by four modifiers."""
MOST_MISSED = 0.008
"""Two standard errors of a share of 93 % over 4,000 runs: a cell that shows so much less may still be right."""
WIDEST, WIDE_FROM = 1.5, 0.1
"""An interval may be so many times as wide as it need be, for rates from this."""
N_CHECKED = 5
_CHUNK = 200

Ends = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One row of the table."""

    what: str
    answer_for: str
    rate: float
    answer: str
    """What the rate is called over its column."""
    coverage: float
    width: float
    ratio: float
    demanded: float | None
    """The true coverage that is asked of it; None where nothing is."""
    is_rate: bool = True
    """Whether its width is held against the ideal too."""

    @property
    def verdict(self) -> str:
        """What of the demands it misses."""
        missed = []
        if self.demanded is not None and self.coverage < self.demanded - MOST_MISSED:
            missed.append(f"covers less than {self.demanded:.0%}")
        if self.demanded is not None and self.is_rate and self.rate >= WIDE_FROM and self.ratio > WIDEST:
            missed.append(f"wider than {WIDEST} times")
        return ", ".join(missed)


def cell(
    what: str,
    answer_for: str,
    rate: float,
    ends: Ends,
    answers: object,
    seen: object,
    demanded: float,
    *,
    is_rate: bool = True,
    answer: str = "",
) -> Cell:
    """The row of one kind of interval over all runs."""
    low, high = ends
    truth, estimate = np.asarray(answers, float), np.asarray(seen, float)
    width = float((high - low).mean())
    return Cell(
        what=what,
        answer_for=answer_for,
        rate=rate,
        answer=answer or f"{rate:g}",
        coverage=float(((low <= truth) & (truth <= high)).mean()),
        width=width,
        ratio=width / (3.92 * float(np.std(estimate - truth))),
        demanded=demanded or None,
        is_rate=is_rate,
    )


def same(ends: Ends, run: int, interval: Interval | str | None) -> None:
    """Stop where a run, computed by salva.stats, does not come out as it did here."""
    assert isinstance(interval, Interval), interval
    for mine, theirs in ((ends[0][run], interval.low), (ends[1][run], interval.high)):
        assert isclose(mine, theirs, abs_tol=1e-9), (run, ends[0][run], ends[1][run], interval)


def wilson_of(rate: np.ndarray, n: np.ndarray, quantile: float) -> Ends:
    """salva.stats.intervals.wilson, all runs at once."""
    z2 = quantile * quantile
    centre = (rate + z2 / (2 * n)) / (1 + z2 / n)
    half = quantile / (1 + z2 / n) * np.sqrt(np.maximum(0.0, rate * (1 - rate) / n + z2 / (4 * n * n)))
    low = np.where(rate <= 0, 0.0, np.maximum(0.0, centre - half))
    return low, np.where(rate >= 1, 1.0, np.minimum(1.0, centre + half))


def at_variance(rate: np.ndarray, variance: np.ndarray, n_even: float, quantile: float) -> Ends:
    """Wilson's at the effective number of cases that a variance implies."""
    is_inside = (variance > 0) & (rate > 0) & (rate < 1)
    n = np.where(is_inside, rate * (1 - rate) / np.where(is_inside, variance, 1.0), n_even)
    return wilson_of(rate, n, quantile)


def logistic(x: np.ndarray) -> np.ndarray:
    """The inverse of the logit."""
    inverse: np.ndarray = 1 / (1 + np.exp(-x))
    return inverse


def solved_intercept(rate: float, spread: np.ndarray) -> float:
    """The intercept at which the mean of logistic(intercept + spread) is the rate."""
    low, high = -15.0, 15.0
    while high - low > 1e-9:
        middle = (low + high) / 2
        low, high = (middle, high) if float(logistic(middle + spread).mean()) < rate else (low, middle)
    return (low + high) / 2


class Design:
    """MetaLogic's logic categories, paper and full alike: every ordered choice of things."""

    def __init__(self, n_things: int) -> None:
        self.n_things, self.n_categories = n_things, len(THINGS_A_CATEGORY)
        self.cases = [
            (category, things)
            for category, n in enumerate(THINGS_A_CATEGORY)
            for things in permutations(range(n_things), n)
        ]
        shape = (len(self.cases), self.n_categories)
        self.in_category, self.about = np.zeros(shape, np.float32), np.zeros((len(self.cases), n_things), np.float32)
        for index, (category, things) in enumerate(self.cases):
            self.in_category[index, category] = 1
            self.about[index, list(things)] = 1
        # What remains of a category when a thing is left out, all things side by side.
        self.left = np.concatenate([self.in_category * (1 - self.about[:, [g]]) for g in range(n_things)], axis=1)
        self.sizes = self.in_category.sum(axis=0).astype(float)
        self.n_even = self.n_categories**2 / float((1 / self.sizes).sum())
        # The effect on a case is the mean over its things, scaled so that each law varies as much as any other.
        self.weights = self.about / np.sqrt(self.about.sum(axis=1, keepdims=True))

    def counted(self, hits: np.ndarray, n_repeats: int) -> list[Counted]:
        """One run as salva.stats takes it."""
        return [
            Counted(category=str(category), entities=tuple(map(str, things)), n_hits=int(hit), n=n_repeats)
            for (category, things), hit in zip(self.cases, hits, strict=True)
        ]

    def seeds_variance(self, sums: np.ndarray, squares: np.ndarray, n_repeats: int) -> np.ndarray:
        """salva.stats.rates.seeds_variance; sums and squares of the cases' hits, by run and category."""
        k, n = n_repeats, self.sizes
        p = sums / (n * k)
        within = p * (1 - p) / n
        if k > 1:
            within = n / (n - 1) * (squares - 2 * p * k * sums + n * (p * k) ** 2) / (n * k) ** 2
        pooled = sums.sum(axis=1) / (n.sum() * k)
        smoothed = (sums / k + 0.5) / (n + 1)
        is_flat = ~(within > 1e-12).any(axis=1) & (pooled > 0) & (pooled < 1)
        within = np.where(is_flat[:, None], smoothed * (1 - smoothed) / n, within)
        variance: np.ndarray = within.sum(axis=1) / self.n_categories**2
        return variance

    def jackknife(self, left: np.ndarray, n_repeats: int) -> np.ndarray:
        """The variance over things left out, from what is left of every category's hits."""
        rates = (left / (self.left.sum(axis=0).astype(float) * n_repeats)).reshape(
            len(left), self.n_things, self.n_categories
        )
        macros = rates.mean(axis=2)
        spread: np.ndarray = ((macros - macros.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
        return (self.n_things - 1) / self.n_things * spread


def rates(n_things: int, sd: float, rate: float, n_runs: int, n_repeats: int = 1) -> Iterator[Cell]:
    """Seeds: the things are fixed, the answer is their own mean. Things: the answer is the population's."""
    rng = np.random.default_rng(crc32(f"{n_things} {sd} {rate} {n_repeats}".encode()))
    design = Design(n_things)
    assert n_things >= MIN_ENTITIES
    effects = rng.normal(0, sd, 400_000)
    # A scaled mean over things varies like one thing, whatever the number of things a law names.
    intercept = solved_intercept(rate, effects)
    parts: list[tuple[np.ndarray, ...]] = []
    for start in range(0, n_runs, _CHUNK):
        n = min(_CHUNK, n_runs - start)
        p = logistic(intercept + rng.normal(0, sd, (n, n_things)) @ design.weights.T)
        hits = (rng.random(p.shape) < p) if n_repeats == 1 else rng.binomial(n_repeats, p)
        counts = hits.astype(np.float32)
        sums, squares = counts @ design.in_category, counts**2 @ design.in_category
        own = (p @ design.in_category / design.sizes).mean(axis=1)
        seen = (sums / (design.sizes * n_repeats)).mean(axis=1)
        seeds = design.seeds_variance(sums.astype(float), squares.astype(float), n_repeats)
        jackknifed = design.jackknife((counts @ design.left).astype(float), n_repeats)
        parts.append((seen.astype(float), own, seeds, np.maximum(jackknifed, seeds)))
        if not start:
            checked = [design.counted(row, n_repeats) for row in hits[: N_CHECKED if n_things < 10 else 1]]
    seen, own, seeds, both = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    by_seeds = at_variance(seen, seeds, design.n_even, Z_95)
    by_things = at_variance(seen, both, design.n_even, t_95(n_things - 1))
    for run, cases in enumerate(checked):
        same(by_seeds, run, seeds_interval(cases))
        same(by_things, run, entities_interval(cases))
    what = f"metalogic, {n_things} things, sd {sd:g}" + (f", {n_repeats} repeats" if n_repeats > 1 else "")
    least = {5: 0.93, 10: 0.91}.get(n_things, 0.0) if n_repeats == 1 else 0.0
    yield cell(what, "seeds", rate, by_seeds, own, seen, least)
    yield cell(what, "things", rate, by_things, rate, seen, least)


def differences(n_cases: int, first: float, second: float, n_repeats: int, n_runs: int) -> Iterator[Cell]:
    """Two wordings of a case, wrong with these probabilities on average; cases differ by one logit, both wordings."""
    rng = np.random.default_rng(crc32(f"{n_cases} {first} {second} {n_repeats}".encode()))
    effects = rng.normal(0, 1.0, 400_000)
    ends = [solved_intercept(rate, effects) if rate else -40.0 for rate in (first, second)]
    own = rng.normal(0, 1.0, (n_runs, n_cases))
    wrong = [rng.binomial(n_repeats, logistic(end + own)) / n_repeats for end in ends]
    each, answer = wrong[1] - wrong[0], second - first
    centre, squares = each.mean(axis=1), (each**2).sum(axis=1)
    least = (1 + LEAST_CORRELATION * (n_repeats - 1)) / n_repeats**2
    one_more = np.maximum(least, squares / np.maximum(1, (each != 0).sum(axis=1)))
    variance = each.var(axis=1, ddof=1) / n_cases + 2 * one_more / n_cases**2
    half = t_95(n_cases - 1) * np.sqrt(variance)
    both = np.maximum(-1.0, centre - half), np.minimum(1.0, centre + half)
    for run in range(N_CHECKED):
        same(both, run, difference_interval({"": [float(value) for value in each[run]]}, n_repeats))
    what = f"wordings, {n_cases} cases" + (f", {n_repeats} repeats" if n_repeats > 1 else "")
    yield cell(what, "seeds", answer, both, answer, centre, 0.93, answer=f"{first:g} to {second:g}")


def clusters(n_clusters: int, largest: int, icc: float, rate: float, n_runs: int) -> Iterator[Cell]:
    """Clusters of 1 to `largest` cases whose rates are drawn from a beta distribution with this correlation."""
    rng = np.random.default_rng(crc32(f"{n_clusters} {largest} {icc} {rate}".encode()))
    shape = (n_runs, n_clusters)
    sizes = rng.integers(1, largest + 1, shape)
    strength = (1 - icc) / icc if icc else 0.0
    p = rng.beta(rate * strength, (1 - rate) * strength, shape) if icc else np.full(shape, rate)
    hits = rng.binomial(sizes, p)
    n, n_hits = sizes.sum(axis=1), hits.sum(axis=1)
    seen = n_hits / n
    left = (n_hits[:, None] - hits) / (n[:, None] - sizes)
    spread = ((left - left.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
    variance = (n_clusters - 1) / n_clusters * spread
    n_effective = n / (1 + LEAST_CORRELATION * ((sizes**2).sum(axis=1) / n - 1))
    shown = np.where(variance > 0, seen * (1 - seen) / np.where(variance > 0, variance, 1.0), np.inf)
    ends = wilson_of(seen, np.minimum(n_effective, shown), t_95(n_clusters - 1))
    for run in range(N_CHECKED):
        both = zip(hits[run], sizes[run], strict=True)
        same(ends, run, clusters_interval([Counted(category="", n_hits=int(x), n=int(m)) for x, m in both]))
    yield cell(f"{n_clusters} clusters of 1 to {largest}, icc {icc:g}", "clusters", rate, ends, rate, seen, 0.93)


def kappa(n_triples: int, mean: float, n_runs: int) -> Iterator[Cell]:
    """A kappa near its ceiling of 1: most triples at the ceiling, a few far below."""
    rng = np.random.default_rng(crc32(f"{n_triples} {mean}".encode()))
    # With probability q a triple is missed and lies uniformly between -0.5 and 0.9, else at 1.
    is_missed = rng.random((n_runs, n_triples)) < (1 - mean) / 0.8
    values = np.where(is_missed, rng.uniform(-0.5, 0.9, is_missed.shape), 1.0)

    def by_t(rows: np.ndarray) -> Ends:
        n = rows.shape[1]
        half = t_95(n - 1) * rows.std(axis=1, ddof=1) / np.sqrt(n)
        return rows.mean(axis=1) - half, rows.mean(axis=1) + half

    low, high = by_t(values)
    widened = by_t(np.concatenate([values, np.zeros((n_runs, 1))], axis=1))[0]
    ends = np.minimum(low, widened), high
    for run in range(N_CHECKED):
        row = values[run]
        same(ends, run, mean_interval({i: [float(value)] for i, value in enumerate(row)}, pseudo=0.0))
    yield cell(f"kappa of {n_triples} triples", "triples", mean, ends, mean, values.mean(axis=1), 0.93, is_rate=False)


def cells(only: str, n_runs: int) -> Iterator[Cell]:
    """Every cell, simulated."""
    if only in ("", "rates"):
        for n, sd in product((5, 10), (0.5, 1.0)):
            both = [row for rate in RATES for row in rates(n, sd, rate, n_runs)]
            yield from sorted(both, key=lambda row: row.answer_for)
    if only in ("", "repeats"):
        for n, n_repeats in ((5, 1), (10, 1), (20, 1), (5, 4), (10, 4)):
            yield from rates(n, 1.0, 0.3, min(n_runs, 1000) if n == 20 else n_runs, n_repeats)
    if only in ("", "differences"):
        for n, n_repeats in ((10, 1), (20, 1), (100, 1), (400, 1), (20, 4)):
            for first, second in ((0.0, 0.02), (0.02, 0.02), (0.05, 0.1), (0.3, 0.3), (0.16, 0.5)):
                yield from differences(n, first, second, n_repeats, n_runs)
    if only in ("", "clusters"):
        for n, largest, icc, rate in product((5, 10, 20), (1, 5, 20), (0.0, 0.1, 0.3), (0.05, 0.2, 0.5)):
            if largest > 1 or n >= 10:
                yield from clusters(n, largest, icc, rate, n_runs)
    if only in ("", "kappa"):
        for n, mean in product((10, 20, 60), (0.9, 0.95, 0.98)):
            yield from kappa(n, mean, n_runs)


def main(given: Sequence[str] | None = None) -> None:
    """Simulate and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=4000)
    parser.add_argument("--only", default="", choices=("", "rates", "repeats", "differences", "clusters", "kappa"))
    asked = parser.parse_args(given)
    missed: list[str] = []
    kind = ""
    for (what, answer_for), group in groupby(cells(asked.only, asked.runs), lambda row: (row.what, row.answer_for)):
        rows = list(group)
        columns = " | ".join(row.answer for row in rows)
        if columns != kind:
            print(f"\n| what | for | {columns} |\n|---|---|{'---|' * len(rows)}")
            kind = columns
        values = (f"{row.coverage:.1%}, {row.width:.3f} ({row.ratio:.2f})" for row in rows)
        print(f"| {what} | {answer_for} | {' | '.join(values)} |", flush=True)
        missed += [f"{what}, {answer_for}, {row.answer}: {row.verdict}" for row in rows if row.verdict]
    print("\n" + "\n".join(missed or ["every cell keeps what is demanded of it"]))


if __name__ == "__main__":
    main()
