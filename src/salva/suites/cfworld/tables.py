"""Metric: CF-World's tables of one model: scores by level, PRR and RRR by judge and discipline, the gate.

Names of tables give the paper's number. Whatever has no score enters no mean and is counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

from salva.core.about import About
from salva.core.case import Case
from salva.core.judgements import CaseVerdict, Judgements
from salva.core.metric import HIGHER, MetricValue
from salva.core.options import WithoutOptions
from salva.core.own_figure import OwnFigure
from salva.core.protocols import Measured
from salva.core.question import QUESTIONS
from salva.core.table import Cell, Table
from salva.results.tables import TableColumns, build_table, present, rows_table, subgroups
from salva.suites.cfworld.charts import by_discipline, charts_of
from salva.suites.cfworld.deduction import DEDUCTION_METRICS, deduction_metrics, deduction_table
from salva.suites.cfworld.figures import ByJudge, level_mean, prr, prr_alike, rrr
from salva.suites.cfworld.gaps import gaps_table
from salva.suites.cfworld.groups import KINDS, LEVELS, PHYSICS, field_of
from salva.suites.cfworld.judge_tables import by_label, compute_table, says_nothing
from salva.suites.cfworld.levels import DENORM, ONE_RUBRIC, ZERO, LevelsOptions
from salva.suites.cfworld.probe_tables import KEPT, denorm_table, probe_metrics, probe_table
from salva.suites.cfworld.scoring import retention

CHECK, PROBES = "levels", "retention"
GATED = {"l1": "s_l1", "l2": "gated_l2", "l3": "gated_l3"}
"""The score of a level behind the gate; L1 stands before it."""
_PUBLISHED = {"prr": 0.79, "rrr": 0.77, "s_l1": 0.93, "s_l2": 0.76, "s_l3": 0.67}
"""Table 2: Nano Banana Pro, the best model, by Gemini-3-Pro."""
_NEAR = 0.125
"""A group this close to the gate passed or failed it by little: the reach within which people and judges agree."""


def _terms(one: CaseVerdict, *names: str) -> tuple[float, ...] | None:
    """Scores of a group, for comparisons of models; None where it lacks one."""
    scores = one.verdict.scores if one.verdict.check == CHECK else {}
    return tuple(scores[name] for name in names) if all(name in scores for name in names) else None


def _retained(means: Sequence[float]) -> float | None:
    before, after = means
    return retention(after, before)


class CfWorldTables(WithoutOptions):
    """How well a model draws a world with changed laws, in the shape of the published tables."""

    version: ClassVar[str] = "1"
    about: ClassVar[About] = About(
        metrics={
            **dict.fromkeys(_PUBLISHED, HIGHER),
            **dict.fromkeys(DEDUCTION_METRICS, ""),
            **dict.fromkeys(KEPT.values(), HIGHER),
        },
        figures=(
            OwnFigure(name="prr", title="PRR", terms=lambda one: _terms(one, "s_l1", "gated_l2"), of_means=_retained),
            OwnFigure(
                name="rrr", title="RRR", terms=lambda one: _terms(one, "gated_l2", "gated_l3"), of_means=_retained
            ),
        ),
    )

    def measure(self, judgements: Judgements) -> Measured:
        """Metrics, tables and charts for the report."""
        by_judge, probes = scored(judgements, CHECK), scored(judgements, PROBES)
        gate_at = LevelsOptions.gate_at
        tables: list[Table | None] = []
        metrics: dict[str, MetricValue] = {}
        if any(CHECK in case.checks for case in judgements.cases):
            metrics |= _level_metrics(judgements)
        if by_judge:
            inner = scored(judgements.inner, CHECK) if judgements.inner else {}
            metrics |= deduction_metrics(by_judge, inner)
            tables += [
                _models_and_judges(by_judge, gate_at, judgements),
                _by_level(by_judge),
                _by_discipline(by_judge),
                _gate(by_judge, gate_at),
                _missing(by_judge),
                denorm_table(by_judge, judgements.group),
                deduction_table(by_judge, inner),
            ]
        if probes:
            tables.append(probe_table(probes, judgements.group))
            metrics |= probe_metrics(judgements.of_check(PROBES))
        everything = {**by_judge, **probes}
        tables += [compute_table(everything, judgements.effort), gaps_table(judgements.cases)]
        tables.append(_distribution(judgements.cases))
        return Measured(metrics=metrics, tables=present(*tables), charts=charts_of(judgements.cases, by_judge))


def scored(judgements: Judgements, check: str) -> ByJudge:
    """The verdicts of a check by judge; ERROR too, since the scores of what was seen count."""
    groups = judgements.by_observer(check)
    return {judge: group for judge, group in groups.items() if any(v.scores for _, v in group)}


_LEVEL_MEANS: TableColumns[Sequence[CaseVerdict]] = TableColumns(
    ("L1", "L2", "L3"), lambda judged: (level_mean(judged, GATED[level]).value for level in LEVELS)
)


def _model(by_judge: ByJudge) -> str:
    return next(iter(by_judge.values()))[0].verdict.model


def _level_metrics(judgements: Judgements) -> dict[str, MetricValue]:
    """PRR, RRR and the levels' scores by the judge that makes the results."""
    judged, options = judgements.of_check(CHECK), judgements.options_of(CHECK)
    # The paper's figures are made by its program's rule.
    is_published = options.get("mean") == QUESTIONS and options.get("missing") == ZERO
    published = _PUBLISHED if is_published else {}
    metrics = {}
    for name, title, figure, meaning in (
        ("prr", "PRR", prr(judged), "stated counterfactuals, over the root of L1"),
        ("rrr", "RRR", rrr(judged), "deduced counterfactuals, over the root of L2"),
    ):
        reason = meaning if figure.value is not None else "no group has both scores, or the divisor is 0"
        if name == "prr":
            reason = says_nothing(judged) or reason
        metrics[name] = figure.metric(title, reason, HIGHER, published.get(name))
    for level, score in GATED.items():
        mean, name = level_mean(judged, score), f"s_{level}"
        reason = "mean score" if score == name else "mean score, 0 behind a shut gate"
        reason = reason if mean.value is not None else "no group was scored"
        metrics[name] = mean.metric(level.upper(), reason, HIGHER, published.get(name))
    return metrics


