"""Reasoning separated from drawing: within groups, L3 as the model draws it, L3 deduced in words first, and L2.

Only groups that have all three scores count, so that the three differences add up.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from salva.core.judgements import CaseVerdict
from salva.core.metric import MetricValue
from salva.core.table import Cell, Table
from salva.results.tables import group_by, rows_table
from salva.stats.bootstrap import bootstrap_interval
from salva.stats.means import mean
from salva.stats.signs import sign_test
from salva.suites.cfworld.figures import ByJudge, LevelFigure

DEDUCTION_METRICS = ("deducing_adds", "stated_ahead_of_deduced")
"""The first two of the differences, as metrics."""
_NOTHING = "no difference shown"


class _Scores(NamedTuple):
    """A group's scores before the gate, each the mean over its repeats."""

    stated: float
    """L2, by the model itself."""
    plain: float
    """L3, by the model itself."""
    deduced: float
    """L3, said in other words first."""


class _LevelDifference(NamedTuple):
    """Two of them, and what it means where the first is higher or lower."""

    name: str
    first: str
    second: str
    higher: str
    lower: str


COMPARED = (
    _LevelDifference("deduced L3 - plain L3", "deduced", "plain", "deduction was missing", "the deduction misleads"),
    _LevelDifference("L2 - deduced L3", "stated", "deduced", "drawing falls short", "better than stated"),
    _LevelDifference("L2 - plain L3", "stated", "plain", "L3 falls short of L2", "L3 is above L2"),
)


def deduction_table(by_judge: ByJudge, inner: ByJudge) -> Table | None:
    """The three differences within groups, by judge; inner: of the model that this one wraps."""

    def cells(pairs: Sequence[tuple[float, float]]) -> tuple[Cell, ...]:
        means = (mean([first for first, _ in pairs]), mean([second for _, second in pairs]))
        return (len(pairs), *_difference(pairs).cells, *means, *sign_test(pairs))

    return rows_table(
        "deduce, then draw",
        (
            *("model", "judge", "compared", "says", "n", "mean_difference", "from", "to"),
            *("first", "second", "first higher", "second higher", "equal", "p"),
        ),
        (
            (judged[0].verdict.model, judge, compared.name, _says(compared, _difference(pairs)), *cells(pairs))
            for judge, judged in by_judge.items()
            for compared, pairs in _compared(judged, inner.get(judge, ()))
        ),
        note="Before the gate. p: exact sign test, two-sided.",
        is_joined=True,
    )


def _compared(
    judged: Sequence[CaseVerdict], inner: Sequence[CaseVerdict]
) -> list[tuple[_LevelDifference, list[tuple[float, float]]]]:
    """Each difference with its pairs of scores; none without a group that has all three."""
    groups = _groups(judged, inner)
    return [
        (compared, [(getattr(group, compared.first), getattr(group, compared.second)) for group in groups])
        for compared in (COMPARED if groups else ())
    ]


def deduction_metrics(by_judge: ByJudge, inner: ByJudge) -> dict[str, MetricValue]:
    """What deducing first adds to L3, and what L2 is still ahead by, as the first judge sees it."""
    judge, judged = next(iter(by_judge.items()), ("", []))
    metrics = {}
    for name, (compared, pairs) in zip(DEDUCTION_METRICS, _compared(judged, inner.get(judge, ())), strict=False):
        difference = _difference(pairs)
        metrics[name] = difference.metric(compared.name, f"within groups: {_says(compared, difference)}")
    return metrics


def _says(compared: _LevelDifference, difference: LevelFigure) -> str:
    low, high = difference.ends
    if low is None or high is None:
        return "too few groups"
    return compared.higher if low > 0 else compared.lower if high < 0 else _NOTHING


def _difference(pairs: Sequence[tuple[float, float]]) -> LevelFigure:
    sums = [(1.0, first - second) for first, second in pairs]
    interval = bootstrap_interval(sums, lambda drawn: drawn[:, 1] / drawn[:, 0])
    return LevelFigure(value=mean([apart for _, apart in sums]), interval=interval, n=len(pairs))


def _groups(judged: Sequence[CaseVerdict], inner: Sequence[CaseVerdict]) -> list[_Scores]:
    deduced, stated, plain = _by_group(judged, "s_l3"), _by_group(inner, "s_l2"), _by_group(inner, "s_l3")
    whole = [name for name in deduced if name in stated and name in plain]
    return [_Scores(stated=stated[name], plain=plain[name], deduced=deduced[name]) for name in whole]


def _by_group(judged: Sequence[CaseVerdict], score: str) -> dict[str, float]:
    scored = (one for one in judged if score in one.verdict.scores)
    groups = group_by(scored, lambda one: one.case.case_id)
    # Rounded, so that the same grades in another order are a tie.
    return {name: round(mean(one.verdict.scores[score] for one in group), 9) for name, group in groups.items()}
