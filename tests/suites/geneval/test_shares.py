"""Shares of right pictures: means of tasks, images and prompts, by hand."""

from __future__ import annotations

import pytest
from suites.geneval.judged_pictures import cases_of, judged, verdicts

from salva.suites.geneval.shares import IMAGES, OVERALL, PROMPTS, Standpoint, by_standpoint, in_tasks, task_shares


def test_three_ways_to_say_how_many_are_right() -> None:
    """Counting: of 4 prompts with 2 pictures each one picture is right; 2 colours undecided; the rest all right."""
    cases = cases_of()

    def right(case: object, repeat: int) -> bool | None:
        category = getattr(case, "category", "")
        if category == "counting":
            return case is counting[0] and repeat == 1
        return None if category == "colors" and repeat == 0 else True

    counting = [case for case in cases if case.category == "counting"]
    made = judged(cases, verdicts(cases, right, repeats=2))
    shares = task_shares(in_tasks(made.pairs))
    assert shares["counting"].rate == pytest.approx(1 / 8)
    assert (shares["colors"].rate, shares["colors"].n, shares["colors"].undecided) == (1.0, 4, 4)
    assert shares[OVERALL].rate == pytest.approx((5 + 1 / 8) / 6)
    assert shares[IMAGES].rate == pytest.approx((44 - 7) / 44)
    assert shares[PROMPTS].rate == pytest.approx(21 / 24)
    assert shares[PROMPTS].n == 24
    for share in shares.values():
        assert share.interval is not None
        assert share.rate is not None
        assert share.interval.low <= share.rate <= share.interval.high


def test_the_leading_rule_and_its_main_observers_come_first() -> None:
    cases = cases_of()
    made = verdicts(cases, lambda *_: True, "truth", "aye")
    made += verdicts(cases[:3], lambda *_: True, "geneval", "aye") + verdicts(cases, lambda *_: True, "geneval", "bee")
    assert list(by_standpoint(judged(cases, made))) == [
        Standpoint("published", "bee"),
        Standpoint("published", "aye"),
        Standpoint("ours", "aye"),
    ]
    assert next(iter(by_standpoint(judged(cases, made, chosen="truth")))).rule == "ours"
