"""Shares of right pictures: means of tasks, images and prompts, by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest
from suites.geneval.judged_pictures import cases_of, judged, verdicts

from salva.core.case import Case
from salva.results.tables import ends
from salva.stats.intervals import Interval
from salva.suites.geneval.rules import NO_COLOURS
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


def test_the_rule_that_makes_the_results_and_its_observers_come_first() -> None:
    cases = cases_of()
    made = verdicts(cases, lambda *_: True, "truth", "aye")
    made += verdicts(cases[:3], lambda *_: True, "geneval", "aye") + verdicts(cases, lambda *_: True, "geneval", "bee")
    assert list(by_standpoint(judged(cases, made, deciding=("bee",)))) == [
        Standpoint("published", "bee"),
        Standpoint("published", "aye"),
        Standpoint("ours", "aye"),
    ]
    assert next(iter(by_standpoint(judged(cases, made, chosen="truth")))).rule == "ours"


def test_where_only_wrong_images_can_be_decided_there_is_no_share_but_its_bounds() -> None:
    """Of 4 colours one is wrong and 3 are undecided for want of a colour; the other tasks are right."""
    cases = cases_of()
    colours = [case for case in cases if case.category == "colors"]

    def right(case: Case, _: int) -> bool | None:
        return None if case in colours[1:] else case is not colours[0]

    made = [
        replace(verdict, scores={NO_COLOURS: 1.0}) if verdict.case_id in {case.case_id for case in colours} else verdict
        for verdict in verdicts(cases, right, "truth")
    ]
    shares = task_shares(judged(cases, made, chosen="truth").pairs)
    assert (shares["colors"].rate, shares["colors"].interval) == (None, Interval(low=0.0, high=3 / 4))
    assert shares[OVERALL].rate is None
    assert ends(shares[OVERALL].interval) == pytest.approx((5 / 6, (5 + 3 / 4) / 6))
    assert shares[PROMPTS].interval == Interval(low=20 / 24, high=23 / 24)
    assert shares["counting"].rate == 1
