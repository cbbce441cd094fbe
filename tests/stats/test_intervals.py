"""Intervals against numbers found by other routes."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.stats import norm

from salva.stats.intervals import Cluster, clustered_interval, design_effect, implied_bounds, wilson


@pytest.mark.parametrize(("hits", "n"), [(1, 10), (5, 10), (193, 554), (9, 10), (3, 800)])
def test_wilson_is_where_the_score_test_stops_rejecting(hits: int, n: int) -> None:
    z = float(norm.ppf(0.975))
    rate = hits / n

    def score(p: float) -> float:
        return abs(rate - p) / float((p * (1 - p) / n) ** 0.5) - z

    found = wilson(rate, n)
    assert found.low == pytest.approx(brentq(score, 1e-9, rate - 1e-9), abs=1e-7)
    assert found.high == pytest.approx(brentq(score, rate + 1e-9, 1 - 1e-9), abs=1e-7)


def test_wilson_at_the_ends_of_the_scale() -> None:
    assert wilson(0.0, 840).low == 0.0
    assert wilson(0.0, 840).high == pytest.approx(0.004552, abs=1e-5)
    assert wilson(1.0, 3).high == 1.0
    assert wilson(1.0, 3).low > 0.4


def test_no_cases_no_interval() -> None:
    with pytest.raises(ValueError, match="one case"):
        wilson(0.5, 0)
    assert clustered_interval([]) is None
    assert clustered_interval([Cluster(n_hits=0, n=0)]) is None


def test_clusters_of_one_voice_count_as_one_case_each() -> None:
    clusters = [Cluster(n_hits=10 * (index < 4), n=10) for index in range(10)]
    assert design_effect(clusters) == pytest.approx(10)
    found = clustered_interval(clusters)
    assert found is not None
    assert found.low == pytest.approx(wilson(0.4, 10).low)
    assert found.high == pytest.approx(wilson(0.4, 10).high)


def test_even_clusters_do_not_shrink_the_interval() -> None:
    assert design_effect([Cluster(n_hits=5, n=10)] * 8) == 1.0


@pytest.mark.parametrize(
    "clusters", [[Cluster(n_hits=0, n=20)] * 5, [Cluster(n_hits=7, n=7)] * 3, [Cluster(n_hits=3, n=9)]]
)
def test_without_variance_to_measure_the_design_effect_is_one(clusters: list[Cluster]) -> None:
    assert design_effect(clusters) == 1.0


def test_design_effect_by_hand() -> None:
    # p = 8/20 = 0.4; residuals 2, 0, -2, 0 of clusters of five; variance 4/3 * 8 / 400; binomial 0.24/20.
    clusters = [Cluster(n_hits=hits, n=5) for hits in (4, 2, 0, 2)]
    assert design_effect(clusters) == pytest.approx((4 / 3 * 8 / 400) / (0.24 / 20))


def test_intervals_of_clustered_data_cover_the_truth() -> None:
    rng = Random(3)
    covered = naive_covered = 0
    for _ in range(400):
        clusters = []
        for _ in range(30):
            p = rng.betavariate(1.2, 2.8)
            clusters.append(Cluster(n_hits=sum(rng.random() < p for _ in range(20)), n=20))
        found = clustered_interval(clusters)
        assert found is not None
        covered += found.low <= 0.3 <= found.high
        naive = wilson(sum(c.n_hits for c in clusters) / 600, 600)
        naive_covered += naive.low <= 0.3 <= naive.high
    assert covered / 400 >= 0.92
    assert naive_covered / 400 < 0.75


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(1, 30)), min_size=1, max_size=12))
def test_the_interval_holds_the_rate_and_is_never_narrower_than_plain_wilson(pairs: list[tuple[int, int]]) -> None:
    clusters = [Cluster(n_hits=min(hits, n), n=n) for hits, n in pairs]
    n = sum(c.n for c in clusters)
    rate = sum(c.n_hits for c in clusters) / n
    found, plain = clustered_interval(clusters), wilson(rate, n)
    assert found is not None
    assert 0 <= found.low <= plain.low + 1e-12
    assert found.low <= rate <= found.high
    assert plain.high - 1e-12 <= found.high <= 1


def test_bounds_are_all_held_and_all_broken() -> None:
    bounds = implied_bounds(30, 90, 10)
    assert bounds is not None
    assert (bounds.low, bounds.high) == (0.3, 0.4)
    assert implied_bounds(0, 0, 0) is None
