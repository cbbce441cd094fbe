"""Metric: ACTesting's tables: errors by operator and definition (Figure 6), misses (Table 2), quality (Table 1).

Takes the verdicts of the operators' checks on one model, by the deciding observers. Every share has its own
denominator, an interval over clusters of captions, and the noise floor where wordings and seeds were crossed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

from salva.core.about import About
from salva.core.judgements import CaseVerdict, Judgements, SetFigure, deciding_verdicts
from salva.core.metric import LOWER, MetricValue
from salva.core.options import WithoutOptions
from salva.core.protocols import Measured
from salva.core.table import Cell, Table
from salva.results.tables import TableColumns, build_table, ends, group_by, present, rows_table
from salva.stats.means import mean
from salva.stats.rates import Counted, macro, seeds_interval
from salva.suites.actesting.charts import charts_of
from salva.suites.actesting.checks import ENTITY, RELATION, error_score
from salva.suites.actesting.counting import (
    ORIG,
    ClusteredShare,
    Miss,
    by_operator,
    change_cells,
    errors,
    misses,
    noise,
    weight_of,
)
from salva.suites.actesting.definitions import (
    DEFINITIONS,
    EC,
    EC_ER_A,
    EC_ER_R,
    ER_A,
    ER_R,
    EXPECTED,
    OPERATORS,
    PAPER,
    SS,
)
from salva.suites.actesting.observing import mutation_of
from salva.suites.actesting.published import REAL_IMAGES, SETS, TABLE_1, TABLE_2

_MISSES = ("Miss_e", "Miss_r")
KINDS = {ENTITY: "Error_e", RELATION: "Error_r"}
_MISS_METRICS = ("miss_e", "miss_r")
_AVERAGE_ERROR = 0.6
"""Of the three operators, as the paper sums up both kinds of errors."""


class ActestingTables(WithoutOptions):
    """What a change of a caption does to its image, in the shape of the published tables."""

    version: ClassVar[str] = "1"
    about: ClassVar[About] = About(metrics=dict.fromkeys((*KINDS, *_MISS_METRICS), LOWER))

    def measure(self, judgements: Judgements) -> Measured:
        """Metrics, tables and charts for the report."""
        pairs, controls = _ours(judgements.pairs), _ours(judgements.controls)
        if not pairs:
            return Measured()
        definition = definition_of(judgements)
        missed = misses(pairs)
        figure_6 = errors_table(pairs, controls)
        misses_by_set = misses_table(pairs[0].verdict.model, missed)
        tables = [
            quality_table(pairs[0].verdict.model, judgements.figures),
            figure_6,
            misses_by_set,
            over_baseline(pairs, definition),
            compositions(missed),
        ]
        if definition == PAPER:
            tables += [_published(), _published_quality()]
        metrics = {kind: _error(kind, definition, pairs, controls) for kind in KINDS}
        return Measured(
            metrics=metrics | _misses(missed, definition),
            tables=present(*tables),
            charts=tuple(charts_of(figure_6, definition, misses_by_set)),
        )


def definition_of(judgements: Judgements) -> str:
    """The definition that verdicts go by."""
    named = [judgements.options_of(pair.verdict.check).get("definition") for pair in _ours(judgements.pairs)]
    return str(next((name for name in named if name), EXPECTED))


def errors_table(pairs: Sequence[CaseVerdict], controls: Sequence[CaseVerdict]) -> Table | None:
    """Errors of entities and of relations, by operator and definition."""
    by_control = by_operator(controls)
    is_weighted = any(weight_of(pair.case) != 1 for pair in pairs)
    columns = ("model", "definition", "operator", "error", "rate", "low", "high", "n", "undecided", "noise_rate")

    def cells(operator: str, group: Sequence[CaseVerdict], score: str) -> tuple[Cell, ...]:
        share = errors(group, score)
        floor = noise(by_control.get(operator, ()), score)
        return (*share.cells(), share.undecided, floor, *([share.reweighted] if is_weighted else []))

    return rows_table(
        "errors by operator",
        (*columns, *(["reweighted_rate"] if is_weighted else [])),
        (
            (group[0].verdict.model, definition, operator, name, *cells(operator, group, score))
            for definition in DEFINITIONS
            for operator, group in _ordered(by_operator(pairs))
            for name, score in _scores(definition)
        ),
        title="Errors by operator and definition (as Figure 6)",
        note="noise_rate: the same caption under another seed."
        + (" reweighted_rate: for a uniform sample." if is_weighted else ""),
        is_joined=True,
    )


def _scores(definition: str) -> list[tuple[str, str]]:
    """The errors of a definition and the scores that say them."""
    return [(name, error_score(definition, kind)) for kind, name in KINDS.items()]


def misses_table(model: str, missed: Mapping[str, Miss]) -> Table | None:
    """What captions say and their images do not show, by set (Table 2), and the change against the seeds."""

    def cells(name: str, share: ClusteredShare, base: ClusteredShare) -> tuple[Cell, ...]:
        change = None if name == ORIG else share.over(base)
        return (*share.cells(), share.undecided, *change_cells(change))

    return rows_table(
        "misses by set",
        (
            *("model", "set", "miss", "rate", "low", "high", "n", "undecided"),
            *("change_rate", "change_low", "change_high"),
        ),
        (
            (model, name, miss, *cells(name, share, base))
            for name in (ORIG, *OPERATORS)
            if name in missed
            for miss, share, base in zip(_MISSES, missed[name], missed.get(ORIG, missed[name]), strict=True)
        ),
        title="Missed entities and relations by set (as Table 2)",
        note="n: entities and triples in captions. change: relative to the seeds.",
        is_joined=True,
    )


def quality_table(model: str, figures: Sequence[SetFigure]) -> Table | None:
    """The image quality of each set (Table 1), and the change relative to the seeds'."""
    base = {figure.name: figure.value for figure in figures if figure.set == ORIG}
    rank = {name: place for place, name in enumerate((ORIG, *OPERATORS))}

    def cells(figure: SetFigure) -> tuple[Cell, ...]:
        of_orig = base.get(figure.name)
        change = figure.value / of_orig - 1 if of_orig and figure.set != ORIG else None
        ends = (figure.low, figure.high, figure.spread or None)
        return (figure.value, *ends, figure.n_images, figure.n_reference or None, change, figure.by)

    return build_table(
        "quality by set",
        ("model", "set", "figure"),
        [
            ((model, figure.set, figure.name), figure)
            for figure in sorted(figures, key=lambda f: (f.name, rank.get(f.set, len(rank))))
        ],
        TableColumns(("value", "from", "to", "spread", "n", "n_reference", "change_rate", "by"), cells),
        title="Image quality (as Table 1)",
        note="FID: lower is better. From salva quality --by-set.",
        is_joined=True,
    )


