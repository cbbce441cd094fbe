"""Metric: SemVarBench's tables: S-bar, gamma and kappa by judge, aspect and category.

Takes the verdicts on one model, by judge. The paper averages sometimes over samples and sometimes over categories;
here both are given and named. In these tables a triple of several categories counts in each of them. The tables that
compare models hold the rows of one model, for the report to join. Names of tables give the paper's number.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar, NamedTuple

from salva.core.about import About
from salva.core.case import Case
from salva.core.judgements import CaseVerdict, Judgements
from salva.core.metric import HIGHER, LOWER, MetricValue, not_measured
from salva.core.options import WithoutOptions
from salva.core.own_figure import OwnFigure
from salva.core.protocols import Measured
from salva.core.result import DECIDED
from salva.core.scoring import pair_name
from salva.core.table import Cell, Table
from salva.core.verdict import Failure
from salva.results.tables import (
    TableColumns,
    build_table,
    ends,
    group_by,
    present,
    rows_table,
    subgroups,
)
from salva.results.tally import cluster_of
from salva.stats.intervals import Interval
from salva.stats.mean_intervals import cautious_mean_interval
from salva.stats.means import group_mean, mean, share_above
from salva.suites.semvar.charts import charts_of
from salva.suites.semvar.effect import (
    ASPECTS,
    CHANGED_AT,
    PAIRS,
    QUADRANTS,
    aspect_of,
    quadrants,
    seed_variation,
)
from salva.suites.semvar.judged import grouped, labels_of, values_of
from salva.suites.semvar.texts import edit_distances, findings_table, text_similarity, token_accuracy

CHECK = "semantic-effect"
FIGURES = ("alignment", "gamma_w", "gamma_wo", "kappa")


class _Figure(NamedTuple):
    """One of the paper's figures as a metric."""

    title: str
    better: str
    least: float
    most: float
    published: float
    """Of CogView-3-Plus under GPT-4o, the best kappa of Table 2."""
    meaning: str


_METRICS = {
    "kappa": _Figure("kappa", HIGHER, -2, 2, 0.20, "1 is right, 0 is chance"),
    "alignment": _Figure("S-bar", HIGHER, 0, 1, 0.81, "how well images fit their own text"),
    "gamma_w": _Figure("gamma with a change of meaning", HIGHER, 0, 2, 0.49, "1 is right"),
    "gamma_wo": _Figure("gamma without a change of meaning", LOWER, 0, 2, 0.28, "0 is right"),
}
SHARES_ABOVE = (0.2, 0.5)
"""The thresholds of kappa whose shares the paper compares between aspects."""

ByJudge = Mapping[str, Sequence[CaseVerdict]]
"""Scored verdicts by judge."""

_ALL = "all"
_PERMUTED = {"gamma_w": "pv", "gamma_wo": "pi"}
_PSEUDO = {"kappa": 0.0}
"""Near its ceiling of 1 kappa has no spread left; its lower end is widened as if one more triple had this."""


class SemVarTables(WithoutOptions):
    """How far images follow the meaning, in the shape of the published tables."""

    version: ClassVar[str] = "1"
    about: ClassVar[About] = About(
        metrics={name: figure.better for name, figure in _METRICS.items()},
        figures=(
            OwnFigure(name="kappa", title="kappa", terms=lambda one: _term(one, "kappa"), reach=4.0),
            OwnFigure(name="alignment", title="S-bar", terms=lambda one: _term(one, "alignment"), reach=1.0),
        ),
    )

    def measure(self, judgements: Judgements) -> Measured:
        """Metrics, tables and charts for the report."""
        cases, by_judge = judgements.cases, scored(judgements)
        about_texts = (edit_distances(cases), findings_table(cases))
        metrics = _metrics(_scored(judgements.of_check(CHECK)))
        if not by_judge:
            return Measured(metrics=metrics, tables=present(*about_texts))
        tables = present(
            _models_and_judges(by_judge),
            _categories_of_models(cases, by_judge),
            _effects(by_judge),
            _by_aspect(by_judge),
            _by_category(by_judge),
            _quadrants(by_judge),
            _matched_scores(by_judge),
            _seed_noise(by_judge),
            _relation_errors(by_judge),
            text_similarity(by_judge),
            token_accuracy(by_judge),
            *about_texts,
        )
        return Measured(metrics=metrics, tables=tables, charts=charts_of(by_judge))


