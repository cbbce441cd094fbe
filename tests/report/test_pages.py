"""What several pages share: how a card is called in an address."""

from __future__ import annotations

from salva.report.pages import anchors_of


def test_a_pair_goes_by_its_case_and_repeat_and_a_second_of_one_name_says_so() -> None:
    pairs = [("cats", 0), ("cats", 1), ("dogs", 0), ("cats", 0), ("cats", 0)]
    assert anchors_of(pairs) == ["case-cats", "case-cats.1", "case-dogs", "case-cats.seen-2", "case-cats.seen-3"]
