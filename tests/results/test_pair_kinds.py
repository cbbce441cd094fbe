"""How right the two pictures of a pair are."""

from __future__ import annotations

import pytest
from report.fake_runs import make_verdict

from salva.core.verdict import Outcome
from salva.results.pair_kinds import PairKind, pair_kind


@pytest.mark.parametrize(
    ("right_a", "right_b", "alike", "kind"),
    [
        (1, 1, 0, "both right"),
        (0, 1, 0, "one wrong"),
        (0, 0, 1, "both wrong, images agree"),
        (0, 0, 0, "both wrong, images differ"),
    ],
)
def test_how_right_a_pair_is(right_a: float, right_b: float, alike: float, kind: str) -> None:
    scores = {"right_a": right_a, "right_b": right_b, "both_wrong": alike}
    assert pair_kind(make_verdict(check="truth", scores=scores)) == kind
    assert pair_kind(make_verdict(check="truth", scores=scores, outcome=Outcome.ERROR)) == PairKind.UNDECIDED
    assert pair_kind(make_verdict(check="truth", scores=scores)).is_wrong == (not (right_a and right_b))
