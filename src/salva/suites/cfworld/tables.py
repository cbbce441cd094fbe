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
from salva.core.options import NoOptions
from salva.core.own_figure import OwnFigure
from salva.core.protocols import Measured
from salva.core.table import Cell, KeyFigure, Table
from salva.core.verdict import observers_text
from salva.results.tables import TableColumns, build_table, group_by, present, rows_table, subgroups
from salva.suites.cfworld.charts import by_discipline, charts_of
from salva.suites.cfworld.deduction import DEDUCTION_NUMBERS, deduction_figures, deduction_table
from salva.suites.cfworld.figures import level_mean, prr, prr_alike, rrr
from salva.suites.cfworld.gaps import gaps_table
from salva.suites.cfworld.groups import KINDS, LEVELS, PHYSICS, field_of
from salva.suites.cfworld.judge_tables import by_label, compute_table, says_nothing
from salva.suites.cfworld.levels import DENORM, ONE_RUBRIC, LevelsOptions
from salva.suites.cfworld.probe_tables import denorm_table, probe_figures, probe_table
from salva.suites.cfworld.scoring import retention

CHECK = "levels"
GATED = {"l1": "s_l1", "l2": "gated_l2", "l3": "gated_l3"}
"""The score of a level behind the gate; L1 stands before it."""
_NEAR = 0.125
"""A group this close to the gate passed or failed it by little: the reach within which people and judges agree."""

ByJudge = Mapping[str, Sequence[CaseVerdict]]


def _terms(one: CaseVerdict, *names: str) -> tuple[float, ...] | None:
    """Scores of a group, for comparisons of models; None where it lacks one."""
    scores = one.verdict.scores if one.verdict.check == CHECK else {}
    return tuple(scores[name] for name in names) if all(name in scores for name in names) else None


def _retained(means: Sequence[float]) -> float | None:
    before, after = means
    return retention(after, before)


class CfWorldTables:
    """How well a model draws a world with changed laws, in the shape of the published tables."""

    version: ClassVar[str] = "1"
    about: ClassVar[About] = About(
        figures=(
            OwnFigure(name="prr", title="PRR", terms=lambda one: _terms(one, "s_l1", "gated_l2"), of_means=_retained),
            OwnFigure(
                name="rrr", title="RRR", terms=lambda one: _terms(one, "gated_l2", "gated_l3"), of_means=_retained
            ),
        )
    )

    def __init__(self, options: NoOptions) -> None:
        self._options = options

    def measure(self, judgements: Judgements) -> Measured:
        """Tables, numbers and charts for the report."""
        by_judge, probes = scored(judgements, CHECK), scored(judgements, "retention")
        gate_at = LevelsOptions.gate_at
        tables: list[Table | None] = []
        numbers: dict[str, float | None] = {}
        key_figures: tuple[KeyFigure, ...] = ()
        if by_judge:
            main = next(iter(by_judge.values()))
            inner = scored(judgements.inner, CHECK) if judgements.inner else {}
            adds = deduction_figures(by_judge, inner)
            numbers = _numbers(main) | dict(zip(DEDUCTION_NUMBERS, (figure.value for figure in adds), strict=False))
            key_figures = (*_key_figures(by_judge), *adds)
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
            figures = probe_figures(probes)
            numbers |= {figure.title.lower().replace(" ", "_"): figure.value for figure in figures}
            key_figures = (*key_figures, *figures)
        everything = {**by_judge, **probes}
        tables += [compute_table(everything, judgements.effort), gaps_table(judgements.cases)]
        tables.append(_distribution(judgements.cases))
        return Measured(
            tables=present(*tables),
            numbers=numbers,
            key_figures=key_figures,
            charts=charts_of(judgements.cases, by_judge),
        )


def scored(judgements: Judgements, check: str) -> dict[str, list[CaseVerdict]]:
    """The verdicts of a check by judge; those that failed too, since the scores of what was seen count."""
    mine = (judged for judged in judgements.pairs if judged.verdict.check == check)
    by_judge = group_by(mine, lambda judged: observers_text(judged.verdict.observers[-1:]))
    return {judge: group for judge, group in by_judge.items() if any(v.scores for _, v in group)}


_LEVEL_MEANS: TableColumns[Sequence[CaseVerdict]] = TableColumns(
    ("L1", "L2", "L3"), lambda judged: (level_mean(judged, GATED[level]).value for level in LEVELS)
)


def _model(by_judge: ByJudge) -> str:
    return next(iter(by_judge.values()))[0].verdict.model


def _numbers(judged: Sequence[CaseVerdict]) -> dict[str, float | None]:
    resistance, reasoning = prr(judged), rrr(judged)
    numbers: dict[str, float | None] = {"prr": resistance.value, "rrr": reasoning.value}
    for name, estimate in (("prr", resistance), ("rrr", reasoning)):
        numbers |= {f"{name}_from": estimate.ends[0], f"{name}_to": estimate.ends[1], f"n_{name}": float(estimate.n)}
    return numbers | {f"s_{level}": level_mean(judged, GATED[level]).value for level in LEVELS}


def _key_figures(by_judge: ByJudge) -> tuple[KeyFigure, ...]:
    figures = []
    for judge, judged in by_judge.items():
        by = f" ({judge})" if len(by_judge) > 1 else ""
        for title, estimate, meaning in (
            ("PRR", prr(judged), "stated counterfactuals"),
            ("RRR", rrr(judged), "deduced counterfactuals"),
        ):
            low, high = estimate.ends
            note = f"over {estimate.n} groups: {meaning}"
            if estimate.value is None:
                note = "none: no group, or divided by 0"
            if title == "PRR" and (blind := says_nothing(judged)):
                note = f"{note}; {blind}"
            figures.append(KeyFigure(title=f"{title}{by}", value=estimate.value, low=low, high=high, note=note))
    return tuple(figures)


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
        note="S before and behind the gate.",
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
