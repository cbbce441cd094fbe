"""Intervals by drawing groups anew."""

from __future__ import annotations

from statistics import stdev

import numpy as np
import pytest

from salva.stats.bootstrap import bootstrap_interval


def test_a_mean_of_many_groups_has_the_normal_interval() -> None:
    values = np.random.default_rng(2).normal(3.0, 1.0, 400)
    interval = bootstrap_interval([(value, 1.0) for value in values], lambda drawn: drawn[:, 0] / drawn[:, 1])
    assert interval is not None
    half = 1.96 * stdev(values) / 20
    assert (interval.low, interval.high) == pytest.approx((values.mean() - half, values.mean() + half), abs=0.015)


def test_few_groups_and_what_is_mostly_undefined_have_none() -> None:
    groups = [(1.0, float(i == 0)) for i in range(5)]
    assert bootstrap_interval(groups[:4], lambda drawn: drawn[:, 0]) is None
    assert bootstrap_interval(groups, lambda drawn: drawn[:, 0]) is not None
    assert bootstrap_interval(groups, lambda drawn: np.where(drawn[:, 1] > 1, drawn[:, 0], np.nan)) is None
