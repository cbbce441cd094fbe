"""Metric: faithfulness and stability by category, law and dimension, in the shape of the TIFA-lite tables.

Takes the verdicts on one model. Contrasts, which must differ, have a table of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from math import inf
from typing import ClassVar

from salva.core.about import About
from salva.core.chart import Chart, ChartKind
from salva.core.judgements import CaseVerdict, Judgements, deciding_verdicts
from salva.core.metric import HIGHER, LOWER, MetricValue, not_measured
from salva.core.options import WithoutOptions
from salva.core.own_figure import OwnFigure
from salva.core.protocols import Measured
from salva.core.table import Cell, Table
from salva.core.verdict import observers_text
from salva.results.rates import POOLED, failure_rate
from salva.results.tables import TableColumns, build_table, ends, group_by, present, rows_table
from salva.results.tally import cluster_of, results_of_check
from salva.stats.intervals import Interval
from salva.stats.mean_intervals import cautious_mean_interval
from salva.stats.pair_scores import mean
from salva.suites.faithfulness.templates import CONTRAST, DIMENSIONS, LAWS
from salva.suites.faithfulness.tifa_verdicts import MUST_DIFFER, SAME_ANSWERS

SAME_SIMILARITY = "same-similarity"
_FAITH = ("faith_A", "faith_B", "faith_mean", "faith_stability")
_CLIP = ("clip_A", "clip_B", "clip_mean", "clip_diff", "clip_stability", "image_similarity")
_CATEGORY = ("category_id", "law", "dimension")
_N_WORST = 5
_NOT_ANSWERED, _NOT_COMPARED = "no judge answered about both images of a pair", "no embedder compared a pair"
_MEAN_METRICS = {
    "faith_mean": ("faithfulness", _NOT_ANSWERED),
    "faith_stability": ("stability", _NOT_ANSWERED),
    "clip_mean": ("CLIP score", _NOT_COMPARED),
    "clip_stability": ("CLIP stability", _NOT_COMPARED),
}
"""Each with its title, and why there is none."""
_CONTRAST_RATE = "contrast_rate"

Groups = list[tuple[tuple[str, ...], list[CaseVerdict]]]
"""Pairs by their labels, in the order of the paper."""


def _term(one: CaseVerdict, name: str) -> tuple[float] | None:
    """A score of a pair under a law, for comparisons of models; None where it lacks one."""
    is_asked = one.verdict.check in (SAME_ANSWERS, MUST_DIFFER) and one.case.labels.get("law") != CONTRAST
    return (one.verdict.scores[name],) if is_asked and _scored([one], *_FAITH) else None


class FaithfulnessTables(WithoutOptions):
    """Faithfulness, stability and CLIP scores by category, law and dimension, with charts."""

    version: ClassVar[str] = "1"
    about: ClassVar[About] = About(
        metrics={**dict.fromkeys(_MEAN_METRICS, HIGHER), _CONTRAST_RATE: LOWER},
        figures=(
            OwnFigure(
                name="faith_mean", title="faithfulness", terms=lambda one: _term(one, "faith_mean"), is_share=True
            ),
            OwnFigure(
                name="faith_stability",
                title="stability",
                terms=lambda one: _term(one, "faith_stability"),
                is_share=True,
            ),
        ),
    )

    def measure(self, judgements: Judgements) -> Measured:
        """Metrics, tables and charts for the report."""
        everyone = answered_pairs(judgements.pairs)
        # A pair that a file calls an equivalence stays under its law here, whatever the logic core found.
        of_laws = [pair for pair in everyone if pair.case.labels.get("law") != CONTRAST]
        by_category = category_table(everyone)
        by_law = _table("faithfulness by law", everyone, "law")
        by_dimension = _table("faithfulness by dimension", of_laws, "dimension")
        by_both = _table("faithfulness by law and dimension", of_laws, "law", "dimension")
        clip = _clip_table(everyone, _clip_note(judgements))
        return Measured(
            metrics={
                **{name: _mean_metric(of_laws, name) for name in _MEAN_METRICS},
                _CONTRAST_RATE: _contrast_rate(judgements.of_check(MUST_DIFFER)),
            },
            tables=present(by_category, by_law, by_dimension, by_both, _worst(of_laws), clip),
            charts=tuple(_charts(by_category, by_law, by_dimension, by_both)),
        )


def answered_pairs(pairs: Sequence[CaseVerdict]) -> list[CaseVerdict]:
    """The verdicts on one model that compare answers; pairs: with the deciding observers first."""
    # One check after the other: a sum depends on its order in the last digit.
    return [judged for name in (SAME_ANSWERS, MUST_DIFFER) for judged in deciding_verdicts(pairs, name)]


def category_table(answered: Sequence[CaseVerdict]) -> Table | None:
    """Faithfulness by category; None where nothing was answered."""
    return _table("faithfulness by category", answered, *_CATEGORY)


def _clip_note(judgements: Judgements) -> str:
    """Which embedder made the CLIP scores, and by which options."""
    judged = next(iter(judgements.of_check(SAME_SIMILARITY) or judgements.of_check(SAME_ANSWERS)), None)
    seen_by = observers_text(judged.verdict.observers) if judged else "an unnamed embedder"
    given = judgements.options_of(SAME_ANSWERS)
    scale, stability = given.get("clip_scale", "percent"), given.get("clip_stability", "scaled")
    return f"CLIP scores by {seen_by}; scale: {scale}; stability: {stability}."


def _scored(pairs: Iterable[CaseVerdict], *names: str) -> list[CaseVerdict]:
    """Pairs that have these scores; those without (unreadable replies, failures) are left out of means, and counted."""
    return [pair for pair in pairs if all(name in pair.verdict.scores for name in names)]


def _mean(pairs: Sequence[CaseVerdict], name: str) -> float | None:
    return mean(pair.verdict.scores[name] for pair in pairs) if pairs else None


def _interval(pairs: Sequence[CaseVerdict], name: str) -> Interval | None:
    """95 % of a mean of scores, by Student's t over clusters; None with few clusters.

    The lower end of shares is widened as if one more pair had 0: at its ceiling a score has no spread to show.
    """
    values = [pair.verdict.scores[name] for pair in pairs]
    clusters, cases = [cluster_of(pair.case) for pair in pairs], [pair.case.case_id for pair in pairs]
    if name == "clip_mean":
        return cautious_mean_interval(values, clusters, cases)
    # The published stability of CLIP scores goes far below 0.
    least = -inf if min(values, default=0.0) < 0 else 0.0
    return cautious_mean_interval(values, clusters, cases, pseudo=0.0, least=least, most=1.0)


def _by_labels(pairs: Sequence[CaseVerdict], *labels: str) -> Groups:
    """Pairs by the values of some labels: laws and dimensions in the paper's order, numbers as numbers."""
    groups = group_by(pairs, lambda pair: tuple(pair.case.labels.get(label, "") for label in labels))
    return sorted(groups.items(), key=lambda group: tuple(map(_rank, labels, group[0])))


