"""Metric: GenEval's tables of one model: correct images by task and overall, by rule and observers.

Published figures are means over images by task, and the mean of the six.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import ClassVar

from salva.core.about import PUBLISHED_WEIGHTS
from salva.core.case import Case
from salva.core.chart import Chart, ChartKind
from salva.core.judgements import CaseVerdict, Judgements
from salva.core.options import NoOptions
from salva.core.protocols import Measured
from salva.core.quantity import quantity
from salva.core.table import Cell, KeyFigure, Table
from salva.core.verdict import Outcome
from salva.results.chance import chance_of
from salva.results.tables import ends, present, rows_table
from salva.suites.geneval.demands import TASKS
from salva.suites.geneval.further_tables import further_charts, further_tables
from salva.suites.geneval.published import PUBLISHED, RL_SCORE
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

_RULES = {
    OURS: "our rule (truth)",
    PUBLISHED: "published rules",
    "rl-strict": "rl-strict",
    RL_SCORE: "rl-score: partial credit",
}


class GenEvalTables:
    """How many images are correct, by task, rule and detector."""

    version: ClassVar[str] = "1"

    def __init__(self, options: NoOptions) -> None:
        self._options = options

    def measure(self, judgements: Judgements) -> Measured:
        """Tables, numbers and charts for the report."""
        groups = by_standpoint(judgements)
        if not groups:
            return Measured()
        tasks = {standpoint: own for standpoint, group in groups.items() if (own := in_tasks(group))}
        shares = {standpoint: task_shares(group) for standpoint, group in tasks.items()}
        chance = {rule: _chance(judgements.cases, rule) for rule in {standpoint.rule for standpoint in tasks}}
        by_task = _by_task(tasks, shares)
        return Measured(
            tables=present(by_task, *further_tables(judgements, groups)),
            numbers=_numbers(shares, tasks),
            charts=(*([_chart(by_task)] if by_task else []), *further_charts(groups)),
            key_figures=tuple(
                _key_figure(s, shares[s], tasks[s], chance[s.rule], judgements.weights) for s in _shown(shares)
            ),
        )


def _shown(shares: Mapping[Standpoint, object]) -> list[Standpoint]:
    """One standpoint for each rule, the leading one first."""
    return list({standpoint.rule: standpoint for standpoint in reversed(list(shares))}.values())[::-1]


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
            f"{OVERALL}: the mean of tasks; {PROMPTS}: prompts with a correct image. colours_by: "
            f"the published classifier is an embedder."
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


def _chance(cases: Sequence[Case], rule: str) -> float | None:
    """The share of correct images if every image were a correct one of another prompt."""
    own = [case for case in cases if case.labels.get(SET) == IN_TASKS]
    wrong = chance_of(own, "exact" if rule in (OURS, "rl-strict") else "at-least")
    return None if wrong is None else 1 - wrong


def _numbers(
    shares: Mapping[Standpoint, Mapping[str, CorrectShare]], tasks: Mapping[Standpoint, Sequence[CaseVerdict]]
) -> dict[str, float | None]:
    """One number a rule and task, of the leading observers: published_overall, ours_counting."""
    numbers: dict[str, float | None] = {}
    for standpoint in _shown(shares):
        prefix = standpoint.rule.replace("-", "_")
        for task, share in shares[standpoint].items():
            numbers[f"{prefix}_{task.replace(' ', '_')}"] = share.rate
        if standpoint.rule == RL_SCORE:
            numbers[f"{prefix}_credit"] = _mean_credit(tasks[standpoint])
    return numbers


def _mean_credit(group: Sequence[CaseVerdict]) -> float | None:
    """The mean over tasks of the mean partial credit."""
    earned = [_credit([judged for judged in group if judged.case.category == task]) for task in TASKS]
    shares = [value for value in earned if value is not None]
    return fmean(shares) if shares else None


def _key_figure(
    standpoint: Standpoint,
    shares: Mapping[str, CorrectShare],
    group: Sequence[CaseVerdict],
    chance: float | None,
    weights: Mapping[str, str],
) -> KeyFigure:
    share = shares[OVERALL]
    n_prompts = len({judged.case.case_id for judged in group if judged.verdict.outcome is not Outcome.ERROR})
    who = _colours_by(group)
    notes = [
        f"mean of {len(shares) - 3} tasks, {quantity(share.n, 'images')}, {quantity(n_prompts, 'prompts')}",
        _gaps(group),
        f"seen by {standpoint.seen_by}",
        f"colours by {who}, not the published classifier" if who == "the pixels" else "",
        f"chance {100 * chance:.1f} %" if chance is not None else "",
        f"mean credit {credit:.3f}" if (credit := _mean_credit(group)) is not None else "",
    ]
    low, high = ends(share.interval)
    return KeyFigure(
        title=f"GenEval, {_RULES.get(standpoint.rule, standpoint.rule)}{_whose_weights(standpoint, group, weights)}",
        value=share.rate,
        low=low,
        high=high,
        is_share=True,
        note="; ".join(note for note in notes if note),
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
