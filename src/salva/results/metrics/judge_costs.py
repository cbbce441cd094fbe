"""Metric: what each judge cost, how often its replies could not be read, and how often it changed its mind.

Takes the scores named judge_... that checks leave beside their verdicts (checks/asking.py), sums them up by
check and by observers. Runs without a judge get no table.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from salva.core.grouping import group_by
from salva.core.judgements import Judgements
from salva.core.options import WithoutOptions
from salva.core.protocols import Measured
from salva.core.table import Cell, Table
from salva.core.verdict import PAIR, Verdict, observers_text
from salva.judging.instructing import JUDGE_INSTRUCTING, is_instructed
from salva.results.tables import ends
from salva.stats.intervals import wilson

_ANSWERS = "judge_answers"
_COLUMNS = (
    *("observers", "check", "verdicts", "answers", "calls", "input_tokens", "output_tokens", "cost_usd"),
    *("unreadable", "asked_again", "flipped", "flip_rate", "low", "high", "instructed"),
)
_NOTE = (
    "Flip rate: other answers to a repeated question, with a 95 % interval. Instructed: verdicts over an image with "
    "text that instructs a judge."
)


class JudgeCosts(WithoutOptions):
    """Calls, tokens, money, unreadable replies and flips, per judge."""

    version: ClassVar[str] = "1"

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
    def n(name: str) -> int:
        return int(sum(verdict.scores.get(name, 0.0) for verdict in verdicts))

    def known(name: str) -> float | None:
        """The sum, if it is known of every verdict."""
        is_known = all(name in verdict.scores for verdict in verdicts)
        return sum(verdict.scores[name] for verdict in verdicts) if is_known else None

    tokens = (
        None if total is None else int(total) for total in map(known, ("judge_input_tokens", "judge_output_tokens"))
    )
    repeated, flipped = n("judge_repeated"), n("judge_flipped")
    is_read = any(JUDGE_INSTRUCTING in verdict.scores for verdict in verdicts)
    return (
        *(observers, check, len(verdicts), n(_ANSWERS), n("judge_calls"), *tokens, known("judge_cost_usd")),
        *(n("judge_unreadable"), repeated, flipped, flipped / repeated if repeated else None),
        *ends(wilson(flipped / repeated, repeated) if repeated else None),
        sum(map(is_instructed, verdicts)) if is_read else None,
    )
