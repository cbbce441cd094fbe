"""How often intervals hold a known answer: few runs, seeded, with bounds that break when the method does.

bench/coverage.py does the same with 4,000 runs a cell.
"""

from __future__ import annotations

from itertools import permutations
from math import exp
from random import Random

import pytest

from salva.stats.intervals import Interval, wilson
from salva.stats.mean_intervals import mean_interval
from salva.stats.rates import Counted, clusters_interval, difference_interval, entities_interval, seeds_interval, share

N_RUNS = 200
THINGS = ("cat", "dog", "apple", "banana", "cow")
CHOICES = [(category, pair) for category in ("one", "two", "three", "four") for pair in permutations(THINGS, 2)]


def _logistic(x: float) -> float:
    return 1 / (1 + exp(-x))


def _run(rng: Random, sd: float, intercept: float) -> tuple[list[Counted], float]:
    """One run of a suite about five entities that differ by a random effect; also its own true rate."""
    effects = {entity: rng.gauss(0, sd) for entity in THINGS}
    p = [_logistic(intercept + sum(effects[entity] for entity in pair) / 2**0.5) for _, pair in CHOICES]
    cases = [
        Counted(category=category, entities=pair, n_hits=int(rng.random() < chance), n=1)
        for (category, pair), chance in zip(CHOICES, p, strict=True)
    ]
    return cases, sum(p) / len(p)


def _holds(interval: Interval | str | None, answer: float) -> bool:
    assert isinstance(interval, Interval)
    return interval.low <= answer <= interval.high


def test_seeds_and_things_hold_where_a_plain_wilson_does_not() -> None:
    rng, seeds, entities, plain = Random(11), 0, 0, 0
    # A scaled sum of effects of sd 1 varies like one entity: with this intercept 20 % are wrong on average.
    intercept = -1.6497
    for _ in range(N_RUNS):
        cases, own = _run(rng, 1.0, intercept)
        seeds += _holds(seeds_interval(cases), own)
        entities += _holds(entities_interval(cases), 0.2)
        plain += _holds(wilson(share(cases), len(cases)), 0.2)
    assert seeds / N_RUNS > 0.91
    assert entities / N_RUNS > 0.9
    assert plain / N_RUNS < 0.75, "the test would not notice a naive interval"


def test_clusters_hold_at_their_correlation_where_a_plain_wilson_does_not() -> None:
    rng, held, plain = Random(12), 0, 0
    for _ in range(N_RUNS):
        clusters = []
        for _ in range(10):
            size, p = rng.randint(1, 20), rng.betavariate(0.2 * 7 / 3, 0.8 * 7 / 3)
            clusters.append(Counted(category="", n_hits=sum(rng.random() < p for _ in range(size)), n=size))
        held += _holds(clusters_interval(clusters), 0.2)
        plain += _holds(wilson(share(clusters), sum(cluster.n for cluster in clusters)), 0.2)
    assert held / N_RUNS > 0.9
    assert plain / N_RUNS < 0.8


def test_kappa_near_its_ceiling_is_held_only_with_one_more_triple_at_nought() -> None:
    rng, held, plain = Random(13), 0, 0
    for _ in range(N_RUNS):
        values = {i: [1.0 if rng.random() > 0.0625 else rng.uniform(-0.5, 0.9)] for i in range(10)}
        held += _holds(mean_interval(values, pseudo=0.0), 0.95)
        plain += _holds(mean_interval(values), 0.95)
    assert held / N_RUNS > 0.95
    assert plain / N_RUNS < 0.8


@pytest.mark.parametrize(("first", "second"), [(0.0, 0.04), (0.3, 0.3), (0.16, 0.5)])
def test_differences_hold_also_where_hardly_any_is_seen(first: float, second: float) -> None:
    rng, held = Random(14), 0
    for _ in range(N_RUNS):
        each = [float(rng.random() < second) - float(rng.random() < first) for _ in range(40)]
        held += _holds(difference_interval({"": each}), second - first)
    assert held / N_RUNS > 0.91
