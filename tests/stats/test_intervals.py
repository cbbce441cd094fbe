"""Intervals against numbers found by other routes."""

from __future__ import annotations

import pytest
from scipy.optimize import brentq
from scipy.stats import norm

from salva.stats.intervals import Interval, wilson


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


def test_an_interval_is_cut_to_its_range() -> None:
    assert Interval(low=-0.2, high=0.7).clipped(0, 1) == Interval(low=0, high=0.7)
    assert Interval(low=-3, high=2.5).clipped(-2, 2) == Interval(low=-2, high=2)