def _rank(label: str, value: str) -> tuple[int, str]:
    order = {"law": (*LAWS, CONTRAST), "dimension": DIMENSIONS}.get(label, ())
    if value in order:
        return order.index(value), value
    return int(value) if value.isdecimal() else 10**9, value


def _cells(pairs: Sequence[CaseVerdict]) -> tuple[Cell, ...]:
    counted = _scored(pairs, *_FAITH)
    has_dsg = all("dsg_mean" in pair.verdict.scores for pair in counted)
    return (
        len(counted),
        len(pairs) - len(counted),
        *(_mean(counted, name) for name in ("faith_A", "faith_B", "faith_mean")),
        *ends(_interval(counted, "faith_mean")),
        _mean(counted, "faith_stability"),
        *ends(_interval(counted, "faith_stability")),
        _mean(counted, "dsg_mean") if has_dsg else None,
    )


_MEANS: TableColumns[Sequence[CaseVerdict]] = TableColumns(
    (
        *("n_pairs", "n_left_out", "mean_faith_A", "mean_faith_B", "mean_faith", "faith_from", "faith_to"),
        *("mean_faith_stability", "stability_from", "stability_to", "mean_dsg"),
    ),
    _cells,
)


def _table(name: str, pairs: Sequence[CaseVerdict], *labels: str) -> Table | None:
    return build_table(
        name,
        labels,
        _by_labels(pairs, *labels),
        _MEANS,
        note="n_left_out: pairs without a score.",
    )