def over_baseline(pairs: Sequence[CaseVerdict], definition: str) -> Table | None:
    """Each operator's errors over those of the synonym baseline."""
    groups = by_operator(pairs)
    baselines = [(name, score, errors(groups.get(SS, ()), score)) for name, score in _scores(definition)]
    return rows_table(
        "operators over ss",
        ("model", "operator", "error", "change_rate", "low", "high"),
        (
            (group[0].verdict.model, operator, name, *change_cells(errors(group, score).over(base)))
            for operator, group in _ordered(groups)
            for name, score, base in baselines
            if operator != SS and base.n
        ),
        note=f"By {definition}: errors relative to those of synonyms.",
        is_joined=True,
    )


def compositions(missed: Mapping[str, Miss]) -> Table | None:
    """Two combined operators over each of them."""
    return rows_table(
        "compositions over single operators",
        ("set", "over", "miss", "change_rate", "low", "high"),
        (
            (both, single, name, *change_cells(share.over(base)))
            for both, single in ((EC_ER_R, EC), (EC_ER_R, ER_R), (EC_ER_A, EC), (EC_ER_A, ER_A))
            if both in missed and single in missed
            for name, share, base in zip(_MISSES, missed[both], missed[single], strict=True)
        ),
    )


def _error(kind: str, definition: str, pairs: Sequence[CaseVerdict], controls: Sequence[CaseVerdict]) -> MetricValue:
    """The mean over the operators other than the baseline of their shares of wrong pairs."""
    score = error_score(definition, kind)
    shares = {operator: errors(group, score) for operator, group in _ordered(by_operator(pairs))}
    mutants = [operator for operator in shares if operator != SS]
    decided = [pair for pair in pairs if score in pair.verdict.scores and mutation_of(pair.case).operator != SS]
    cases = [
        Counted(
            category=mutation_of(group[0].case).operator,
            n_hits=sum(int(pair.verdict.scores[score]) for pair in group),
            n=len(group),
        )
        for group in group_by(decided, lambda pair: pair.case.case_id).values()
    ]
    low, high = ends(seeds_interval(cases))
    over = ", ".join(operator for operator in mutants if shares[operator].n)
    parts = [f"by {definition}, mean over {over}" if over else f"by {definition}, no pair is decided"]
    parts += [f"{operator} undecided" for operator in shares if not shares[operator].n]
    base, floor = shares[SS].value if SS in shares else None, noise(controls, score)
    parts += [f"synonyms alone {100 * base:.1f} %"] if base is not None else []
    parts += [f"another seed alone {100 * floor:.1f} %"] if floor is not None else []
    return MetricValue(
        value=macro(cases),
        low=low,
        high=high,
        n=len(decided),
        better=LOWER,
        published=_AVERAGE_ERROR if definition == PAPER else None,
        reason="; ".join(parts),
        title=KINDS[kind],
        is_share=True,
    )


