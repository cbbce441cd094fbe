"""The cluster bootstrap against a plain one and against theory."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from salva.stats.bootstrap import MAX_GROUPS, bootstrap_macro, bootstrap_mean, cautious_macro


def _clustered(n_clusters: int, size: int, seed: int = 5) -> tuple[list[float], list[str]]:
    rng = Random(seed)
    values, clusters = [], []
    for cluster in range(n_clusters):
        p = rng.random()
        for _ in range(size):
            values.append(float(rng.random() < p))
            clusters.append(f"c{cluster}")
    return values, clusters


def test_mean_agrees_with_theory_for_clusters() -> None:
    values, clusters = _clustered(60, 10)
    means = np.array(values).reshape(60, 10).mean(axis=1)
    half = 1.96 * means.std(ddof=1) / 60**0.5
    found = bootstrap_mean(values, clusters)
    assert found is not None
    assert found.low == pytest.approx(means.mean() - half, abs=0.015)
    assert found.high == pytest.approx(means.mean() + half, abs=0.015)


def test_macro_agrees_with_a_plain_bootstrap() -> None:
    rng = Random(2)
    clusters = [f"c{index % 25}" for index in range(600)]
    categories = [f"k{rng.randrange(6)}" for _ in clusters]
    values = [float(rng.random() < 0.1 + 0.13 * int(category[1])) for category in categories]
    found = bootstrap_macro(values, categories, clusters)
    assert found is not None
    table = np.array(list(zip(values, (int(k[1]) for k in categories), (int(c[1:]) for c in clusters), strict=True)))
    generator = np.random.default_rng(0)
    draws = []
    for _ in range(1500):
        rows = np.concatenate([table[table[:, 2] == pick] for pick in generator.integers(0, 25, 25)])
        draws.append(np.mean([rows[rows[:, 1] == k, 0].mean() for k in range(6) if (rows[:, 1] == k).any()]))
    low, high = np.quantile(draws, (0.025, 0.975))
    assert found.low == pytest.approx(low, abs=0.012)
    assert found.high == pytest.approx(high, abs=0.012)


def test_many_clusters_in_groups_give_the_same_width() -> None:
    values, clusters = _clustered(4 * MAX_GROUPS, 5)
    means = np.array(values).reshape(-1, 5).mean(axis=1)
    width = 2 * 1.96 * means.std(ddof=1) / len(means) ** 0.5
    found = bootstrap_mean(values, clusters)
    assert found is not None
    assert found.high - found.low == pytest.approx(width, rel=0.2)


def test_one_cluster_says_nothing_and_the_same_data_say_the_same() -> None:
    assert bootstrap_mean([0.0, 1.0], ["only", "only"]) is None
    values, clusters = _clustered(12, 4)
    assert bootstrap_mean(values, clusters) == bootstrap_mean(values, clusters)


def test_a_category_missing_from_a_draw_is_left_out() -> None:
    found = bootstrap_macro([1.0, 0.0], ["k1", "k2"], ["c1", "c2"])
    assert found is not None
    assert (found.low, found.high) == (0.0, 1.0)


def test_even_clusters_do_not_shrink_the_interval_below_that_of_cases() -> None:
    values = [float(index % 2) for index in range(40)]
    clusters = [f"c{index // 10}" for index in range(40)]
    cases = [f"case{index}" for index in range(40)]
    shrunk = bootstrap_mean(values, clusters)
    assert shrunk is not None
    assert shrunk.low == shrunk.high == 0.5
    found = cautious_macro(values, ["k"] * 40, clusters, cases)
    assert found is not None
    assert found.high - found.low == pytest.approx(2 * 1.96 * 0.5 / 40**0.5, rel=0.15)
