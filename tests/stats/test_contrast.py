"""Controls of a judge: each rule at its edge, a textbook's interval, and how often each status comes out."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from salva.stats.contrast import (
    LIMITED,
    NO_CONTRAST,
    NONE,
    OK,
    UNPROBED,
    ControlCounts,
    controls_wanted,
    judge_contrast,
    newcombe,
)


def counts(
    n_controls: int, n_accepted: int, n_own: int = 60, n_as_expected: int = 50, *, has_accepted: bool = True
) -> ControlCounts:
    return ControlCounts(
        n_controls=n_controls,
        n_accepted=n_accepted,
        n_own=n_own,
        n_as_expected=n_as_expected,
        has_accepted=has_accepted,
    )


@pytest.mark.parametrize(
    ("given", "status", "code"),
    [
        (counts(20, 0), OK, ""),
        (counts(20, 4), OK, ""),
        (counts(20, 5), LIMITED, NO_CONTRAST),  # A = .25 is over .2; Wilson's upper end is .469
        (counts(20, 6), NONE, NO_CONTRAST),  # Wilson's upper end is .519
        (counts(8, 1), OK, ""),  # Wilson's upper end is .471
        (counts(8, 2), NONE, NO_CONTRAST),  # and .591
        (counts(8, 0), OK, ""),
        (counts(7, 0), LIMITED, UNPROBED),
        (counts(7, 7), LIMITED, UNPROBED),
        (counts(20, 2, 60, 10), LIMITED, NO_CONTRAST),  # .167 on its own images, .1 on others
        (counts(20, 0, 60, 0), LIMITED, NO_CONTRAST),
        (counts(20, 0, 60, 30, has_accepted=False), NONE, NO_CONTRAST),
        (counts(0, 0, 60, 0, has_accepted=False), NONE, NO_CONTRAST),
        (counts(0, 0, 60, 60), LIMITED, UNPROBED),
        (counts(0, 0, 0, 0, has_accepted=False), LIMITED, UNPROBED),
        (counts(20, 0, 0, 0), LIMITED, NO_CONTRAST),
    ],
)
def test_each_rule_at_its_edge(given: ControlCounts, status: str, code: str) -> None:
    contrast = judge_contrast(given)
    assert (contrast.status, contrast.code) == (status, code)


@pytest.mark.parametrize(
    ("given", "low", "high"),
    [
        ((56, 70, 48, 80), 0.0524, 0.3339),
        ((9, 10, 3, 10), 0.1705, 0.8090),
        ((10, 10, 0, 10), 0.6075, 1.0),
        ((5, 56, 0, 29), -0.0381, 0.1926),
    ],
)
def test_newcombes_interval_is_that_of_his_paper(given: tuple[int, int, int, int], low: float, high: float) -> None:
    """Newcombe (1998), table II, method 10."""
    interval = newcombe(*given)
    assert (interval.low, interval.high) == pytest.approx((low, high), abs=5e-5)


@pytest.mark.parametrize(("n_images", "n"), [(8, 20), (200, 20), (201, 21), (330, 33), (400, 40), (9000, 40)])
def test_a_tenth_of_the_images_within_limits(n_images: int, n: int) -> None:
    assert controls_wanted(n_images) == n


@pytest.mark.parametrize(
    ("right", "on_right", "on_wrong", "percent"),
    [
        (0.6, 0.5, 0.5, (98, 1, 1)),
        (0.6, 1.0, 0.5, (98, 2, 1)),
        (0.6, 0.95, 0.05, (0, 0, 100)),
        (0.3, 0.95, 0.05, (0, 24, 75)),
        (0.6, 0.8, 0.2, (19, 18, 63)),
    ],
    ids=["coin", "accepts half", "95 % accurate", "poor model", "80 % accurate"],
)
def test_statuses_come_out_as_often_as_the_table_says(
    right: float, on_right: float, on_wrong: float, percent: tuple[int, int, int]
) -> None:
    """63 images, of which a model gets a share right, and 20 controls; 4,000 draws know a per cent to 1.5 points."""
    rng, n_runs, n = np.random.default_rng(6), 4000, 63
    is_right = rng.random((n_runs, n)) < right
    own = (rng.random((n_runs, n)) < np.where(is_right, on_right, on_wrong)).sum(axis=1)
    accepted = rng.binomial(controls_wanted(n), on_wrong, n_runs)
    seen = Counter(
        judge_contrast(counts(controls_wanted(n), int(a), n, int(k), has_accepted=bool(a + k))).status
        for a, k in zip(accepted, own, strict=True)
    )
    assert [100 * seen[status] / n_runs for status in (NONE, LIMITED, OK)] == pytest.approx(percent, abs=2.5)
