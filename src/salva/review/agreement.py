"""Agreement of judges with people, and of people among themselves, as tables."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from salva.core.table import Cell, Table
from salva.errors import UsageError
from salva.messages import message
from salva.review.chances import chance_in, chance_note, weights_of
from salva.review.clusters import Clusters, clusters_of
from salva.review.columns import Scale, column_missing
from salva.review.rating_table import RatingTable
from salva.stats.agreement import Estimate, Weights, binned, cohen, kendall, krippendorff, pearson, spearman

N_BINS = 5
STATISTIC_COLUMNS = ("judge", "statistic", "value", "lower", "upper", "n", "how")
REWEIGHTED_COLUMNS = ("reweighted", "reweighted_lower", "reweighted_upper")
REWEIGHTED_NOTE = " Reweighted: every item counts as many as it stands for."
_MAX_VALUES = 50
"""Up to so many different values, nominal and ordinal alpha take each for itself."""
_SCALE = re.compile(r"(?:(.+)=)?(-?[\d.]+)-(-?[\d.]+)")
PEOPLE = "people"


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreementOptions:
    """How numbers are made comparable where a statistic needs it."""

    n_bins: int = N_BINS
    """The most categories of Cohen's kappa."""
    scales: Mapping[str, Scale] = field(default_factory=dict)
    """The scale of each judge and of "people"; "" for all others."""
    level: str = "interval"
    """What a difference means to Krippendorff's alpha."""
    cluster: str = ""
    """The column whose values are drawn whole for intervals; empty for the documented ones."""

    def scale(self, who: str) -> Scale | None:
        """The scale of a judge or of the people, if it was given."""
        return self.scales.get(who, self.scales.get(""))


def parse_scales(texts: Sequence[str]) -> dict[str, Scale]:
    """Scales by whose they are: 0-100, people=1-5."""
    scales = {}
    for text in texts:
        found = _SCALE.fullmatch(text.strip())
        try:
            low, high = (float(found[2]), float(found[3])) if found else (0.0, 0.0)
        except ValueError:
            low = high = 0.0
        if found is None or low >= high:
            wanted = "LOW-HIGH or WHO=LOW-HIGH, such as people=1-5"
            raise UsageError(message("option-invalid", name="--scale", value=text, wanted=wanted))
        scales[found[1] or ""] = low, high
    return scales


def table_agreement(
    table: RatingTable, options: AgreementOptions | None = None, group: str = ""
) -> tuple[list[Table], list[str]]:
    """Agreement of the people and judges of a table, and notes on what was read; group: also by this column."""
    options, notes, table = options or AgreementOptions(), table.notes, table.rated_by_people()
    clusters = clusters_of(table, options.cluster)
    if not table.judges and len(table.people) < 2:
        raise UsageError(message("rater-single", who=table.people[0]))
    if len(table.items) < 2:
        raise UsageError(message("items-few", n=len(table.items)))
    rows = [line.cells for line in table.items.values()]
    if group and not any(group in row for row in rows):
        header = dict.fromkeys(name for row in rows for name in row)
        raise column_missing(next(iter(table.items.values())).file, group, [*header], "--by")
    return agreement_tables(table, options, clusters, group), [*notes, *chance_note(rows)]


