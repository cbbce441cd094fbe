"""SemVarBench's figures as charts of one model; those that compare models have a column `model`, to be joined.

Titles name the figure of the paper that has the same shape.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from salva.core.chart import Chart, ChartKind
from salva.core.judgements import CaseVerdict
from salva.core.scoring import pair_name
from salva.core.table import Cell, Table
from salva.stats.means import mean, share_above
from salva.suites.semvar.judged import grouped, values_of

_MARKS = (0.0, 0.5)
_HEAT_ENDS = (-0.2, 1.0)
"""Over all that kappa can be, from -1 on, most models would look alike."""


def charts_of(by_judge: Mapping[str, Sequence[CaseVerdict]]) -> tuple[Chart, ...]:
    """The charts of one model's verdicts; of several judges the first is drawn."""
    judge, judged = next(iter(by_judge.items()))
    note = "" if len(by_judge) == 1 else f"Judged by {judge}."
    charts = [_heat_map(judged, note), _boxes(judged, note), _boxes(judged, note, is_over_models=True)]
    charts.append(_shares(judged, note))
    if all("text_distance_pv" in triple.verdict.scores for triple in judged):
        charts += _text_charts(judged, note)
    return tuple(charts)


def _kappa_ends(judged: Sequence[CaseVerdict]) -> tuple[float, float]:
    """From -1 to 1, where kappa ought to lie, or as far as it goes."""
    kappas = values_of(judged, "kappa")
    return min(-1.0, *kappas), max(1.0, *kappas)


def _boxes(judged: Sequence[CaseVerdict], note: str, *, is_over_models: bool = False) -> Chart:
    """Kappa's spread by category: of this model, or with all models beside each other in every category."""
    rows: list[tuple[Cell, ...]] = [
        (judged[0].verdict.model, category, kappa)
        for category, group in grouped(judged, "category").items()
        for kappa in values_of(group, "kappa")
    ]
    return Chart(
        name="semvar-kappa-over-models" if is_over_models else "semvar-kappa-by-category",
        title="Kappa by category, over models (as Figure 12)" if is_over_models else "Kappa by category (as Figure 11)",
        kind=ChartKind.BOXES,
        table=Table(name="kappa of every triple", columns=("model", "category", "kappa"), rows=tuple(rows)),
        x="category",
        y="kappa",
        series="model" if is_over_models else "",
        filters={"model": "model", "category": "label:category"},
        is_joined=is_over_models,
        is_for_several=is_over_models,
        y_label="kappa",
        ends=_kappa_ends(judged),
        marks=_MARKS,
        note=note,
    )


def _heat_map(judged: Sequence[CaseVerdict], note: str) -> Chart:
    rows: list[tuple[Cell, ...]] = [
        (judged[0].verdict.model, category, mean(values_of(group, "kappa")), len(group))
        for category, group in grouped(judged, "category").items()
    ]
    return Chart(
        name="semvar-kappa-heat-map",
        title="Mean kappa by category and model (as Figure 7)",
        kind=ChartKind.HEAT_MAP,
        table=Table(name="mean kappa by category", columns=("model", "category", "kappa", "n"), rows=tuple(rows)),
        x="model",
        y="category",
        value="kappa",
        n="n",
        filters={"model": "model", "category": "label:category"},
        is_high_good=True,
        is_joined=True,
        ends=_HEAT_ENDS,
        note=f"Colours end at {_HEAT_ENDS[0]:g} and {_HEAT_ENDS[1]:g}. {note}".strip(),
    )


def _shares(judged: Sequence[CaseVerdict], note: str) -> Chart:
    rows: list[tuple[Cell, ...]] = [
        (aspect, f"above {threshold:g}", share_above(values_of(group, "kappa"), threshold))
        for aspect, group in grouped(judged, "aspect").items()
        for threshold in (0.2, 0.5)
    ]
    return Chart(
        name="semvar-shares-by-aspect",
        title="Triples with a high kappa, by aspect (as Figure 8)",
        kind=ChartKind.BARS,
        table=Table(name="shares of kappa by aspect", columns=("aspect", "kappa", "share"), rows=tuple(rows)),
        x="aspect",
        y="share",
        filters={"aspect": "label:aspect"},
        series="kappa",
        y_label="share of triples",
        is_share=True,
        is_high_good=True,
        ends=(0.0, 1.0),
        note=note,
    )


def _text_charts(judged: Sequence[CaseVerdict], note: str) -> list[Chart]:
    rows: list[tuple[Cell, ...]] = []
    for permuted, gamma, words in (("pv", "gamma_w", "meaning changes"), ("pi", "gamma_wo", "meaning stays")):
        for triple in judged:
            scores = triple.verdict.scores
            values = (scores[f"text_distance_{permuted}"], scores[pair_name(permuted, "a")], scores[gamma])
            rows.append((words, *values, triple.case.case_id))
    table = Table(name="text distance", columns=("text", "distance", "score", "gamma", "case"), rows=tuple(rows))
    return [
        Chart(
            name=f"semvar-text-distance-against-{y}",
            title=title,
            kind=ChartKind.SCATTER,
            table=table,
            x="distance",
            y=y,
            series="text",
            x_label="1 - cosine of T_a with the permutation",
            y_label=y_label,
            note=note,
        )
        for y, y_label, title in (
            ("score", "S(permutation, I_a)", "Text distance against S (as Figure 6 a)"),
            ("gamma", "gamma", "Text distance against gamma (as Figure 6 b)"),
        )
    ]
