"""The number of pairs that would decide a gate."""

from __future__ import annotations

import pytest

from salva.stats.pairs_needed import pairs_for_margin, pairs_for_rate


def test_golden_numbers() -> None:
    assert pairs_for_rate(0.25, 63, 63, 0.2) == 528
    assert pairs_for_rate(0, 63, 63, 0.05) == 143
    assert pairs_for_margin(0.0, 0.11, 120, 0.05, 1.98) == 1_180


def test_fewer_effective_pairs_need_more() -> None:
    assert pairs_for_rate(0.25, 63, 31.5, 0.2) == 2 * 528


def test_a_low_limit_is_never_reached_by_a_handful() -> None:
    assert (pairs_for_rate(0, 1_000, 1_000, 0.05) or 0) >= 73


@pytest.mark.parametrize("limit", [0, 1, 0.2, 0.2001])
def test_nothing_is_said_where_no_number_decides(limit: float) -> None:
    assert pairs_for_rate(0.2, 100, 100, limit) is None


def test_no_margin_to_reach() -> None:
    assert pairs_for_margin(0.05, 0.1, 100, 0.05, 2.0) is None
    assert pairs_for_margin(0.0499, 0.1, 100, 0.05, 2.0) is None


def test_a_handful_without_a_failure_is_not_taken_across_the_limit() -> None:
    # 1/2n is .0625 for n = 8 and .05 for n = 10.
    assert [pairs_for_rate(0.0, n, n, 0.05) for n in (8, 10)] == [73, 73]
