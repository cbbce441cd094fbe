"""Metric: CF-World's tables: scores by level, PRR and RRR by judge and discipline, the gate, and what lies behind.

Takes the verdicts on one model. Names of tables give the paper's number; those that compare models hold this model's
rows for the report to join. Whatever has no score is left out of every mean and counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

from salva.core.about import About
from salva.core.case import Case
from salva.core.judged import Judged, Judgements
from salva.core.options import NoOptions
from salva.core.own_figure import OwnFigure
from salva.core.protocols import Measured
from salva.core.table import Cell, KeyFigure, Table
from salva.core.verdict import Outcome, observers_text
from salva.stats.signs import sign_test
from salva.suites.cfworld.charts import charts_of
from salva.suites.cfworld.deduction import DEDUCTION_NUMBERS, deduction_figures, deduction_table
from salva.suites.cfworld.figures import level_mean, paired_means, prr, prr_alike, rrr
from salva.suites.cfworld.gaps import gaps_table
from salva.suites.cfworld.groups import KINDS, LEVELS, PHYSICS, field_of
from salva.suites.cfworld.judge_tables import by_label, compute_table, flips_table, says_nothing, told_apart_table
from salva.suites.cfworld.levels import DENORM, ONE_RUBRIC, LevelsOptions
from salva.suites.cfworld.probe_tables import denorm_table, probe_figures, probe_tables
from salva.suites.cfworld.scoring import retention

CHECK = "levels"
GATED = {"l1": "s_l1", "l2": "gated_l2", "l3": "gated_l3"}
"""The score of a level behind the gate; L1 stands before it."""
_NEAR = 0.125
"""A group this close to the gate passed or failed it by little: the reach within which people and judges agree."""
_N_NEAR = 20

ByJudge = Mapping[str, Sequence[Judged]]


def _terms(one: Judged, *names: str) -> tuple[float, ...] | None:
    """Scores of a group, for whoever compares models; None where it lacks one."""
    scores = one.verdict.scores if one.verdict.check == CHECK else {}
    return tuple(scores[name] for name in names) if all(name in scores for name in names) else None


def _retained(means: Sequence[float]) -> float | None:
    before, after = means
    return retention(after, before)


class CfWorldTables:
    """How far a model paints a world whose laws were changed, in the shape of the published tables."""

    version: ClassVar[str] = "1"
    suites: ClassVar[tuple[str, ...]] = ("cfworld",)
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
        gate_at = _gate_at(judgements)
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
                _near_the_gate(by_judge, gate_at),
                _within_groups(by_judge),
                _errors(by_judge),
                _missing(by_judge),
                denorm_table(by_judge, judgements.group),
                deduction_table(by_judge, inner),
                _every_group(by_judge),
            ]
        if probes:
            tables += probe_tables(probes, judgements.group)
            figures = probe_figures(probes)
            numbers |= {figure.title.lower().replace(" ", "_"): figure.value for figure in figures}
            key_figures = (*key_figures, *figures)
        everything = {**by_judge, **probes}
        tables += [told_apart_table(everything), flips_table(everything), compute_table(everything, judgements.effort)]
        tables += [gaps_table(judgements.cases), _distribution(judgements.cases)]
        return Measured(
            tables=tuple(table for table in tables if table is not None),
            numbers=numbers,
            key_figures=key_figures,
            charts=charts_of(judgements.cases, by_judge),
        )


def scored(judgements: Judgements, check: str) -> dict[str, list[Judged]]:
    """The verdicts of a check by judge; those that failed too, since the scores of what was seen count."""
    by_judge: dict[str, list[Judged]] = {}
    for judged in judgements.pairs:
        if judged.verdict.check == check:
            by_judge.setdefault(observers_text(judged.verdict.observers[-1:]), []).append(judged)
    return {judge: group for judge, group in by_judge.items() if any(v.scores for _, v in group)}


def _gate_at(judgements: Judgements) -> float:
    given = judgements.options_of(CHECK).get("gate_at")
    return float(given) if isinstance(given, int | float) else LevelsOptions().gate_at


def _model(by_judge: ByJudge) -> str:
    return next(iter(by_judge.values()))[0].verdict.model


def _numbers(judged: Sequence[Judged]) -> dict[str, float | None]:
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
            ("PRR", prr(judged), "how far told counterfactuals are painted against what is usual"),
            ("RRR", rrr(judged), "how far that is kept where the outcome must be deduced"),
        ):
            low, high = estimate.ends
            note = f"over {estimate.n} groups: {meaning}"
            if estimate.value is None:
                note = "none: the mean it is divided by is 0, or no group was scored at both levels"
            if title == "PRR" and (blind := says_nothing(judged)):
                note = f"{note}; {blind}"
            figures.append(KeyFigure(title=f"{title}{by}", value=estimate.value, low=low, high=high, note=note))
    return tuple(figures)


def _models_and_judges(by_judge: ByJudge, gate_at: float, judgements: Judgements) -> Table:
    rows: list[tuple[Cell, ...]] = []
    # Where all levels were graded alike from the start, L1's one score is it.
    alike = "s_l1" if judgements.options_of(CHECK).get("rubrics") == ONE_RUBRIC else "s_l1_alike"
    for judge, judged in by_judge.items():
        means = [level_mean(judged, GATED[level]).value for level in LEVELS]
        resistance, reasoning = prr(judged), rrr(judged)
        rows.append(
            (
                *(_model(by_judge), judgements.group, judge, *means, resistance.value, reasoning.value),
                *(prr_alike(judged, gate_at, alike).value, resistance.n, reasoning.n),
            )
        )
    return Table(
        name="models and judges (as Table 2)",
        columns=("model", "group", "judge", "L1", "L2", "L3", "PRR", "RRR", "PRR one rubric", "n_prr", "n_rrr"),
        rows=tuple(rows),
        note="L2 and L3 are zero behind a shut gate. PRR and RRR are ratios of means over the groups scored at both "
        "levels. PRR one rubric: L1 graded as strictly as L2, so that a kinder rubric for facts is not taken for a "
        "better model; a dash where check.rubrics=levels left that out.",
        is_joined=True,
        averaged_by="group",
    )


def _by_level(by_judge: ByJudge) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for judge, judged in by_judge.items():
        for level in (*LEVELS, DENORM):
            score = level_mean(judged, f"s_{level}")
            gated = level_mean(judged, GATED.get(level, f"gated_{level}"))
            if score.n or gated.n:
                parts = [level_mean(judged, f"{kind}_{level}").value for kind in KINDS]
                rows.append((judge, level, score.n, score.value, *score.ends, gated.value, *gated.ends, *parts))
    return Table(
        name="scores by level",
        columns=(
            *("judge", "level", "n", "S", "S_from", "S_to", "gated", "gated_from", "gated_to"),
            *KINDS,
        ),
        rows=tuple(rows),
        note="S before the gate and behind it, and the grade of each dimension; ends of 95 % intervals by drawing "
        "groups again.",
    )


def _by_discipline(by_judge: ByJudge) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for judge, judged in by_judge.items():
        for discipline, group in _with_physics(by_label(judged, "discipline")).items():
            means = [level_mean(group, GATED[level]).value for level in LEVELS]
            resistance, reasoning = prr(group), rrr(group)
            rows.append(
                (
                    *(judge, discipline, resistance.n, *means, resistance.value, *resistance.ends),
                    *(reasoning.value, *reasoning.ends),
                )
            )
    return Table(
        name="scores by discipline",
        columns=(
            *("judge", "discipline", "n", "L1", "L2", "L3"),
            *("PRR", "PRR_from", "PRR_to", "RRR", "RRR_from", "RRR_to"),
        ),
        rows=tuple(rows),
        note="Behind the gate; with few groups there is no interval.",
    )


def _with_physics(groups: Mapping[str, list[Judged]]) -> dict[str, list[Judged]]:
    """The disciplines, and where several of them are branches of physics also all of these together."""
    branches = [group for discipline, group in groups.items() if field_of(discipline) == PHYSICS]
    together = {f"{PHYSICS}, {len(branches)} branches": [judged for group in branches for judged in group]}
    return {**groups, **(together if len(branches) > 1 else {})}


def _gate(by_judge: ByJudge, gate_at: float) -> Table:
    """How much hangs on the gate: the same figures with it higher, lower and gone."""
    rows: list[tuple[Cell, ...]] = []
    for judge, judged in by_judge.items():
        for at in (0.0, gate_at - _NEAR, gate_at, gate_at + _NEAR):
            moved = [_regated(group, at) for group in judged]
            facts = [v.scores["s_l1"] for _, v in judged if "s_l1" in v.scores]
            n_near = sum(abs(s - at) <= _NEAR for s in facts)
            n_open = sum(s >= at for s in facts)
            without = len(judged) - len(facts)
            rows.append((judge, at, n_open, len(facts) - n_open, without, n_near, prr(moved).value, rrr(moved).value))
    return Table(
        name="the gate",
        columns=("judge", "gate_at", "n_open", "n_shut", "n_without_l1", "n_near", "PRR", "RRR"),
        rows=tuple(rows),
        note=f"PRR and RRR with the gate at other scores of L1; near: L1 within {_NEAR:g} of it. Groups whose L2 or L3 "
        "was not graded behind a shut gate stay at zero.",
    )


def _regated(one: Judged, at: float) -> Judged:
    """A verdict as it would be with the gate elsewhere."""
    scores = dict(one.verdict.scores)
    for level in ("l2", "l3"):
        if "s_l1" in scores and f"s_{level}" in scores:
            scores[f"gated_{level}"] = scores[f"s_{level}"] if scores["s_l1"] >= at else 0.0
    return Judged(one.case, replace(one.verdict, scores=scores))


def _near_the_gate(by_judge: ByJudge, gate_at: float) -> Table | None:
    rows: list[tuple[Cell, ...]] = []
    for judge, judged in by_judge.items():
        known = [(v.scores["s_l1"], case, v) for case, v in judged if "s_l1" in v.scores]
        near = sorted(
            (entry for entry in known if abs(entry[0] - gate_at) <= _NEAR), key=lambda entry: abs(entry[0] - gate_at)
        )
        for value, case, verdict in near[:_N_NEAR]:
            state = "open" if value >= gate_at else "shut"
            rows.append((judge, case.case_id, state, value, value - gate_at, verdict.scores.get("s_l2")))
    return (
        Table(
            name="groups close to the gate",
            columns=("judge", "group", "gate", "L1", "margin", "L2 before the gate"),
            rows=tuple(rows),
            note="The closest first: another judge, or the same one asked again, may decide them otherwise.",
        )
        if rows
        else None
    )


def _within_groups(by_judge: ByJudge) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for judge, judged in by_judge.items():
        for first, second in (("l1", "l2"), ("l2", "l3"), ("l1", "l3")):
            pairs = paired_means(judged, f"s_{first}", f"s_{second}")
            signs = sign_test(pairs)
            rows.append((judge, f"{first} against {second}", len(pairs), *signs))
    return Table(
        name="levels within groups (sign test)",
        columns=("judge", "levels", "n", "first higher", "second higher", "equal", "p"),
        rows=tuple(rows),
        note="Scores before the gate, paired within each group, of several repeats the mean; p is two-sided and exact.",
    )


def _errors(by_judge: ByJudge) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for judge, judged in by_judge.items():
        decided = [v for _, v in judged if v.outcome in (Outcome.PASS, Outcome.FAIL)]
        for error in dict.fromkeys(error for verdict in decided for error in verdict.failure_types):
            n = sum(error in verdict.failure_types for verdict in decided)
            rows.append((judge, error, n, n / len(decided)))
    return Table(name="how groups fail", columns=("judge", "error", "n", "share_of_groups"), rows=tuple(rows))


def _missing(by_judge: ByJudge) -> Table | None:
    rows: list[tuple[Cell, ...]] = []
    for judge, judged in by_judge.items():
        for level in (*LEVELS, DENORM):
            asked = [v for case, v in judged if any(p.role == level for p in case.prompts)]
            n = sum(f"missing_{level}" in verdict.scores or not verdict.scores for verdict in asked)
            if n:
                rows.append((judge, level, n, len(asked)))
    return (
        Table(
            name="without a score",
            columns=("judge", "level", "n", "of"),
            rows=tuple(rows),
            note="Not painted, refused, or a reply nobody could read: left out of every mean unless check.missing "
            "is zero.",
        )
        if rows
        else None
    )


def _every_group(by_judge: ByJudge) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for judge, judged in by_judge.items():
        for case, verdict in judged:
            scores = [verdict.scores.get(f"s_{level}") for level in LEVELS]
            rows.append((case.case_id, verdict.model, judge, *scores, str(verdict.outcome), verdict.reason))
    return Table(
        name="every group",
        columns=("case", "model", "judge", "L1", "L2", "L3", "verdict", "reasons"),
        rows=tuple(rows),
        note="Scores before the gate, and the judge's reason for the grade of the point.",
    )


def _distribution(cases: Sequence[Case]) -> Table | None:
    counts = {label: len(group) for label, group in _cases_by_discipline(cases).items()}
    rows = tuple((field_of(name), name, n, n / len(cases)) for name, n in counts.items())
    name = "groups by discipline (as Figure 2a)"
    return Table(name=name, columns=("field", "discipline", "n", "share"), rows=rows) if rows else None


def _cases_by_discipline(cases: Sequence[Case]) -> dict[str, list[Case]]:
    groups: dict[str, list[Case]] = {}
    for case in cases:
        if "discipline" in case.labels:
            groups.setdefault(case.labels["discipline"], []).append(case)
    return groups
