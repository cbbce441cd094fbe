"""The table of what judges cost."""

from __future__ import annotations

import pytest
from report.fake_runs import judged

from salva.core.options import NoOptions
from salva.core.protocols import Measured
from salva.core.table import Table
from salva.core.verdict import Outcome, Verdict
from salva.results.metrics.judge_costs import JudgeCosts
from salva.stats.intervals import wilson


def verdict(observers: str = "gpt", arm: str = "pair", **scores: float) -> Verdict:
    named = {f"judge_{name}": value for name, value in scores.items()}
    return Verdict(
        case_id="x",
        repeat=0,
        arm=arm,
        model="m",
        check="semantic-effect",
        observers=(observers,),
        outcome=Outcome.PASS,
        scores={"kappa": 1.0, **named},
    )


def _measured(*verdicts: Verdict) -> Measured:
    return JudgeCosts(NoOptions()).measure(judged([], verdicts))


def rows(*verdicts: Verdict) -> list[dict[str, object]]:
    (table,) = _measured(*verdicts).tables
    assert isinstance(table, Table)
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows]


def test_each_judge_is_summed_up_apart() -> None:
    cheap = verdict(answers=7, calls=8, input_tokens=700, output_tokens=70, cost_usd=0.01, unreadable=1)
    dear = verdict("claude", answers=7, calls=7, input_tokens=900, output_tokens=90, cost_usd=0.5, unreadable=0)
    one, other = rows(cheap, cheap, dear)
    assert (one["observers"], one["verdicts"], one["calls"], one["cost_usd"]) == ("claude", 1, 7, 0.5)
    assert (other["observers"], other["verdicts"], other["answers"], other["calls"]) == ("gpt", 2, 14, 16)
    assert (other["input_tokens"], other["output_tokens"], other["unreadable"]) == (1400, 140, 2)
    assert other["cost_usd"] == pytest.approx(0.02)


def test_flips_have_a_rate_with_an_interval() -> None:
    (row,) = rows(
        verdict(answers=9, calls=9, repeated=3, flipped=1), verdict(answers=8, calls=8, repeated=1, flipped=0)
    )
    interval = wilson(0.25, 4)
    assert (row["asked_again"], row["flipped"], row["flip_rate"]) == (4, 1, 0.25)
    assert (row["low"], row["high"]) == (interval.low, interval.high)


def test_what_is_not_known_of_all_is_not_summed_up() -> None:
    (row,) = rows(verdict(answers=1, calls=1, cost_usd=0.5, input_tokens=5), verdict(answers=1, calls=1))
    assert (row["cost_usd"], row["input_tokens"], row["flip_rate"], row["instructed"]) == (None, None, None, None)


def test_pictures_with_instructions_are_counted_by_verdict() -> None:
    (row,) = rows(
        verdict(answers=1, calls=1, instructing_texts=2),
        verdict(answers=1, calls=1, instructing_texts=0),
    )
    assert row["instructed"] == 1


def test_the_control_arm_is_not_paid_twice() -> None:
    (row,) = rows(verdict(answers=1, calls=1), verdict(arm="control", answers=1, calls=1))
    assert row["calls"] == 1


def test_a_run_without_a_judge_gets_no_table() -> None:
    assert _measured(verdict()).tables == ()