def _worst(pairs: Sequence[CaseVerdict]) -> Table | None:
    """The least stable categories, the least faithful first among equals, each with its least stable pair."""

    def worst(pair: CaseVerdict) -> tuple[float, float]:
        return pair.verdict.scores["faith_stability"], pair.verdict.scores["faith_mean"]

    def cells(counted: Sequence[CaseVerdict]) -> tuple[Cell, ...]:
        case, verdict = min(counted, key=worst)
        texts = (prompt.text for prompt in case.prompts)
        wrong = "; ".join(failure.message for failure in verdict.failures)
        means = (_mean(counted, "faith_stability"), _mean(counted, "faith_mean"))
        return (case.category, len(counted), *means, case.case_id, *texts, wrong)

    groups = [_scored(group, *_FAITH) for _, group in _by_labels(pairs, *_CATEGORY)]
    rows = sorted((cells(counted) for counted in groups if counted), key=lambda row: row[2:4])
    return rows_table(
        "worst categories",
        (
            *("category", "n_pairs", "mean_faith_stability", "mean_faith"),
            *("least stable pair", "prompt a", "prompt b", "answers"),
        ),
        rows[:_N_WORST],
        note="The least stable categories, each with its least stable pair.",
    )


def _clip_table(pairs: Sequence[CaseVerdict], note: str) -> Table | None:
    groups = [(values, group, _scored(group, *_CLIP)) for values, group in _by_labels(pairs, *_CATEGORY)]
    return build_table(
        "CLIP by category",
        _CATEGORY,
        [(values, (group, scored)) for values, group, scored in groups if scored],
        TableColumns(("n_pairs", "n_left_out"), lambda row: (len(row[1]), len(row[0]) - len(row[1]))),
        TableColumns(tuple(f"mean_{name}" for name in _CLIP), lambda row: (_mean(row[1], name) for name in _CLIP)),
        TableColumns(("stability_from", "stability_to"), lambda row: ends(_interval(row[1], "clip_stability"))),
        note=note,
    )


def _mean_metric(pairs: Sequence[CaseVerdict], name: str) -> MetricValue:
    """The mean of a score over the pairs that have it."""
    title, why = _MEAN_METRICS[name]
    is_share = name in _FAITH
    scored = _scored(pairs, *(_FAITH if is_share else (name,)))
    if not scored:
        return not_measured(why, better=HIGHER, title=title)
    low, high = ends(_interval(scored, name))
    return MetricValue(
        value=_mean(scored, name),
        low=low,
        high=high,
        n=len(scored),
        better=HIGHER,
        is_share=is_share,
        reason=f"mean over pairs; {len(pairs) - len(scored)} have no score",
        title=title,
    )


def _contrast_rate(contrasts: Sequence[CaseVerdict]) -> MetricValue:
    """How often images of different meanings get the same answers."""
    title = "contrasts with equal answers"
    rate = failure_rate(results_of_check(contrasts), POOLED)
    if rate.rate is None:
        return not_measured("no contrast was decided", better=LOWER, title=title)
    low, high = ends(rate.interval)
    return MetricValue(value=rate.rate, low=low, high=high, n=rate.n, better=LOWER, is_share=True, title=title)


def _charts(
    by_category: Table | None, by_law: Table | None, by_dimension: Table | None, by_both: Table | None
) -> Iterable[Chart]:
    bars = {"category": by_category and _with_names(by_category), "law": by_law, "dimension": by_dimension}
    chart = partial(Chart, n="n_pairs", is_share=True, is_high_good=True, ends=(0.0, 1.0))
    for measure, column, short in (
        ("stability", "mean_faith_stability", "stability"),
        ("faithfulness", "mean_faith", "faith"),
    ):
        for name, table in bars.items():
            if table:
                yield chart(
                    name=f"{measure}-by-{name}",
                    title=f"{measure.capitalize()} by {name}",
                    kind=ChartKind.BARS,
                    table=table,
                    x=name,
                    y=column,
                    low=f"{short}_from",
                    high=f"{short}_to",
                    y_label=f"mean {measure}",
                    filters={label: f"label:{label}" for label in ("law", "dimension") if label in table.columns},
                    note="n: pairs.",
                )
        if by_both:
            yield chart(
                name=f"{measure}-law-by-dimension",
                title=f"{measure.capitalize()}, law by dimension",
                kind=ChartKind.HEAT_MAP,
                table=by_both,
                x="dimension",
                y="law",
                value=column,
                filters={"dimension": "label:dimension", "law": "label:law"},
                note="One cell per category.",
            )


def _with_names(table: Table) -> Table:
    """The table with law and dimension as one name, for an axis."""
    rows = tuple((f"{row[1]} {row[2]}".strip() or str(row[0]), *row[1:]) for row in table.rows)
    return Table(name=table.name, columns=("category", *table.columns[1:]), rows=rows, note=table.note)
