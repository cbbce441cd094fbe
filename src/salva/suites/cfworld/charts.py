"""CF-World's figures as charts: groups by discipline, and how scores fall from level to level."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from salva.core.case import Case
from salva.core.chart import Chart, ChartKind
from salva.core.judgements import CaseVerdict
from salva.core.table import Table
from salva.results.tables import group_by
from salva.suites.cfworld.figures import level_mean, prr, rrr
from salva.suites.cfworld.judge_tables import by_label

_LEVELS = {1: "s_l1", 2: "gated_l2", 3: "gated_l3"}
"""By number: lines are drawn over an axis of numbers."""


def charts_of(cases: Sequence[Case], by_judge: Mapping[str, Sequence[CaseVerdict]]) -> tuple[Chart, ...]:
    """The charts of one model; of several judges the first is drawn."""
    charts = [_distribution(cases)] if any("discipline" in case.labels for case in cases) else []
    if by_judge:
        judge, judged = next(iter(by_judge.items()))
        note = f"Judged by {judge}." if len(by_judge) > 1 else ""
        chart = partial(Chart, low="low", high="high", n="n", is_high_good=True, note=note)
        charts += [_fall(judged, chart), _disciplines(judged, chart)]
    return tuple(charts)


def by_discipline(cases: Sequence[Case]) -> dict[str, list[Case]]:
    """Cases by discipline; those without one are skipped."""
    return group_by(cases, lambda case: case.labels.get("discipline"))


def _distribution(cases: Sequence[Case]) -> Chart:
    rows = tuple((discipline, len(group)) for discipline, group in by_discipline(cases).items())
    return Chart(
        name="cfworld-groups",
        title="Groups by discipline (as Figure 2a)",
        kind=ChartKind.BARS,
        table=Table(name="groups", columns=("discipline", "n"), rows=rows),
        x="discipline",
        y="n",
        filters={"discipline": "label:discipline"},
        y_label="groups",
        is_of_cases=True,
    )


def _fall(judged: Sequence[CaseVerdict], chart: Callable[..., Chart]) -> Chart:
    model = judged[0].verdict.model
    means = {level: level_mean(judged, name) for level, name in _LEVELS.items()}
    rows = tuple((model, level, *mean.cells, mean.n) for level, mean in means.items())
    return chart(
        name="cfworld-levels",
        title="Scores from level to level (as Figure 5b)",
        kind=ChartKind.LINES,
        table=Table(name="means", columns=("model", "level", "S", "low", "high", "n"), rows=rows),
        x="level",
        y="S",
        series="model",
        ends=(0.0, 1.0),
        is_joined=True,
        x_label="level",
        y_label="mean score (L2, L3 behind the gate)",
    )


def _disciplines(judged: Sequence[CaseVerdict], chart: Callable[..., Chart]) -> Chart:
    rows = tuple(
        (discipline, name, *estimate.cells, estimate.n)
        for discipline, group in by_label(judged, "discipline").items()
        for name, estimate in (("PRR", prr(group)), ("RRR", rrr(group)))
        if estimate.value is not None
    )
    return chart(
        name="cfworld-disciplines",
        title="PRR and RRR by discipline",
        kind=ChartKind.BARS,
        table=Table(name="rates", columns=("discipline", "rate", "value", "low", "high", "n"), rows=rows),
        x="discipline",
        y="value",
        series="rate",
        filters={"discipline": "label:discipline"},
    )
