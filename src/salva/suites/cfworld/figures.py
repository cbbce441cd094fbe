"""CF-World's figures over many groups: mean scores, PRR and RRR, each with an interval over groups.

Scores of verdicts come in, numbers go out. Ratios are of means over the groups scored at both levels, as the paper's
Table 2 obeys in every cell; a group counts as one, with all its repeats.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from salva.core.judgements import CaseVerdict
from salva.core.metric import MetricValue
from salva.results.tables import ends, group_by
from salva.stats.bootstrap import bootstrap_interval
from salva.stats.intervals import Interval
from salva.stats.means import mean
from salva.stats.root_ratios import root_ratio_interval
from salva.suites.cfworld.scoring import retention, share_kept

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ByJudge = Mapping[str, Sequence[CaseVerdict]]
"""Verdicts by the judge whose grades they rest on."""
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
        return ends(self.interval)

    def metric(self, title: str, reason: str, better: str = "", published: float | None = None) -> MetricValue:
        """The same as a metric; reason: what it is, or why there is none."""
        low, high = self.ends
        return MetricValue(
            value=self.value,
            low=low,
            high=high,
            n=self.n,
            better=better,
            published=published,
            reason=reason,
            title=title,
        )

    @property
    def cells(self) -> tuple[float | None, ...]:
        """The value and both ends."""
        return (self.value, *self.ends)


def level_mean(judged: Sequence[CaseVerdict], name: str) -> LevelFigure:
    """The mean of one score over the groups that have it; over a constant 1 the interval is that of the mean."""
    return _root_ratio([(1.0, value) for (value,) in _groups(judged, (name,))])


def prr(judged: Sequence[CaseVerdict]) -> LevelFigure:
    """The prior resistance rate: the gated mean of L2 over the root of the mean of L1."""
    return _root_ratio(_groups(judged, ("s_l1", "gated_l2")))


def rrr(judged: Sequence[CaseVerdict]) -> LevelFigure:
    """The reasoning retention rate: the gated mean of L3 over the root of the gated mean of L2."""
    return _root_ratio(_groups(judged, ("gated_l2", "gated_l3")))


def prr_alike(judged: Sequence[CaseVerdict], gate_at: float, fact: str = "s_l1_alike") -> LevelFigure:
    """PRR with one rubric for all levels: L1 graded as strictly as L2, behind its own gate; fact: L1's score so."""
    groups = (
        [(s[fact], l2) for s in given if (l2 := _l2_alike(s, gate_at, fact)) is not None] for given in _by_group(judged)
    )
    return _root_ratio([(mean(l1 for l1, _ in group), mean(l2 for _, l2 in group)) for group in groups if group])


def _l2_alike(scores: Mapping[str, float], gate_at: float, fact: str) -> float | None:
    """L2 behind the gate of the stricter L1; None where undecided."""
    if fact not in scores or not {"s_l2", "gated_l2"} & scores.keys():
        return None
    # Behind a shut gate L2 may not have been graded (check.gate=skip): it is zero there all the same.
    return scores.get("s_l2") if scores[fact] >= gate_at else 0.0


def kept_share(judged: Sequence[CaseVerdict], after: str, before: str) -> LevelFigure:
    """CF / Fact as a ratio of means over rules or pairs; None where Fact is 0."""
    return _of_means(_groups(judged, (before, after)), share_kept, lambda drawn: drawn[:, 1] / drawn[:, 0])


def gain(judged: Sequence[CaseVerdict], after: str, before: str) -> LevelFigure:
    """The mean paired difference of two scores."""
    groups = _groups(judged, (before, after))
    return _of_means(groups, lambda a, b: a - b, lambda drawn: (drawn[:, 1] - drawn[:, 0]) / len(groups))


def _root_ratio(groups: Sequence[tuple[float, ...]]) -> LevelFigure:
    """The mean after over the root of the mean before; groups: before and after of each."""
    if not groups:
        return LevelFigure(value=None)
    before, after = [b for b, _ in groups], [a for _, a in groups]
    value = retention(mean(after), mean(before))
    return LevelFigure(value=value, interval=root_ratio_interval(before, after), n=len(groups))


def _of_means(
    groups: Sequence[tuple[float, ...]],
    ratio: Ratio,
    of_draws: Callable[[NDArray[np.float64]], NDArray[np.float64]],
) -> LevelFigure:
    """A figure of two means; of_draws: the same of the sums of groups that were drawn."""
    if not groups:
        return LevelFigure(value=None)
    value = ratio(mean(after for _, after in groups), mean(before for before, _ in groups))
    interval = None if value is None else bootstrap_interval(groups, of_draws)
    return LevelFigure(value=value, interval=interval, n=len(groups))


def _groups(judged: Sequence[CaseVerdict], names: Sequence[str]) -> list[tuple[float, ...]]:
    """The scores of every group that has all of them, each the mean over such repeats."""
    whole = ([scores for scores in given if all(name in scores for name in names)] for given in _by_group(judged))
    return [tuple(mean(scores[name] for scores in given) for name in names) for given in whole if given]


def _by_group(judged: Sequence[CaseVerdict]) -> Iterable[list[Mapping[str, float]]]:
    groups = group_by(judged, lambda one: one.case.case_id).values()
    return [[one.verdict.scores for one in group] for group in groups]
