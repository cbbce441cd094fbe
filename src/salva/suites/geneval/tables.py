"""Metric: GenEval's tables of one model: correct images by task and overall, by rule and observers.

Published figures are means over images by task, and the mean of the six.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import ClassVar

from salva.core.about import PUBLISHED_WEIGHTS, About
from salva.core.chart import Chart, ChartKind
from salva.core.judgements import CaseVerdict, Judgements
from salva.core.metric import HIGHER, MetricValue, not_measured
from salva.core.options import WithoutOptions
from salva.core.protocols import Measured
from salva.core.quantity import quantity
from salva.core.table import Cell, Table
from salva.core.verdict import Outcome
from salva.results.tables import ends, group_by, present, rows_table
from salva.stats.mean_intervals import cautious_mean_interval
from salva.suites.geneval.further_tables import further_charts, further_tables
from salva.suites.geneval.published import PUBLISHED, RL_SCORE, RL_STRICT
from salva.suites.geneval.rules import COLOURS_BY_EMBEDDER, CREDIT, OURS
from salva.suites.geneval.shares import (
    IMAGES,
    OVERALL,
    PROMPTS,
    CorrectShare,
    Groups,
    Standpoint,
    by_standpoint,
    in_tasks,
    task_shares,
)
from salva.suites.geneval.suite import IN_TASKS, OFFICIAL, SET, SOURCE, missing_prompts

_OVERALL = {
    PUBLISHED: ("published_overall", "GenEval, published rules", "add --published"),
    OURS: ("ours_overall", "GenEval, our rule (truth)", "add a --detector"),
    RL_STRICT: ("rl_strict_overall", "GenEval, rl-strict", "add --set check.rule=rl-strict"),
}
"""Rules to the name and title of the mean over tasks, and to how it is measured."""
_NO_TASKS = "no prompt counts towards the tasks"
_CREDIT = "rl_score_credit"
_PAPER = 0.61
"""IF-XL, the best model of the paper, by the published rules."""


class GenEvalTables(WithoutOptions):
    """How many images are correct, by task, rule and detector."""

    version: ClassVar[str] = "1"
    about: ClassVar[About] = About(
        metrics=dict.fromkeys((*(name for name, *_ in _OVERALL.values()), _CREDIT), HIGHER),
    )

    def measure(self, judgements: Judgements) -> Measured:
        """Metrics, tables and charts for the report."""
        groups = by_standpoint(judgements)
        tasks = {standpoint: own for standpoint, group in groups.items() if (own := in_tasks(group))}
        shares = {standpoint: task_shares(group) for standpoint, group in tasks.items()}
        by_task = _by_task(tasks, shares)
        return Measured(
            metrics=_metrics(shares, tasks, judgements),
            tables=present(by_task, *further_tables(judgements, groups)),
            charts=(*([_chart(by_task)] if by_task else []), *further_charts(groups)),
        )


def _metrics(
    shares: Mapping[Standpoint, Mapping[str, CorrectShare]], tasks: Groups, judgements: Judgements
) -> dict[str, MetricValue]:
    """The mean over tasks by each rule, of the observers that come first; the rule that makes the results first."""
    first: dict[str, Standpoint] = {}
    for standpoint in shares:
        first.setdefault(standpoint.rule, standpoint)
    has_tasks = any(case.labels.get(SET) == IN_TASKS for case in judgements.cases)
    metrics = {}
    for rule in dict.fromkeys((*first, *_OVERALL)):
        if rule not in _OVERALL:
            continue
        name, title, how = _OVERALL[rule]
        if rule in first:
            metrics[name] = _overall(first[rule], shares[first[rule]], tasks[first[rule]], judgements.weights)
        else:
            metrics[name] = not_measured(how if has_tasks else _NO_TASKS, better=HIGHER, title=title)
    metrics[_CREDIT] = _mean_credit(tasks[first[RL_SCORE]] if RL_SCORE in first else ())
    return metrics


def _overall(
    standpoint: Standpoint,
    shares: Mapping[str, CorrectShare],
    group: Sequence[CaseVerdict],
    weights: Mapping[str, str],
) -> MetricValue:
    share, gaps, who = shares[OVERALL], _gaps(group), _colours_by(group)
    is_official = all(judged.case.labels.get(SOURCE) == OFFICIAL for judged in group) and not gaps
    low, high = ends(share.interval)
    if low is not None and share.rate is None:
        why = f"without colours only wrong images can be decided: {100 * low:.1f} to {100 * (high or 0):.1f} %"
    else:
        why = "no image was decided" if share.rate is None else f"mean of {quantity(len(shares) - 3, 'tasks')}"
    notes = [
        why,
        gaps,
        f"observed by {standpoint.seen_by}",
        f"colours by {who}, not the published classifier" if who == "the pixels" else "",
    ]
    return MetricValue(
        value=share.rate,
        low=low,
        high=high,
        n=share.n,
        better=HIGHER,
        published=_PAPER if standpoint.rule == PUBLISHED and is_official else None,
        is_share=True,
        reason="; ".join(note for note in notes if note),
        title=f"{_OVERALL[standpoint.rule][1]}{_whose_weights(standpoint, group, weights)}",
    )


def _by_task(tasks: Groups, shares: Mapping[Standpoint, Mapping[str, CorrectShare]]) -> Table | None:
    def cells(standpoint: Standpoint, task: str, share: CorrectShare) -> tuple[Cell, ...]:
        own = [judged for judged in tasks[standpoint] if judged.case.category == task]
        return (*share.cells(), _credit(own), _colours_by(own))

    return rows_table(
        "geneval",
        ("model", "rule", "seen_by", "task", "right_rate", "low", "high", "n", "undecided", "credit", "colours_by"),
        (
            (tasks[standpoint][0].verdict.model, *standpoint, task, *cells(standpoint, task, share))
            for standpoint, by_task in shares.items()
            for task, share in by_task.items()
        ),
        title="Correct images by task, rule and detector",
        note=(
            f"{OVERALL}: the mean of tasks; {PROMPTS}: prompts with a correct image. Without right_rate, low and high "
            f"are its bounds where colours are unknown."
        ),
        is_joined=True,
    )


def _credit(group: Sequence[CaseVerdict]) -> float | None:
    """The mean partial credit, where the rule gives any."""
    earned = [value for judged in group for name, value in judged.verdict.scores.items() if name.startswith(CREDIT)]
    return fmean(earned) if earned else None


def _colours_by(group: Sequence[CaseVerdict]) -> str:
    """What decided the colours in these images; empty where none were needed, or the rule is our own."""
    by_embedder = {
        judged.verdict.scores[COLOURS_BY_EMBEDDER] for judged in group if COLOURS_BY_EMBEDDER in judged.verdict.scores
    }
    names = ["the embedder" if score else "the pixels" for score in by_embedder]
    return "both" if len(names) > 1 else "".join(names)


def _gaps(group: Sequence[CaseVerdict]) -> str:
    """How many of the published prompts these are, where some are missing."""
    seen = {judged.case.case_id: judged.case for judged in group if judged.verdict.outcome is not Outcome.ERROR}
    if not all(case.labels.get(SOURCE) == OFFICIAL for case in seen.values()):
        return ""
    return missing_prompts(Counter(case.category for case in seen.values())).partition(";")[0]


def _mean_credit(group: Sequence[CaseVerdict]) -> MetricValue:
    """The mean over tasks of the mean partial credit."""
    title = "GenEval, rl-score: partial credit"
    earned = [(judged.case, credit) for judged in group if (credit := _credit([judged])) is not None]
    if not earned:
        return not_measured("add --set check.rule=rl-score", better=HIGHER, title=title)
    by_task = group_by(earned, lambda pair: pair[0].category)
    cases = [case.case_id for case, _ in earned]
    interval = cautious_mean_interval(
        [credit for _, credit in earned], cases, cases, [case.category for case, _ in earned], least=0.0, most=1.0
    )
    low, high = ends(interval)
    return MetricValue(
        value=fmean(fmean(credit for _, credit in own) for own in by_task.values()),
        low=low,
        high=high,
        n=len(earned),
        better=HIGHER,
        is_share=True,
        reason="mean over tasks",
        title=title,
    )


def _whose_weights(standpoint: Standpoint, group: Sequence[CaseVerdict], weights: Mapping[str, str]) -> str:
    """Under the published rules, whether the detector is the published one too; empty where its weights are unknown."""
    pins = [weights[name] for judged in group for name in judged.verdict.observers if name in weights]
    if standpoint.rule != PUBLISHED or not pins:
        return ""
    return f", {PUBLISHED_WEIGHTS if any(PUBLISHED_WEIGHTS in pin for pin in pins) else 'other weights'}"


def _chart(table: Table) -> Chart:
    kept = [row for row in table.rows if row[3] not in (IMAGES, PROMPTS)]
    first = kept[0][1:3] if kept else ()
    rows = tuple(row for row in kept if row[1:3] == first)
    return Chart(
        name="geneval-tasks",
        title=f"Correct images by task ({first[0]}, seen by {first[1]})" if first else "Correct images by task",
        kind=ChartKind.BARS,
        table=Table(name=table.name, columns=table.columns, rows=rows),
        x="task",
        y="right_rate",
        low="low",
        high="high",
        n="n",
        y_label="share of correct images",
        is_share=True,
        ends=(0.0, 1.0),
        is_high_good=True,
        edge=OVERALL,
        filters={"task": "label:tag"},
        replaces="by-category",
    )
