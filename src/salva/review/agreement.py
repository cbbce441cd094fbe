"""How far judges agree with people, as tables: from a file of both, or from one of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path

from salva.core.counted import counted
from salva.core.table import Cell, Table
from salva.errors import UsageError
from salva.review.chances import chance_in, chance_note, weights_of
from salva.review.clusters import Clusters, clusters_of
from salva.review.question_sheets import is_label_row
from salva.review.rating_joins import read_ratings
from salva.review.ratings import Columns, Ratings
from salva.stats.agreement import Estimate, Weights, binned, cohen, kendall, krippendorff, pearson, spearman

N_BINS = 5
STATISTIC_COLUMNS = ("judge", "statistic", "value", "lower", "upper", "n", "how")
REWEIGHTED_COLUMNS = ("reweighted", "reweighted_lower", "reweighted_upper")
REWEIGHTED_NOTE = " Reweighted: every thing counts as many as it stands for, since categories were sampled apart."
_MOST_VALUES = 50
"""Up to so many different values, nominal and ordinal alpha take each for itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reckoning:
    """How numbers are made comparable where a statistic needs it."""

    n_bins: int = N_BINS
    """The most categories Cohen's kappa is given."""
    edges: tuple[float, ...] = ()
    """The edges of its categories, for judges and people alike; empty to make n_bins."""
    level: str = "interval"
    """What a difference means to Krippendorff's alpha."""
    cluster: str = ""
    """The column whose values are drawn whole for intervals; empty to find it by its name."""


def parse_bins(text: str) -> tuple[int, tuple[float, ...]]:
    """A number of bins, or the edges of bins: 5, or 0,20,40,60,80,100."""
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) == 1 and numbers[0] >= 2 and numbers[0].is_integer():
        return int(numbers[0]), ()
    if len(numbers) > 2 and all(a < b for a, b in pairwise(numbers)):
        return len(numbers) - 1, tuple(numbers)
    raise UsageError(
        f"--bins is {text!r}; it must be a number from 2, or three or more rising edges such as 0,25,50,100"
    )


def file_agreement(
    path: Path,
    columns: Columns,
    reckoning: Reckoning | None = None,
    scores: Path | None = None,
    questions: Path | None = None,
) -> tuple[list[Table], list[str]]:
    """Agreement of the people and judges in a file, or in two; also what was taken for what."""
    return ratings_agreement(read_ratings(path, columns, scores, questions), str(path), reckoning)


def ratings_agreement(ratings: Ratings, name: str, reckoning: Reckoning | None = None) -> tuple[list[Table], list[str]]:
    """The same of ratings that were read; name: where they lie."""
    reckoning = reckoning or Reckoning()
    clusters = clusters_of(ratings, reckoning.cluster, name)
    taken_for = [f"{what}: {which or 'none'}" for what, which in ratings.taken_for.items()]
    taken_for.append(f"clusters: {clusters.said}")
    taken_for += chance_note(ratings.rows)
    tables = agreement_tables(ratings, reckoning, clusters)
    if not tables:
        raise UsageError(
            f"{name!r} holds the ratings of one person and no judge ({'; '.join(taken_for)}); "
            "name the columns with --people and --judge, or give people's ratings in a file of their own with --ratings"
        )
    if len(ratings.things) < 2:
        n = counted(len(ratings.things), "rated things")
        raise UsageError(f"{name!r} has {n}, and agreement takes at least two; add rows, one a rated thing")
    return tables, [*taken_for, *ratings.problems]


