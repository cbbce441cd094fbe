"""Quantiles of Student's t, against a library that has them."""

from __future__ import annotations

import pytest
from scipy import stats

from salva.stats.intervals import t_95


@pytest.mark.parametrize("degrees", [1, 2, 3, 4, 5, 9, 10, 31, 100, 999, 2000])
def test_quantiles_are_those_of_scipy(degrees: int) -> None:
    assert t_95(degrees) == pytest.approx(stats.t.ppf(0.975, degrees), abs=1e-9)


def test_many_degrees_are_normal_and_none_are_refused() -> None:
    assert t_95(5000) == pytest.approx(1.959964, abs=1e-6)
    with pytest.raises(ValueError, match="degrees of freedom"):
        t_95(0)