def agreement_tables(table: RatingTable, options: AgreementOptions, clusters: Clusters, group: str) -> list[Table]:
    """Judges against the mean of people, and people among themselves, by group and by measure."""
    items = list(table.items.values())
    groups: dict[str, Sequence[int]] = {"all": range(len(items))}
    for name in dict.fromkeys(line.cell(group) for line in items) if group else ():
        groups[name or "(none)"] = [index for index, line in enumerate(items) if line.cell(group) == name]
    weights = weights_of([chance_in(line.cells) for line in items])
    judged: list[tuple[Cell, ...]] = []
    rated: dict[str, list[tuple[float | None, ...]]] = {}
    drawn: dict[str, list[str]] = {}
    counted: dict[str, list[float] | None] = {}
    for measure in table.measures:
        columns = table.columns(measure)
        people = [*zip(*(columns[who] for who in table.people), strict=True)]
        for name, whole in groups.items():
            indices = [index for index in whole if any(value is not None for value in people[index])]
            heading = name if len(table.measures) == 1 else f"{name}, {measure}"
            rated[heading] = [people[index] for index in indices]
            drawn[heading] = [clusters.names[index] for index in indices]
            counted[heading] = [weights[index] for index in indices] if weights else None
            for judge in table.judges:
                both = {i: (columns[judge][i], _mean(people[i])) for i in indices}
                pairs = {i: (a, b) for i, (a, b) in both.items() if a is not None and b is not None}
                if pairs:
                    own = [weights[i] for i in pairs] if weights else None
                    scales = (_scale(table, options, measure, judge), _scale(table, options, measure, *table.people))
                    names = [clusters.names[i] for i in pairs]
                    found = statistics(judge, [*pairs.values()], options, names, scales, own)
                    judged += [(heading, *row) for row in found]
    tables = []
    if judged:
        unit = f"whole clusters of items ({clusters.text})" if clusters.column else "items"
        note = f"Against the mean rating of the people; 95 % intervals resample {unit}."
        note += REWEIGHTED_NOTE if weights else ""
        headings = ("group", *STATISTIC_COLUMNS, *(REWEIGHTED_COLUMNS if weights else ()))
        tables.append(Table(name="judges and people", columns=headings, rows=tuple(judged), note=note))
    return [*tables, *people_tables("group", rated, options.level, drawn, counted)]


def _scale(table: RatingTable, options: AgreementOptions, measure: str, *names: str) -> Scale | None:
    """The scale that was given for a judge or for the people, or that their columns are documented to have."""
    given = options.scale(names[0] if names[0] in table.judges else PEOPLE)
    return given or next((table.scales[who, measure] for who in names if (who, measure) in table.scales), None)


def _mean(ratings: Sequence[float | None]) -> float | None:
    given = [value for value in ratings if value is not None]
    return sum(given) / len(given) if given else None


def people_tables(
    heading: str,
    rated: Mapping[str, Sequence[Sequence[float | None]]],
    level: str,
    clusters: Mapping[str, Sequence[str]],
    weights: Mapping[str, Weights],
) -> list[Table]:
    """How far people agree among themselves: one row a group, from one row an item and one column a rater."""
    rows = []
    for group, items in rated.items():
        if items and max(map(len, items)) > 1:
            alpha = partial(krippendorff, items, level, clusters[group])
            cells = (*_cells(alpha()), level, *_reweighted(alpha, weights[group]))
            rows.append((group, max(map(len, items)), *cells))
    if not rows:
        return []
    is_weighted = any(weights.values())
    note = "Krippendorff's alpha of the people among themselves."
    note += REWEIGHTED_NOTE if is_weighted else ""
    more = REWEIGHTED_COLUMNS if is_weighted else ()
    columns = (heading, "raters", "alpha", "lower", "upper", "n", "level", *more)
    return [Table(name="people among themselves", columns=columns, rows=tuple(rows), note=note)]