def _models_and_judges(by_judge: ByJudge, gate_at: float, judgements: Judgements) -> Table | None:
    # Where all levels were graded alike from the start, L1's one score is it.
    alike = "s_l1" if judgements.options_of(CHECK).get("rubrics") == ONE_RUBRIC else "s_l1_alike"

    def rates(judged: Sequence[CaseVerdict]) -> tuple[Cell, ...]:
        resistance, reasoning = prr(judged), rrr(judged)
        one_rubric = prr_alike(judged, gate_at, alike).value
        return (resistance.value, reasoning.value, one_rubric, resistance.n, reasoning.n)

    return build_table(
        "models and judges (as Table 2)",
        ("model", "group", "judge"),
        [((_model(by_judge), judgements.group, judge), judged) for judge, judged in by_judge.items()],
        _LEVEL_MEANS,
        TableColumns(("PRR", "RRR", "PRR one rubric", "n_prr", "n_rrr"), rates),
        note="PRR one rubric: L1 graded as strictly as L2.",
        is_joined=True,
        averaged_by="group",
    )


def _by_level(by_judge: ByJudge) -> Table | None:
    def cells(judged: Sequence[CaseVerdict], level: str) -> tuple[Cell, ...]:
        score, gated = level_mean(judged, f"s_{level}"), level_mean(judged, GATED.get(level, f"gated_{level}"))
        grades = (level_mean(judged, f"{kind}_{level}").value for kind in KINDS)
        return (score.n, *score.cells, *gated.cells, *grades)

    def is_scored(judged: Sequence[CaseVerdict], level: str) -> bool:
        names = {f"s_{level}", GATED.get(level, f"gated_{level}")}
        return any(names & verdict.scores.keys() for _, verdict in judged)

    return rows_table(
        "scores by level",
        ("judge", "level", "n", "S", "S_from", "S_to", "gated", "gated_from", "gated_to", *KINDS),
        (
            (judge, level, *cells(judged, level))
            for judge, judged in by_judge.items()
            for level in (*LEVELS, DENORM)
            if is_scored(judged, level)
        ),
    )


