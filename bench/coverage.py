"""How often the intervals of rates, of rates over clusters and of kappa hold what they promise, by simulation.

    python bench/coverage.py [--runs 4000] [--only metalogic|clusters|kappa]

Every cell is a world with a known answer: things (or clusters) differ by a random effect on the logit scale, cases are
drawn from it, the interval is computed as the report computes it, and counted when it holds the answer. Printed: the
share that holds it, the mean width, and the width in units of 3.92 true standard errors (1 would be ideal).
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import permutations, product
from os import cpu_count
from random import Random
from zlib import crc32

import numpy as np

from salva.stats.intervals import Interval
from salva.stats.rates import Counted, clusters_interval, macro, mean_interval, seeds_interval, things_interval

RATES = (0.02, 0.05, 0.1, 0.2, 0.3, 0.5)
N_LAWS, N_MODIFIERS = 5, 4
_THINGS_A_LAW = (2, 3, 3, 2, 2)
"""How many things the prompts of each law name, as MetaLogic's templates do."""
_MOST_A_CATEGORY = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One row of the table."""

    what: str
    answer_for: str
    rate: float
    coverage: float
    width: float
    ratio: float
    n_runs: int


def logistic(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def solved_intercept(rate: float, spread: np.ndarray) -> float:
    """The intercept at which the mean of logistic(intercept + spread) is the rate."""
    low, high = -15.0, 15.0
    while high - low > 1e-9:
        middle = (low + high) / 2
        low, high = (middle, high) if float(logistic(middle + spread).mean()) < rate else (low, middle)
    return (low + high) / 2


def design(n_things: int) -> list[tuple[str, tuple[int, ...]]]:
    """Category and things of every case: MetaLogic's logic categories, all choices of five things at most."""
    cases: list[tuple[str, tuple[int, ...]]] = []
    for law, modifier in product(range(N_LAWS), range(N_MODIFIERS)):
        choices = list(permutations(range(n_things), _THINGS_A_LAW[law]))
        Random(f"{law}-{modifier}").shuffle(choices)
        cases += [(f"{law}-{modifier}", things) for things in choices[:_MOST_A_CATEGORY]]
    return cases


def metalogic(n_things: int, sd: float, rate: float, n_runs: int) -> Iterator[Cell]:
    """Seeds: the things are fixed, the answer is their own mean. Things: the answer is the population's."""
    rng = np.random.default_rng(crc32(f"{n_things} {sd} {rate}".encode()))
    cases = design(n_things)
    index = {name: np.array([i for i, (category, _) in enumerate(cases) if category == name]) for name, _ in cases}
    effects = rng.normal(0, sd, (200_000, 3))
    means = {k: effects[:, :k].mean(axis=1) * np.sqrt(k) for k in (2, 3)}
    # A case's own effect is the mean over its things, scaled so that each law varies as much as any other.
    intercept = solved_intercept(rate, np.concatenate([means[2], means[3]]))
    membership = np.zeros((len(cases), n_things))
    for i, (_, things) in enumerate(cases):
        membership[i, list(things)] = 1 / np.sqrt(len(things))
    population = float(np.mean([logistic(intercept + means[_THINGS_A_LAW[int(name[0])]]).mean() for name in index]))
    held, widths, estimates = {"seeds": 0, "things": 0}, {"seeds": 0.0, "things": 0.0}, {"seeds": [], "things": []}
    n_said = {"seeds": 0, "things": 0}
    for _ in range(n_runs):
        p = logistic(intercept + membership @ rng.normal(0, sd, n_things))
        own = float(np.mean([p[at].mean() for at in index.values()]))
        hits = rng.random(len(cases)) < p
        counted = [
            Counted(category=name, things=tuple(map(str, things)), n_hits=int(hit), n=1)
            for (name, things), hit in zip(cases, hits, strict=True)
        ]
        seen = macro(counted)
        assert seen is not None
        for kind, interval, answer in (
            ("seeds", seeds_interval(counted), own),
            ("things", things_interval(counted), population),
        ):
            if isinstance(interval, Interval):
                n_said[kind] += 1
                held[kind] += interval.low <= answer <= interval.high
                widths[kind] += interval.high - interval.low
                estimates[kind].append(seen - answer)
    for kind in held:
        error = float(np.std(estimates[kind]))
        width = widths[kind] / n_said[kind]
        yield Cell(
            what=f"metalogic, {n_things} things, sd {sd:g}",
            answer_for=kind,
            rate=rate,
            coverage=held[kind] / n_said[kind],
            width=width,
            ratio=width / (3.92 * error),
            n_runs=n_said[kind],
        )


