"""Relative changes of shares over the same clusters."""

from __future__ import annotations

import random
from statistics import mean

import pytest

from salva.stats.ratios import Shares, relative_change


def test_a_share_twice_the_base_is_one_more() -> None:
    found = relative_change([Shares(hits=2, n=4, base_hits=1, base_n=4)] * 5)
    assert found is not None
    assert found.value == 1.0
    assert found.interval is not None
    assert found.interval.low == pytest.approx(1.0)
    assert found.interval.high == pytest.approx(1.0)


@pytest.mark.parametrize(
    "clusters",
    [
        [],
        [Shares(hits=0, n=0, base_hits=1, base_n=2)],
        [Shares(hits=1, n=2, base_hits=0, base_n=2)],
        [Shares(hits=1, n=2, base_hits=0, base_n=0)],
    ],
)
def test_nothing_to_divide_gives_nothing(clusters: list[Shares]) -> None:
    assert relative_change(clusters) is None


def test_a_base_that_rests_on_one_cluster_has_no_interval() -> None:
    clusters = [Shares(hits=1, n=2, base_hits=1, base_n=2), *[Shares(hits=1, n=2, base_hits=0, base_n=2)] * 4]
    found = relative_change(clusters)
    assert found is not None
    assert found.interval is None


def test_nothing_falls_by_more_than_all_of_it_and_may_rise_without_limit() -> None:
    rare = [Shares(hits=int(i == 0), n=4, base_hits=2, base_n=4) for i in range(6)]
    fallen, risen = (
        relative_change(rare),
        relative_change([Shares(hits=4, n=4, base_hits=1 + i % 2, base_n=8) for i in range(6)]),
    )
    assert fallen is not None
    assert fallen.interval is not None
    assert fallen.interval.low == -1.0
    assert risen is not None
    assert risen.interval is not None
    assert risen.interval.high > risen.value > 4


def test_four_clusters_have_no_interval() -> None:
    found = relative_change([Shares(hits=2, n=4, base_hits=1, base_n=4)] * 4)
    assert found is not None
    assert (found.value, found.interval) == (1.0, None)


def test_the_interval_is_students_over_changes_without_one_cluster_each() -> None:
    clusters = [
        Shares(hits=1, n=4, base_hits=1, base_n=5),
        Shares(hits=3, n=5, base_hits=2, base_n=4),
        Shares(hits=2, n=6, base_hits=1, base_n=8),
        Shares(hits=0, n=3, base_hits=2, base_n=5),
        Shares(hits=2, n=4, base_hits=3, base_n=9),
    ]
    without = [
        *((7 / 18) / (8 / 26) - 1, (5 / 17) / (7 / 27) - 1, (6 / 16) / (8 / 23) - 1),
        *((8 / 19) / (7 / 26) - 1, (6 / 18) / (6 / 22) - 1),
    ]
    half = 2.776445 * (4 / 5 * sum((change - mean(without)) ** 2 for change in without)) ** 0.5
    changed = relative_change(clusters)
    assert changed is not None
    assert changed.value == pytest.approx((8 / 22) / (9 / 31) - 1)
    assert changed.interval is not None
    assert changed.interval.low == pytest.approx(max(-1, changed.value - half))
    assert changed.interval.high == pytest.approx(changed.value + half)


def test_the_interval_covers_the_truth_about_as_often_as_it_says() -> None:
    rng = random.Random(3)
    n_covered = 0
    for _ in range(400):
        clusters = []
        for _ in range(80):
            lean = rng.uniform(-0.1, 0.1)
            clusters.append(
                Shares(
                    hits=sum(rng.random() < 0.6 + lean for _ in range(2)),
                    n=2,
                    base_hits=sum(rng.random() < 0.4 + lean for _ in range(2)),
                    base_n=2,
                )
            )
        found = relative_change(clusters)
        assert found is not None
        assert found.interval is not None
        n_covered += found.interval.low <= 0.5 <= found.interval.high
    assert 0.92 <= n_covered / 400 <= 0.98