def scored(judgements: Judgements) -> dict[str, list[CaseVerdict]]:
    """The decided verdicts with their scores by judge, the deciding one first."""
    groups = {judge: _scored(judged) for judge, judged in judgements.by_observer(CHECK).items()}
    return {judge: judged for judge, judged in groups.items() if judged}


def _scored(judged: Sequence[CaseVerdict]) -> list[CaseVerdict]:
    return [triple for triple in judged if _term(triple, "kappa") is not None]


def _term(one: CaseVerdict, name: str) -> tuple[float] | None:
    """A score of a decided verdict, for comparisons of models."""
    scores = one.verdict.scores if one.verdict.check == CHECK and one.verdict.outcome in DECIDED else {}
    return (scores[name],) if name in scores else None


def interval_by_sample(judged: Sequence[CaseVerdict], name: str) -> Interval | None:
    """95 % of a score's mean over triples."""
    return _interval([(triple, "") for triple in judged], name)


def _interval_by_category(judged: Sequence[CaseVerdict], name: str) -> Interval | None:
    """95 % of the mean over categories; a triple goes with all its categories."""
    spread = [(triple, category) for triple in judged for category in labels_of(triple.case, "category")]
    return _interval(spread, name)


def _interval(spread: Sequence[tuple[CaseVerdict, str]], name: str) -> Interval | None:
    """95 % of a score's mean over categories, inside what the score can be."""
    values, cases = [triple.verdict.scores[name] for triple, _ in spread], [triple.case for triple, _ in spread]
    ids, categories = [case.case_id for case in cases], [category for _, category in spread]
    least, most = _METRICS[name].least, _METRICS[name].most
    clusters = [cluster_of(case) for case in cases]
    return cautious_mean_interval(values, clusters, ids, categories, _PSEUDO.get(name), least=least, most=most)


def _by_categories(judged: Sequence[CaseVerdict], name: str) -> float:
    return group_mean(values_of(judged, name), [labels_of(triple.case, "category") for triple in judged])


def _means(judged: Sequence[CaseVerdict]) -> tuple[float, ...]:
    return tuple(mean(values_of(judged, name)) for name in FIGURES)


_EFFECT: TableColumns[Sequence[CaseVerdict]] = TableColumns(
    ("n", *FIGURES, "kappa_from", "kappa_to"),
    lambda group: (len(group), *_means(group), *ends(interval_by_sample(group, "kappa"))),
)


def _models_and_judges(by_judge: ByJudge) -> Table | None:
    """Table 2: a model a row, the four figures under every judge; once over samples, once over categories."""
    groups = list(by_judge.values())
    figures = (f"{name} ({judge})" for judge in by_judge for name in FIGURES)
    by_sample = (value for judged in groups for value in _means(judged))
    by_category = (_by_categories(judged, name) for judged in groups for name in FIGURES)
    return rows_table(
        "models and judges (as Table 2)",
        ("model", "mean", *figures),
        ((_model(by_judge), "by sample", *by_sample), (_model(by_judge), "by category", *by_category)),
        note="By sample: triples count equally. By category: categories do.",
        is_joined=True,
    )


def _categories_of_models(cases: Sequence[Case], by_judge: ByJudge) -> Table | None:
    """Tables 9 and 10: a model a row, mean kappa under every category and aspect, in the paper's order."""
    published = [name for aspect in ASPECTS.values() for name in aspect]
    present_names = {name for case in cases for name in labels_of(case, "category")}
    categories = [name for name in published if name in present_names] + sorted(present_names - set(published))
    aspects = [name for name in ASPECTS if name in {a for case in cases for a in labels_of(case, "aspect")}]

    def means(judged: Sequence[CaseVerdict]) -> Iterator[Cell]:
        by_category, by_aspect = grouped(judged, "category"), grouped(judged, "aspect")
        for group in [by_category.get(name) for name in categories] + [by_aspect.get(name) for name in aspects]:
            yield mean(values_of(group, "kappa")) if group else None

    return build_table(
        "kappa by category and model (as Tables 9 and 10)",
        ("model", "judge"),
        [((_model(by_judge), judge), judged) for judge, judged in by_judge.items()],
        TableColumns((*categories, *(f"all {name}" for name in aspects)), means),
        TableColumns(
            ("avg by sample", "avg by category"),
            lambda judged: (mean(values_of(judged, "kappa")), _by_categories(judged, "kappa")),
        ),
        is_joined=True,
    )