def clusters(n_clusters: int, largest: int, icc: float, rate: float, n_runs: int) -> Iterator[Cell]:
    """Clusters of 1 to `largest` cases whose rates are drawn from a beta distribution with this correlation."""
    rng = np.random.default_rng(crc32(f"{n_clusters} {largest} {icc} {rate}".encode()))
    held, width, errors = 0, 0.0, []
    for _ in range(n_runs):
        sizes = rng.integers(1, largest + 1, n_clusters)
        strength = (1 - icc) / icc if icc else 0
        p = rng.beta(rate * strength, (1 - rate) * strength, n_clusters) if icc else np.full(n_clusters, rate)
        hits = rng.binomial(sizes, p)
        counted = [Counted(category="", n_hits=int(x), n=int(n)) for x, n in zip(hits, sizes, strict=True)]
        interval = clusters_interval(counted)
        assert interval is not None
        held += interval.low <= rate <= interval.high
        width += interval.high - interval.low
        errors.append(hits.sum() / sizes.sum() - rate)
    yield Cell(
        what=f"{n_clusters} clusters of 1 to {largest}, icc {icc:g}",
        answer_for="clusters",
        rate=rate,
        coverage=held / n_runs,
        width=width / n_runs,
        ratio=width / n_runs / (3.92 * float(np.std(errors))),
        n_runs=n_runs,
    )


def kappa(n_triples: int, mean: float, n_runs: int) -> Iterator[Cell]:
    """A kappa near its ceiling of 1: most triples at the ceiling, a few far below."""
    rng = np.random.default_rng(crc32(f"{n_triples} {mean}".encode()))
    # With probability q a triple is missed and lies uniformly between -0.5 and 0.9, else at 1.
    q = (1 - mean) / 0.8
    held, width, errors = 0, 0.0, []
    for _ in range(n_runs):
        missed = rng.random(n_triples) < q
        values = np.where(missed, rng.uniform(-0.5, 0.9, n_triples), 1.0)
        interval = mean_interval({i: [float(v)] for i, v in enumerate(values)}, pseudo=0.0)
        assert interval is not None
        held += interval.low <= mean <= interval.high
        width += interval.high - interval.low
        errors.append(values.mean() - mean)
    yield Cell(
        what=f"kappa of {n_triples} triples",
        answer_for="triples",
        rate=mean,
        coverage=held / n_runs,
        width=width / n_runs,
        ratio=width / n_runs / (3.92 * float(np.std(errors))),
        n_runs=n_runs,
    )


def tasks(only: str, n_runs: int) -> list[tuple[str, tuple[float, ...]]]:
    """Every cell to simulate."""
    made: list[tuple[str, tuple[float, ...]]] = []
    if only in ("", "metalogic"):
        made += [("metalogic", (n, sd, r, n_runs)) for n in (5, 10) for sd in (0.5, 1.0) for r in RATES]
    if only in ("", "clusters"):
        made += [
            ("clusters", (n, largest, icc, r, n_runs))
            for n, largest in product((5, 10, 20), (1, 5, 20))
            for icc in (0.0, 0.1, 0.3)
            for r in (0.05, 0.2, 0.5)
            if not (largest == 1 and n < 10)
        ]
    if only in ("", "kappa"):
        made += [("kappa", (n, mean, n_runs)) for n in (10, 20, 60) for mean in (0.9, 0.95, 0.98)]
    return made


def simulated(task: tuple[str, tuple[float, ...]]) -> list[Cell]:
    """The cells of one task."""
    name, arguments = task
    return list({"metalogic": metalogic, "clusters": clusters, "kappa": kappa}[name](*arguments))  # type: ignore[operator]


def show(cells: Sequence[Cell]) -> None:
    """Print the table."""
    print(f"{'what':36} {'for':9} {'answer':>7} {'coverage':>9} {'width':>7} {'ideal x':>8} {'runs':>6}")
    for cell in cells:
        print(
            f"{cell.what:36} {cell.answer_for:9} {cell.rate:7.2f} {cell.coverage:9.1%} {cell.width:7.3f} "
            f"{cell.ratio:8.2f} {cell.n_runs:6}",
            flush=True,
        )


def main() -> None:
    """Simulate and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=4000)
    parser.add_argument("--only", default="", choices=("", "metalogic", "clusters", "kappa"))
    given = parser.parse_args()
    with ProcessPoolExecutor(cpu_count()) as pool:
        cells = [cell for some in pool.map(simulated, tasks(given.only, given.runs)) for cell in some]
    show(cells)


if __name__ == "__main__":
    main()
