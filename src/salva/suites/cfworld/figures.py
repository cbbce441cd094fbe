"""CF-World's figures over many groups: mean scores, PRR and RRR, each with an interval over groups.

Scores of verdicts come in, numbers go out. Ratios are of means over the groups scored at both levels, as the paper's
Table 2 obeys in every cell; a group is drawn whole, with all its repeats.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from salva.core.judgements import CaseVerdict
from salva.stats.bootstrap import bootstrap_interval
from salva.stats.intervals import Interval
from salva.suites.cfworld.scoring import retention, share_kept

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Ratio = Callable[[float, float], float | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelFigure:
    """A number, how sure it is, and over how many groups."""

    value: float | None
    interval: Interval | None = None
    n: int = 0

    @property
    def ends(self) -> tuple[float | None, float | None]:
        """Both ends of the interval."""
        return (self.interval.low, self.interval.high) if self.interval else (None, None)

    @property
    def cells(self) -> tuple[float | None, ...]:
        """The value and both ends."""
        return (self.value, *self.ends)


def level_mean(judged: Sequence[CaseVerdict], name: str) -> LevelFigure:
    """The mean of one score over the groups that have it."""
    sums = _sums(judged, (name,))
    if not sums:
        return LevelFigure(value=None)
    totals = _totals(sums)
    interval = bootstrap_interval(sums, lambda drawn: drawn[:, 1] / drawn[:, 0])
    return LevelFigure(value=totals[1] / totals[0], interval=interval, n=len(sums))


def prr(judged: Sequence[CaseVerdict]) -> LevelFigure:
    """The prior resistance rate: the gated mean of L2 over the root of the mean of L1."""
    return _rooted(judged, "gated_l2", "s_l1")


def rrr(judged: Sequence[CaseVerdict]) -> LevelFigure:
    """The reasoning retention rate: the gated mean of L3 over the root of the gated mean of L2."""
    return _rooted(judged, "gated_l3", "gated_l2")


def prr_alike(judged: Sequence[CaseVerdict], gate_at: float, fact: str = "s_l1_alike") -> LevelFigure:
    """PRR with one rubric for all levels: L1 graded as strictly as L2, behind its own gate; fact: L1's score so."""
    rows = []
    for _, given in _by_group(judged):
        alike = [(s[fact], l2) for s in given if (l2 := _l2_alike(s, gate_at, fact)) is not None]
        if alike:
            rows.append((float(len(alike)), sum(l1 for l1, _ in alike), sum(l2 for _, l2 in alike)))
    return _of_rows(rows, retention, _root_of_draws)


def _l2_alike(scores: Mapping[str, float], gate_at: float, fact: str) -> float | None:
    """L2 behind the gate of the stricter L1; None where undecided."""
    if fact not in scores or not {"s_l2", "gated_l2"} & scores.keys():
        return None
    # Behind a shut gate L2 may not have been graded (check.gate=skip): it is zero there all the same.
    return scores.get("s_l2") if scores[fact] >= gate_at else 0.0


def kept_share(judged: Sequence[CaseVerdict], after: str, before: str) -> LevelFigure:
    """CF / Fact as a ratio of means over rules or pairs; None where Fact is 0."""
    return _of_rows(_sums(judged, (before, after)), share_kept, lambda drawn: drawn[:, 2] / drawn[:, 1])


def gain(judged: Sequence[CaseVerdict], after: str, before: str) -> LevelFigure:
    """The mean paired difference of two scores."""
    return _of_rows(
        _sums(judged, (before, after)), lambda a, b: a - b, lambda drawn: (drawn[:, 2] - drawn[:, 1]) / drawn[:, 0]
    )


def _rooted(judged: Sequence[CaseVerdict], after: str, before: str) -> LevelFigure:
    return _of_rows(_sums(judged, (before, after)), retention, _root_of_draws)


def _root_of_draws(drawn: NDArray[np.float64]) -> NDArray[np.float64]:
    import numpy as np

    return np.asarray((drawn[:, 2] / drawn[:, 0]) / np.sqrt(drawn[:, 1] / drawn[:, 0]))


def _of_rows(
    sums: Sequence[Sequence[float]],
    ratio: Ratio,
    of_draws: Callable[[NDArray[np.float64]], NDArray[np.float64]],
) -> LevelFigure:
    """A ratio of two means; sums: of every group how many, and the sums of before and after."""
    if not sums:
        return LevelFigure(value=None)
    n, before, after = _totals(sums)
    value = ratio(after / n, before / n)
    interval = None if value is None else bootstrap_interval(sums, of_draws)
    return LevelFigure(value=value, interval=interval, n=len(sums))


def _sums(judged: Sequence[CaseVerdict], names: Sequence[str]) -> list[tuple[float, ...]]:
    """Of every group that has all these scores in a repeat: in how many, and the sum of each."""
    sums = []
    for _, given in _by_group(judged):
        whole = [scores for scores in given if all(name in scores for name in names)]
        if whole:
            sums.append((float(len(whole)), *(sum(scores[name] for scores in whole) for name in names)))
    return sums


def _by_group(judged: Sequence[CaseVerdict]) -> list[tuple[str, list[Mapping[str, float]]]]:
    groups: dict[str, list[Mapping[str, float]]] = {}
    for case, verdict in judged:
        groups.setdefault(case.case_id, []).append(verdict.scores)
    return list(groups.items())


def _totals(sums: Sequence[Sequence[float]]) -> list[float]:
    return [sum(column) for column in zip(*sums, strict=True)]