def _model(by_judge: ByJudge) -> str:
    return next(triple.verdict.model for judged in by_judge.values() for triple in judged)


def _effects(by_judge: ByJudge) -> Table | None:
    def cells(judged: Sequence[CaseVerdict], mean_by: Cell) -> tuple[Cell, ...]:
        if mean_by == "by sample":
            return (len(judged), *_means(judged), *ends(interval_by_sample(judged, "kappa")))
        n_categories = len({name for triple in judged for name in labels_of(triple.case, "category")})
        means = (_by_categories(judged, name) for name in FIGURES)
        return (n_categories, *means, *ends(_interval_by_category(judged, "kappa")))

    return rows_table(
        "semantic effect (as Table 2, with intervals)",
        ("judge", "mean", "n", *FIGURES, "kappa_from", "kappa_to"),
        (
            (judge, mean_by, *cells(judged, mean_by))
            for judge, judged in by_judge.items()
            for mean_by in ("by sample", "by category")
        ),
    )


def _by_aspect(by_judge: ByJudge) -> Table | None:
    def kappa_by_category(aspect: Cell, group: Sequence[CaseVerdict]) -> float:
        # Of a triple of two aspects only the categories of this one count here.
        own = [[name for name in labels_of(triple.case, "category") if aspect_of(name) == aspect] for triple in group]
        return group_mean(values_of(group, "kappa"), own)

    return rows_table(
        "semantic effect by aspect (with the shares of Figure 8)",
        (
            *("judge", "aspect", *_EFFECT.names, "kappa_by_category"),
            *(f"share_above_{threshold:g}" for threshold in SHARES_ABOVE),
        ),
        (
            (
                *(*keys, *_EFFECT.cells(group), kappa_by_category(keys[-1], group)),
                *(share_above(values_of(group, "kappa"), threshold) for threshold in SHARES_ABOVE),
            )
            for keys, group in subgroups(by_judge, lambda judged: grouped(judged, "aspect"))
        ),
    )


def _by_category(by_judge: ByJudge) -> Table | None:
    return build_table(
        "semantic effect by category (as Tables 9 and 10, with intervals)",
        ("judge", "category"),
        subgroups(by_judge, lambda judged: grouped(judged, "category")),
        _EFFECT,
        note="A triple of several categories counts in each.",
    )


def _quadrants(by_judge: ByJudge) -> Table | None:
    def share(keys: Sequence[Cell], judged: Sequence[CaseVerdict]) -> tuple[Cell, ...]:
        steps = (quadrants(triple.verdict.scores["gamma_w"], triple.verdict.scores["gamma_wo"]) for triple in judged)
        n = sum(keys[1] in pair for pair in steps)
        return (n, n / len(judged))

    return rows_table(
        "quadrants (appendix A)",
        ("judge", "quadrant", "what happens", "verdict", "n", "share_of_triples"),
        (
            (*keys, *share(keys, judged))
            for judge, judged in by_judge.items()
            for quadrant, words in QUADRANTS.items()
            for keys in [(judge, quadrant, words, "as it should be" if quadrant in (1, 3) else "wrong")]
        ),
        note=f"An image changes above a gamma of {CHANGED_AT:g}.",
    )