def agreement_tables(ratings: Ratings, reckoning: Reckoning, clusters: Clusters) -> list[Table]:
    """Judges against the mean of people, and people among themselves, by group where there are groups.

    Yes and no to whole pictures are never put together with answers from 0 to 1.
    """
    whole = range(len(ratings.things))
    groups = {"all": {*whole}}
    for name in dict.fromkeys(ratings.groups) if any(ratings.groups) else ():
        groups[name or "(none)"] = {index for index in whole if ratings.groups[index] == name}
    labels = {index for index, row in enumerate(ratings.rows) if is_label_row(row)}
    kinds = {", answers": {*whole} - labels, ", labels": labels} if labels else {"": {*whole}}
    kept = {f"{name}{kind}": sorted(group & own) for name, group in groups.items() for kind, own in kinds.items()}
    parts = {name: _part(ratings, indices) for name, indices in kept.items()}
    together = {name: [clusters.names[index] for index in indices] for name, indices in kept.items()}
    whole_weights = weights_of([chance_in(row) for row in ratings.rows])
    weights = {name: whole_weights and [whole_weights[index] for index in indices] for name, indices in kept.items()}
    judged = [
        (group, *row)
        for group, part in parts.items()
        for row in _judge_rows(part, reckoning, together[group], weights[group])
    ]
    tables = []
    if judged:
        drawn = f"whole clusters of the rated things ({clusters.said})" if clusters.column else "the rated things"
        note = f"Each judge against the mean rating of the people; 95 % intervals draw {drawn} anew."
        note += REWEIGHTED_NOTE if whole_weights else ""
        columns = ("group", *STATISTIC_COLUMNS, *(REWEIGHTED_COLUMNS if whole_weights else ()))
        tables.append(Table(name="judges and people", columns=columns, rows=tuple(judged), note=note))
    people = {group: list(zip(*part.people.values(), strict=True)) for group, part in parts.items()}
    return [*tables, *people_tables("group", people, reckoning.level, together, weights)]


def people_tables(
    heading: str,
    rated: Mapping[str, Sequence[Sequence[float | None]]],
    level: str,
    clusters: Mapping[str, Sequence[str]],
    weights: Mapping[str, Weights],
) -> list[Table]:
    """How far people agree among themselves: one row a group, from one row a thing and one column a rater."""
    rows = []
    for group, things in rated.items():
        if things and max(map(len, things)) > 1:
            alpha = partial(krippendorff, things, level, clusters[group])
            cells = (*_cells(alpha()), level, *_reweighted(alpha, weights[group]))
            rows.append((group, max(map(len, things)), *cells))
    if not rows:
        return []
    is_weighted = any(weights.values())
    note = "Krippendorff's alpha of the people among themselves; what no judge can be expected to exceed by far."
    note += REWEIGHTED_NOTE if is_weighted else ""
    more = REWEIGHTED_COLUMNS if is_weighted else ()
    columns = (heading, "raters", "alpha", "lower", "upper", "n", "level", *more)
    return [Table(name="people among themselves", columns=columns, rows=tuple(rows), note=note)]


def statistics(
    judge: str,
    pairs: Sequence[tuple[float, float]],
    reckoning: Reckoning,
    clusters: Sequence[str],
    scale: tuple[float, float] | None = None,
    weights: Weights = None,
) -> list[tuple[Cell, ...]]:
    """Every statistic of a judge's scores beside the people's means: rows under STATISTIC_COLUMNS.

    clusters: which pairs are drawn anew together.
    scale: the lowest and highest number of both, where it is known that they share one.
    weights: what each pair counts; with them the rows go on under REWEIGHTED_COLUMNS.
    """
    scores, people = [a for a, _ in pairs], [b for _, b in pairs]
    rows: list[tuple[Cell, ...]] = []

    def add(name: str, how: str, statistic: Callable[..., Estimate]) -> None:
        rows.append((judge, name, *_cells(statistic()), how, *_reweighted(statistic, weights)))

    for name, of in (("pearson", pearson), ("spearman", spearman), ("kendall tau-b", kendall)):
        add(name, "", partial(of, scores, people, clusters))
    if not pairs:
        return rows
    sorting = _sorting(scores, people, reckoning, scale)
    a, b = binned(scores, sorting.of_judge), binned(people, sorting.of_people)
    n_categories = len(sorting.of_judge) - 1
    for name, steps in (("cohen", "none"), ("cohen linear", "linear"), ("cohen quadratic", "quadratic")):
        how = sorting.how if steps == "none" else f"same, {steps} weights"
        add(name, how, partial(cohen, a, b, n_categories, steps, clusters))
    is_raw = sorting.is_one_scale and (reckoning.level == "interval" or len({*scores, *people}) <= _MOST_VALUES)
    both: list[tuple[float, float]] = list(pairs) if is_raw else list(zip(a, b, strict=True))
    how = f"{reckoning.level}, {'values as they are' if is_raw else 'same bins'}"
    add("krippendorff", how, partial(krippendorff, both, reckoning.level, clusters))
    return rows


