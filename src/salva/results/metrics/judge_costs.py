"""Metric: what each judge cost, how often its replies could not be read, and how often it changed its mind.

Takes the scores named judge_... that checks leave beside their verdicts (checks/asking.py), sums them up by
check and by observers. Runs without a judge get no table.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from salva.core.grouping import group_by
from salva.core.judgements import Judgements
from salva.core.options import NoOptions
from salva.core.protocols import Measured
from salva.core.table import Cell, Table
from salva.core.verdict import PAIR, Verdict, observers_text
from salva.judging.instructing import JUDGE_INSTRUCTING, is_instructed
from salva.stats.intervals import Interval, wilson

_ANSWERS = "judge_answers"
_COLUMNS = (
    *("observers", "check", "verdicts", "answers", "calls", "input_tokens", "output_tokens", "cost_usd"),
    *("unreadable", "asked_again", "flipped", "flip_rate", "low", "high", "instructed"),
)
_NOTE = (
    "Verdicts of the pair arm; an answer that several verdicts rest on counts in each. Flip rate: "
    "readable answers that came out otherwise when the same question was asked again, with a 95 % interval. "
    "Instructed: verdicts over an image with text that instructs a judge; empty where no reader read."
)


class JudgeCosts:
    """Calls, tokens, money, unreadable replies and flips, per judge."""

    version: ClassVar[str] = "1"

    def __init__(self, options: NoOptions) -> None:
        self._options = options

    def measure(self, judgements: Judgements) -> Measured:
        """One row per check and judge."""
        asked = (verdict for verdict in judgements.verdicts if verdict.arm == PAIR and _ANSWERS in verdict.scores)
        groups = group_by(asked, lambda verdict: (observers_text(verdict.observers), verdict.check))
        if not groups:
            return Measured()
        rows = tuple(_row(*key, group) for key, group in sorted(groups.items()))
        table = Table(name="judge costs", columns=_COLUMNS, rows=rows, note=_NOTE)
        return Measured(tables=(table,))


def _row(observers: str, check: str, verdicts: Sequence[Verdict]) -> tuple[Cell, ...]:
    repeated, flipped = _sum(verdicts, "judge_repeated"), _sum(verdicts, "judge_flipped")
    rate = flipped / repeated if repeated else None
    interval: Interval | None = wilson(rate, repeated) if rate is not None else None
    n_instructed = sum(map(is_instructed, verdicts))
    is_read = any(JUDGE_INSTRUCTING in verdict.scores for verdict in verdicts)
    return (
        observers,
        check,
        len(verdicts),
        int(_sum(verdicts, _ANSWERS)),
        int(_sum(verdicts, "judge_calls")),
        _whole(_total(verdicts, "judge_input_tokens")),
        _whole(_total(verdicts, "judge_output_tokens")),
        _total(verdicts, "judge_cost_usd"),
        int(_sum(verdicts, "judge_unreadable")),
        int(repeated),
        int(flipped),
        rate,
        interval.low if interval else None,
        interval.high if interval else None,
        n_instructed if is_read else None,
    )


def _sum(verdicts: Sequence[Verdict], name: str) -> float:
    return sum(verdict.scores.get(name, 0.0) for verdict in verdicts)


def _total(verdicts: Sequence[Verdict], name: str) -> float | None:
    """The sum, if it is known of every verdict."""
    if any(name not in verdict.scores for verdict in verdicts):
        return None
    return _sum(verdicts, name)


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)
