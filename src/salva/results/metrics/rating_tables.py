"""Metric: mean ratings by people and judges.

Takes the verdicts on one model: scores `rating`, and separately scores `label`, which are yes or no to a whole image.
Neither is a PASS or FAIL, so there is no failure rate here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import stdev
from typing import ClassVar

from salva.core.case import Case
from salva.core.grouping import group_by
from salva.core.judgements import CaseVerdict, Judgements
from salva.core.metric import MetricValue
from salva.core.options import WithoutOptions
from salva.core.protocols import Measured
from salva.core.table import Cell, Table
from salva.core.verdict import observers_text
from salva.results.tables import ends
from salva.results.tally import cluster_of
from salva.stats.mean_intervals import cautious_mean_interval
from salva.stats.means import mean

_RATED = "rated"
_PARTS = ("objects", "relations")


@dataclass(frozen=True, slots=True, kw_only=True)
class _RatingKind:
    """A kind of value; those of two kinds never enter one mean."""

    score: str
    table: str
    title: str
    figure: str
    note: str = ""


_KINDS = (
    _RatingKind(
        score="rating",
        table="mean ratings",
        title="What people and judges gave",
        figure="Mean rating",
    ),
    _RatingKind(
        score="label",
        table="labels",
        title="Yes or no to whole images",
        figure="Share of yes",
        note="The mean is the share of yes. ",
    ),
)


class RatingTables(WithoutOptions):
    """Mean ratings with their numbers and intervals, by person, by judge, and of the people together."""

    version: ClassVar[str] = "1"

    def measure(self, judgements: Judgements) -> Measured:
        """A table of means for each kind of value, and the mean rating as a metric."""
        people = _people(judgements)
        kinds = [kind for kind in _KINDS if any(kind.score in one.verdict.scores for one in judgements.pairs)]
        measured = [_measured(kind, judgements.pairs, people) for kind in kinds]
        return Measured(
            metrics={name: value for one in measured for name, value in one.metrics.items()},
            tables=tuple(table for one in measured for table in one.tables),
        )


def _measured(kind: _RatingKind, pairs: Sequence[CaseVerdict], people: Sequence[str]) -> Measured:
    rated = [one for one in pairs if kind.score in one.verdict.scores]
    # People first, in the order they were named.
    raters = group_by(rated, lambda rating: observers_text(rating.verdict.observers))
    by_rater = {who: raters[who] for who in dict.fromkeys((*people, *raters)) if who in raters}
    together = _means_of_things([rating for who in people for rating in by_rater.get(who, ())], kind.score)
    model = rated[0].verdict.model
    rows: list[tuple[Cell, ...]] = []
    if together:
        rows.append(_row(model, "all people", "mean of people", together, kind.score))
    rows += [
        _row(
            model,
            who,
            "person" if who in people else "judge",
            [(rating.case, rating.verdict.scores) for rating in group],
            kind.score,
        )
        for who, group in by_rater.items()
    ]
    has_parts = any(name in rating.verdict.scores for rating in rated for name in _PARTS)
    table = Table(
        name=kind.table,
        title=kind.title,
        columns=("model", "rater", "kind", "n", "mean", "from", "to", "spread", *(_PARTS if has_parts else ())),
        rows=tuple(row if has_parts else row[: -len(_PARTS)] for row in rows),
        note=f"{kind.note}n: rated images. From, to: 95 % interval of the mean. spread: standard deviation.",
        is_joined=True,
    )
    leading = together or [(rating.case, rating.verdict.scores) for rating in rated]
    value, low, high = _mean(leading, kind.score)
    whose = f"the mean of {len(set(people) & set(by_rater))} people" if together else "all judges together"
    metric = MetricValue(value=value, low=low, high=high, n=len(leading), reason=whose, title=kind.figure)
    return Measured(metrics={f"mean_{kind.score}": metric}, tables=(table,))


def _people(judgements: Judgements) -> tuple[str, ...]:
    """The observers who are people, as the check that holds their ratings names them; the others are judges."""
    named = str(judgements.options_of(_RATED).get("people") or "")
    return tuple(name.strip() for name in named.split(",") if name.strip())


_Thing = tuple[Case, Mapping[str, float]]


def _means_of_things(judged: Sequence[CaseVerdict], score: str) -> list[_Thing]:
    """Every thing once, with the mean of those who rated it."""
    means: list[_Thing] = []
    for group in group_by(judged, lambda rating: (rating.case.case_id, rating.verdict.repeat)).values():
        names = [name for name in (score, *_PARTS) if all(name in rating.verdict.scores for rating in group)]
        means.append((group[0].case, {name: mean(rating.verdict.scores[name] for rating in group) for name in names}))
    return means


def _row(model: str, rater: str, kind: str, things: Sequence[_Thing], score: str) -> tuple[Cell, ...]:
    values = [scores[score] for _, scores in things]
    halves = ([scores[name] for _, scores in things if name in scores] for name in _PARTS)
    spread = stdev(values) if len(values) > 1 else None
    means = (mean(given) if given else None for given in halves)
    return (model, rater, kind, len(values), *_mean(things, score), spread, *means)


def _mean(things: Sequence[_Thing], score: str) -> tuple[float, float | None, float | None]:
    """The mean and the ends of its interval."""
    values = [scores[score] for _, scores in things]
    cases = [case for case, _ in things]
    return mean(values), *ends(
        cautious_mean_interval(values, [cluster_of(case) for case in cases], [case.case_id for case in cases])
    )