def _by_discipline(by_judge: ByJudge) -> Table | None:
    return build_table(
        "scores by discipline",
        ("judge", "discipline"),
        subgroups(by_judge, lambda judged: _with_physics(by_label(judged, "discipline"))),
        TableColumns(("n",), lambda group: (prr(group).n,)),
        _LEVEL_MEANS,
        TableColumns(("PRR", "PRR_from", "PRR_to"), lambda group: prr(group).cells),
        TableColumns(("RRR", "RRR_from", "RRR_to"), lambda group: rrr(group).cells),
    )


def _with_physics(groups: Mapping[str, list[CaseVerdict]]) -> dict[str, list[CaseVerdict]]:
    """The disciplines, and all branches of physics as one group where there are several."""
    branches = [group for discipline, group in groups.items() if field_of(discipline) == PHYSICS]
    physics = {f"{PHYSICS}, {len(branches)} branches": [judged for group in branches for judged in group]}
    return {**groups, **(physics if len(branches) > 1 else {})}


def _gate(by_judge: ByJudge, gate_at: float) -> Table | None:
    """How much depends on the gate: the same figures with it higher, lower and without it."""

    def cells(judged: Sequence[CaseVerdict], at: float) -> tuple[Cell, ...]:
        moved = [_regated(group, at) for group in judged]
        facts = [v.scores["s_l1"] for _, v in judged if "s_l1" in v.scores]
        n_near, n_open = sum(abs(s - at) <= _NEAR for s in facts), sum(s >= at for s in facts)
        counts = (n_open, len(facts) - n_open, len(judged) - len(facts), n_near)
        return (*counts, prr(moved).value, rrr(moved).value)

    return rows_table(
        "the gate",
        ("judge", "gate_at", "n_open", "n_shut", "n_without_l1", "n_near", "PRR", "RRR"),
        (
            (judge, at, *cells(judged, at))
            for judge, judged in by_judge.items()
            for at in (0.0, gate_at - _NEAR, gate_at, gate_at + _NEAR)
        ),
        note=f"PRR and RRR with other gates; near: within {_NEAR:g}.",
    )


def _regated(one: CaseVerdict, at: float) -> CaseVerdict:
    """A verdict as it would be with the gate elsewhere."""
    scores = dict(one.verdict.scores)
    for level in ("l2", "l3"):
        if "s_l1" in scores and f"s_{level}" in scores:
            scores[f"gated_{level}"] = scores[f"s_{level}"] if scores["s_l1"] >= at else 0.0
    return CaseVerdict(one.case, replace(one.verdict, scores=scores))


def _missing(by_judge: ByJudge) -> Table | None:
    def counts(judged: Sequence[CaseVerdict]) -> Iterator[tuple[Cell, ...]]:
        for level in (*LEVELS, DENORM):
            asked = [v for case, v in judged if any(p.role == level for p in case.prompts)]
            n = sum(f"missing_{level}" in verdict.scores or not verdict.scores for verdict in asked)
            if n:
                yield (level, n, len(asked))

    return rows_table(
        "without a score",
        ("judge", "level", "n", "of"),
        ((judge, *row) for judge, judged in by_judge.items() for row in counts(judged)),
    )


def _distribution(cases: Sequence[Case]) -> Table | None:
    return build_table(
        "groups by discipline (as Figure 2a)",
        ("field", "discipline"),
        [((field_of(name), name), group) for name, group in by_discipline(cases).items()],
        TableColumns(("n", "share"), lambda group: (len(group), len(group) / len(cases))),
    )