def statistics(
    judge: str,
    pairs: Sequence[tuple[float, float]],
    options: AgreementOptions,
    clusters: Sequence[str],
    scales: tuple[Scale | None, Scale | None],
    weights: Weights = None,
) -> list[tuple[Cell, ...]]:
    """Every statistic of a judge's scores beside the people's means: rows under STATISTIC_COLUMNS.

    clusters: which pairs are drawn anew together.
    scales: of the judge and of the people; kappa and alpha are None where one is not known.
    weights: what each pair counts; with them the rows go on under REWEIGHTED_COLUMNS.
    """
    scores, people = [a for a, _ in pairs], [b for _, b in pairs]
    rows: list[tuple[Cell, ...]] = []

    def add(name: str, how: str, statistic: Callable[..., Estimate]) -> None:
        rows.append((judge, name, *_cells(statistic()), how, *_reweighted(statistic, weights)))

    for name, of in (("pearson", pearson), ("spearman", spearman), ("kendall tau-b", kendall)):
        add(name, "", partial(of, scores, people, clusters))
    kappas = (("cohen", "none"), ("cohen linear", "linear"), ("cohen quadratic", "quadratic"))
    categories = _categories(judge, scores, people, options, scales) if pairs else None
    if categories is None:
        for name in (*(name for name, _ in kappas), "krippendorff"):
            cells = _cells(Estimate(value=None, n=len(pairs)))
            rows.append((judge, name, *cells, "needs --scale", *((None,) * 3 if weights else ())))
        return rows
    a, b = binned(scores, categories.of_judge), binned(people, categories.of_people)
    n_categories = len(categories.of_judge) - 1
    for name, steps in kappas:
        how = categories.how if steps == "none" else f"same, {steps} weights"
        add(name, how, partial(cohen, a, b, n_categories, steps, clusters))
    is_raw = categories.is_one_scale and (options.level == "interval" or len({*scores, *people}) <= _MAX_VALUES)
    both: list[tuple[float, float]] = list(pairs) if is_raw else list(zip(a, b, strict=True))
    how = f"{options.level}, {'values as they are' if is_raw else 'same bins'}"
    add("krippendorff", how, partial(krippendorff, both, options.level, clusters))
    return rows


def _reweighted(statistic: Callable[..., Estimate], weights: Weights) -> tuple[Cell, ...]:
    """The same with things that count as much as they stand for; nothing where all count alike."""
    if not weights:
        return ()
    estimate = statistic(weights=weights)
    return estimate.value, estimate.low, estimate.high


@dataclass(frozen=True, slots=True, kw_only=True)
class _Categories:
    """Into which categories numbers are sorted, by the edges between them."""

    of_judge: Sequence[float]
    of_people: Sequence[float]
    is_one_scale: bool
    how: str


def _categories(
    judge: str,
    scores: Sequence[float],
    people: Sequence[float],
    options: AgreementOptions,
    scales: tuple[Scale | None, Scale | None],
) -> _Categories | None:
    of_judge, of_people = scales
    for who, numbers, scale in ((judge, scores, of_judge), (PEOPLE, people, of_people)):
        if scale and not scale[0] <= min(numbers) <= max(numbers) <= scale[1]:
            odd = min(numbers) if min(numbers) < scale[0] else max(numbers)
            raise UsageError(message("scale-exceeded", who=who, value=f"{odd:g}", scale=_range(scale)))
    if of_judge is None or of_people is None:
        return None
    if of_judge != of_people:
        return _Categories(
            of_judge=_edges(*of_judge, options.n_bins),
            of_people=_edges(*of_people, options.n_bins),
            is_one_scale=False,
            how=f"{options.n_bins} bins from {_range(of_judge)}, people from {_range(of_people)}",
        )
    values = sorted({*scores, *people})
    edges, how = _edges(*of_judge, options.n_bins), f"{options.n_bins} bins from {_range(of_judge)}"
    if len(values) <= options.n_bins:
        edges, how = (*values, float("inf")), "categories " + " ".join(f"{value:.4g}" for value in values)
    return _Categories(of_judge=edges, of_people=edges, is_one_scale=True, how=how)


def _edges(low: float, high: float, n_bins: int) -> tuple[float, ...]:
    step = (high - low) / n_bins or 1.0
    return tuple(low + step * number for number in range(n_bins + 1))


def _range(ends: tuple[float, float]) -> str:
    return f"{ends[0]:.4g} to {ends[1]:.4g}"


def _cells(estimate: Estimate) -> tuple[float | None, float | None, float | None, int]:
    return estimate.value, estimate.low, estimate.high, estimate.n