def _reweighted(statistic: Callable[..., Estimate], weights: Weights) -> tuple[Cell, ...]:
    """The same with things that count as much as they stand for; nothing where all count alike."""
    if not weights:
        return ()
    estimate = statistic(weights=weights)
    return estimate.value, estimate.low, estimate.high


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sorting:
    """Into which categories numbers are sorted, by the edges between them."""

    of_judge: Sequence[float]
    of_people: Sequence[float]
    is_one_scale: bool
    how: str


def _sorting(
    scores: Sequence[float], people: Sequence[float], reckoning: Reckoning, scale: tuple[float, float] | None
) -> _Sorting:
    low, high = min(*scores, *people), max(*scores, *people)
    if edges := reckoning.edges:
        if low < edges[0] or high > edges[-1]:
            raise UsageError(f"--bins go from {edges[0]:g} to {edges[-1]:g}, and the numbers from {low:g} to {high:g}")
        return _Sorting(of_judge=edges, of_people=edges, is_one_scale=True, how=f"bins {_listed(edges)}")
    # Ranges that share at least half of what they cover together are taken for one scale; a score of 0 to 1 beside
    # a rating of 1 to 5 is not, and each is cut up by itself.
    shared = min(max(scores), max(people)) - max(min(scores), min(people))
    if scale is None and (shared < (high - low) / 2 or low == high):
        own = [(min(side), max(side)) for side in (scores, people)]
        return _Sorting(
            of_judge=_edges(*own[0], reckoning.n_bins),
            of_people=_edges(*own[1], reckoning.n_bins),
            is_one_scale=False,
            how=f"{reckoning.n_bins} bins from {_range(own[0])}, people from {_range(own[1])}",
        )
    values = sorted({*scores, *people})
    if len(values) <= reckoning.n_bins:
        edges = (*values, float("inf"))
        return _Sorting(of_judge=edges, of_people=edges, is_one_scale=True, how=f"categories {_listed(values)}")
    ends = scale or (low, high)
    edges = _edges(*ends, reckoning.n_bins)
    how = f"{reckoning.n_bins} bins from {_range(ends)}"
    return _Sorting(of_judge=edges, of_people=edges, is_one_scale=True, how=how)


def _edges(low: float, high: float, n_bins: int) -> tuple[float, ...]:
    step = (high - low) / n_bins or 1.0
    return tuple(low + step * number for number in range(n_bins + 1))


def _range(ends: tuple[float, float]) -> str:
    return f"{ends[0]:.4g} to {ends[1]:.4g}"


def _listed(numbers: Sequence[float]) -> str:
    return " ".join(f"{number:.4g}" for number in numbers)


def _judge_rows(
    ratings: Ratings, reckoning: Reckoning, clusters: Sequence[str], weights: Weights
) -> list[tuple[Cell, ...]]:
    means = ratings.people_mean()
    rows: list[tuple[Cell, ...]] = []
    for judge, scores in ratings.judges.items():
        both = {
            index: (a, b)
            for index, (a, b) in enumerate(zip(scores, means, strict=True))
            if a is not None and b is not None
        }
        together, counted = [clusters[index] for index in both], weights and [weights[index] for index in both]
        rows += statistics(judge, [*both.values()], reckoning, together, weights=counted)
    return rows


def _cells(estimate: Estimate) -> tuple[float | None, float | None, float | None, int]:
    return estimate.value, estimate.low, estimate.high, estimate.n


def _part(ratings: Ratings, kept: Sequence[int]) -> Ratings:
    def cut(columns: Mapping[str, Sequence[float | None]]) -> dict[str, list[float | None]]:
        return {name: [values[index] for index in kept] for name, values in columns.items()}

    return Ratings(
        things=tuple(ratings.things[index] for index in kept),
        people=cut(ratings.people),
        judges=cut(ratings.judges),
        groups=tuple(ratings.groups[index] for index in kept),
    )