def _matched_scores(by_judge: ByJudge) -> Table | None:
    def by_repeat(judged: Sequence[CaseVerdict]) -> dict[str, Sequence[CaseVerdict]]:
        repeats = sorted(group_by(judged, lambda triple: triple.verdict.repeat).items())
        sets = {f"repeat {repeat + 1}": group for repeat, group in repeats} if len(repeats) > 1 else {}
        return {**sets, _ALL: judged}

    def cells(group: Sequence[CaseVerdict]) -> tuple[Cell, ...]:
        alignment, *effects = _means(group)
        a, pv, pi = (mean(values_of(group, pair_name(role, role))) for role in ("a", "pv", "pi"))
        return (len(group), alignment, a, pv, pi, (a + pv) / 2, (a + pi) / 2, *effects)

    return build_table(
        "matched scores (as Table 23)",
        ("judge", "images"),
        subgroups(by_judge, by_repeat),
        TableColumns(("n", "alignment", "s_a", "s_pv", "s_pi", "mean_a_pv", "mean_a_pi", *FIGURES[1:]), cells),
        note="s: each image with its own text.",
    )


def _seed_noise(by_judge: ByJudge) -> Table | None:
    def by_figure(judged: Sequence[CaseVerdict]) -> dict[str, list[list[CaseVerdict]]]:
        by_case = group_by(judged, lambda triple: triple.case.case_id).values()
        repeated = [group for group in by_case if len(group) > 1]
        return dict.fromkeys(_PERMUTED, repeated) if repeated else {}

    def cells(figure: str, groups: Sequence[Sequence[CaseVerdict]]) -> tuple[Cell, ...]:
        noise = [seed_variation([_pairs(triple) for triple in group], _PERMUTED[figure]) for group in groups]
        gammas = [mean(values_of(group, figure)) for group in groups]
        excess = [gamma - floor for gamma, floor in zip(gammas, noise, strict=True)]
        cases = [group[0].case for group in groups]
        clusters, ids = [cluster_of(case) for case in cases], [case.case_id for case in cases]
        interval = cautious_mean_interval(excess, clusters, ids, least=-2.0, most=2.0)
        return (len(groups), mean(gammas), mean(noise), mean(excess), *ends(interval))

    return rows_table(
        "seed noise",
        ("judge", "figure", "cases", "gamma", "same_prompt_other_seed", "above_noise", "from", "to"),
        ((*keys, *cells(str(keys[-1]), groups)) for keys, groups in subgroups(by_judge, by_figure)),
        note="Interval: of above_noise.",
    )


def _pairs(triple: CaseVerdict) -> dict[tuple[str, str], float]:
    return {pair: triple.verdict.scores[pair_name(*pair)] for pair in PAIRS}


def _relation_errors(by_judge: ByJudge) -> Table | None:
    """Which images are wrong in which way, among failed verdicts."""

    def by_type(judged: Sequence[CaseVerdict]) -> dict[str, list[Failure]]:
        failures = (failure for triple in judged for failure in triple.verdict.failures)
        return dict(sorted(group_by(failures, lambda failure: failure.failure_type).items()))

    def by_image(failures: Sequence[Failure]) -> Iterator[Cell]:
        return (sum(failure.role == role for failure in failures) for role in ("a", "pv", "pi", ""))

    return build_table(
        "relation errors (as Tables 17 to 22)",
        ("judge", "error"),
        sorted(subgroups(by_judge, by_type), key=lambda row: row[0]),
        TableColumns(("image_a", "image_pv", "image_pi", "case"), by_image),
    )


def _metrics(judged: Sequence[CaseVerdict]) -> dict[str, MetricValue]:
    """The paper's four figures by the judge that makes the results."""
    if not judged:
        none = "no triple was scored"
        return {name: not_measured(none, better=one.better, title=one.title) for name, one in _METRICS.items()}
    # The paper's sentences have no formulas; other triples are not what its figures are about.
    is_official = not any(prompt.formula for triple in judged for prompt in triple.case.prompts)
    metrics = {}
    for name, figure in _METRICS.items():
        low, high = ends(interval_by_sample(judged, name))
        metrics[name] = MetricValue(
            value=mean(values_of(judged, name)),
            low=low,
            high=high,
            n=len(judged),
            better=figure.better,
            published=figure.published if is_official else None,
            reason=f"{figure.meaning}; mean over triples, by category {_by_categories(judged, name):.3f}",
            title=figure.title,
        )
    return metrics