def _misses(missed: Mapping[str, Miss], definition: str) -> dict[str, MetricValue]:
    """What the captions themselves name or say and their images do not show."""
    metrics = {}
    for which, (name, title) in enumerate(zip(_MISS_METRICS, _MISSES, strict=True)):
        share = missed[ORIG][which] if ORIG in missed else ClusteredShare()
        low, high = ends(share.interval())
        metrics[name] = MetricValue(
            value=share.value,
            low=low,
            high=high,
            n=share.n,
            better=LOWER,
            published=mean(row[which][0] for row in TABLE_2.values()) if definition == PAPER else None,
            reason="of the captions as they were" if share.n else "nothing of the captions is decided",
            title=title,
            is_share=True,
        )
    return metrics


def _published() -> Table | None:
    return rows_table(
        "published misses",
        ("model", "set", "Miss_e", "Miss_r"),
        (
            (model, name, row.entities[i], row.relations[i])
            for model, row in TABLE_2.items()
            for i, name in enumerate(SETS)
        ),
        note="Table 2 of the paper.",
    )


def _published_quality() -> Table | None:
    models = ((model, name, *values) for model, by_set in TABLE_1.items() for name, values in by_set.items())
    return rows_table(
        "published quality",
        ("model", "set", "I-FID", "I-IS", "R-precision"),
        (*models, ("MS COCO", "real images", *REAL_IMAGES)),
        note="Table 1 of the paper.",
    )


def _ordered(groups: Mapping[str, Sequence[CaseVerdict]]) -> list[tuple[str, Sequence[CaseVerdict]]]:
    return [(name, groups[name]) for name in OPERATORS if name in groups]


def _ours(pairs: Iterable[CaseVerdict]) -> list[CaseVerdict]:
    """The verdicts of the operators' own checks by the deciding observers, one for every pair and repeat."""
    own = [pair for pair in pairs if pair.case.mutation is not None and pair.verdict.check == pair.case.check]
    checks = dict.fromkeys(pair.verdict.check for pair in own)
    return [pair for check in checks for pair in deciding_verdicts(own, check)]
