"""Intervals of means, by hand, at the ceiling and by simulation."""

from __future__ import annotations

import os
import subprocess
import sys
from math import sqrt
from random import Random

import pytest

from salva.stats.intervals import Interval, t_95
from salva.stats.mean_intervals import Valued, cautious_mean_interval, macro_mean_interval, mean_interval


def test_independent_values_get_students_interval() -> None:
    values = [0.1, 0.5, 0.9, 0.3, 0.7]
    interval = mean_interval({i: [value] for i, value in enumerate(values)})
    half = t_95(4) * sqrt(sum((value - 0.5) ** 2 for value in values) / 4 / 5)
    assert interval is not None
    assert (interval.low, interval.high) == pytest.approx((0.5 - half, 0.5 + half))


def test_a_mean_at_its_ceiling_is_not_certain() -> None:
    ceiling = mean_interval({i: [1.0] for i in range(10)}, pseudo=0.0)
    assert ceiling is not None
    assert ceiling.low < 0.9
    assert mean_interval({i: [1.0] for i in range(10)}) == Interval(low=1.0, high=1.0)


def test_one_more_at_nought_is_added_as_it_stands() -> None:
    values = [1.0, 1.0, 0.9, 1.0, 1.0]
    widened = mean_interval({i: [value] for i, value in enumerate(values)}, pseudo=0.0)
    with_one_more = mean_interval({i: [value] for i, value in enumerate([*values, 0.0])})
    assert widened is not None
    assert with_one_more is not None
    assert widened.low == pytest.approx(with_one_more.low)
    plain = mean_interval({i: [value] for i, value in enumerate(values)})
    assert plain is not None
    assert widened.high == plain.high


def test_an_interval_is_the_same_to_the_last_digit_in_every_process() -> None:
    program = (
        "from random import Random\n"
        "from salva.stats.mean_intervals import mean_interval\n"
        "drawn = Random(0)\n"
        "for _ in range(60):\n"
        "    print(mean_interval({f'triple {i}': [drawn.random(), drawn.random()] for i in range(30)}))"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(said) == 1


def test_over_categories_each_weighs_the_same_and_its_own_spread_counts() -> None:
    # Two categories far apart and each of one voice: their mean is sure, the plain mean is not.
    rows = [Valued(value=float(k), cluster=f"{k} {i}", category=str(k)) for k in (0, 1) for i in range(4)]
    sure, unsure = macro_mean_interval(rows), mean_interval({row.cluster: [row.value] for row in rows})
    assert sure == Interval(low=0.5, high=0.5)
    assert unsure is not None
    assert unsure.high - unsure.low > 0.5
    lonely = macro_mean_interval([Valued(value=k / 5, cluster=k, category=str(k)) for k in range(6)])
    assert lonely is not None
    assert lonely.high - lonely.low > 0.3, "a category of one value shows no spread of its own"


def test_the_wider_of_clusters_and_cases_stands() -> None:
    loud = [0.0] * 8 + [1.0] * 8
    clusters, cases = [str(i // 2) for i in range(16)], [str(i) for i in range(16)]
    together, apart = cautious_mean_interval(loud, clusters, cases), cautious_mean_interval(loud, cases, cases)
    assert together is not None
    assert apart is not None
    assert together.high - together.low > 1.4 * (apart.high - apart.low)
    even = [0.0, 1.0] * 8
    assert cautious_mean_interval(even, clusters, cases) == cautious_mean_interval(even, cases, cases)
    assert cautious_mean_interval(even, [str(i // 4) for i in range(16)], cases) is None, "four clusters"


def test_four_clusters_have_no_interval_however_many_values() -> None:
    values = {k: [0.1 * k, 0.3, 0.5] for k in range(5)}
    assert mean_interval(values) is not None
    assert mean_interval({k: group for k, group in values.items() if k < 4}) is None


def test_no_interval_leaves_the_range_of_its_mean() -> None:
    kappas = [2.0, 2.0, -1.5, 2.0, 2.0, 2.0]
    names = [str(i) for i in range(6)]
    free = cautious_mean_interval(kappas, names, names)
    assert free is not None
    assert free.high > 2
    cut = Interval(low=free.low, high=2.0)
    assert cautious_mean_interval(kappas, names, names, least=-2.0, most=2.0) == cut
    assert mean_interval({name: [kappa] for name, kappa in zip(names, kappas, strict=True)}, most=2.0) == cut
    widened = mean_interval({name: [0.01] for name in names}, pseudo=-1.0, least=0.0, most=1.0)
    assert widened is not None
    assert widened.low == 0.0


@pytest.mark.parametrize(("value", "pseudo"), [(0.0, None), (0.5, None), (0.0, 0.0)])
def test_values_that_are_all_the_same_have_no_interval_unless_something_widens_it(
    value: float, pseudo: float | None
) -> None:
    names = [str(i) for i in range(8)]
    assert cautious_mean_interval([value] * 8, names, names, pseudo=pseudo) is None
    widened = cautious_mean_interval([1.0] * 8, names, names, pseudo=0.0)
    assert widened is not None
    assert widened.low < widened.high == 1.0


def test_clusters_hold_what_cases_alone_would_not() -> None:
    rng, held, by_cases = Random(5), 0, 0
    for _ in range(300):
        effects = [rng.gauss(0, 1) for _ in range(12)]
        values = {(k, i): effects[k] + rng.gauss(0, 0.5) for k in range(12) for i in range(5)}
        clustered = mean_interval({k: [values[k, i] for i in range(5)] for k in range(12)})
        alone = mean_interval({key: [value] for key, value in values.items()})
        assert clustered is not None
        assert alone is not None
        held += clustered.low <= 0 <= clustered.high
        by_cases += alone.low <= 0 <= alone.high
    assert held / 300 > 0.91
    assert by_cases / 300 < 0.8
