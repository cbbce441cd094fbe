"""Two series of one figure, pair by pair: how far apart they are over all pairs and by group, and which pairs flipped.

Numbers come from stats, pairs from the series. Only pairs decided in both enter a difference.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from salva.compare.series import Key, Series
from salva.core.case import Case
from salva.core.grouping import group_by
from salva.core.metric import LOWER
from salva.core.own_figure import one_mean
from salva.core.result import Result
from salva.results.rates import entities_of
from salva.results.tally import cluster_of
from salva.stats.intervals import MIN_CLUSTERS, Interval
from salva.stats.paired import Difference, holm, paired_difference, pseudo_values
from salva.stats.rates import Counted, macro


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureDifference:
    """One figure of two models, over the pairs decided in both."""

    name: str
    title: str
    better: str = LOWER
    is_share: bool = True
    baseline: float | None = None
    candidate: float | None = None
    difference: float | None = None
    """The candidate less the baseline; None with fewer than five cases."""
    interval: Interval | None = None
    """95 %: these prompts, other seeds."""
    half_width: float = 0.0
    """Of the interval, before it is cut to what a difference can be."""
    t: float = 0.0
    """The quantile that the interval was made with."""
    interval_entities: Interval | None = None
    """95 %: prompts like these about other entities."""
    why_no_entities: str = ""
    p: float | None = None
    detectable: float | None = None
    """The difference that so many pairs detect with 80 % power."""
    effect_size: float | None = None
    """The difference in standard deviations of the cases' differences."""
    n_pairs: int = 0
    n_cases: int = 0

    @property
    def worsening(self) -> float:
        """How much worse the candidate is; 0 where that is not known."""
        return (self.difference or 0.0) * (1 if self.better == LOWER else -1)

    @property
    def is_shown(self) -> bool:
        """Whether the interval excludes 0."""
        return self.interval is not None and not self.interval.low <= 0 <= self.interval.high


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupDifference:
    """The failure rates of one category."""

    figure: FigureDifference
    n_failed: tuple[int, int]
    """Pairs that fail: of the baseline, of the candidate."""
    p_holm: float | None
    """Holm's p over all categories."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Flip:
    """A pair that passes with one model and fails with the other."""

    baseline: Result
    candidate: Result

    @property
    def got_worse(self) -> bool:
        """Whether it is the candidate that fails."""
        return self.candidate.is_fail

    @property
    def failed(self) -> Result:
        """The result that is a FAIL."""
        return self.candidate if self.got_worse else self.baseline


def shared_keys(baseline: Series, candidate: Series) -> list[Key]:
    """The pairs that both were asked for, in order."""
    return [key for key in baseline.terms if key in candidate.terms]


def difference_of(baseline: Series, candidate: Series, keys: Iterable[Key] | None = None) -> FigureDifference:
    """How far apart two models are in one figure; keys: over these pairs alone."""
    wanted = shared_keys(baseline, candidate) if keys is None else keys
    both = [key for key in wanted if baseline.terms[key] is not None and candidate.terms[key] is not None]
    cases = list(dict.fromkeys(case_id for case_id, _ in both))
    before, after = (figure_over(series, both) for series in (baseline, candidate))
    plain = FigureDifference(
        name=baseline.name,
        title=baseline.title,
        better=baseline.better,
        is_share=baseline.is_share,
        baseline=before,
        candidate=after,
        n_pairs=len(both),
        n_cases=len(cases),
    )
    # A mean of scores stands for its clusters; of a rate the seeds of a case are one.
    clusters = cases if baseline.is_rate else {cluster_of(baseline.cases[case_id]) for case_id in cases}
    paired = _paired(baseline, candidate, both) if len(clusters) >= MIN_CLUSTERS else None
    made = paired and paired_difference(paired, is_share=baseline.is_rate, reach=baseline.reach)
    if not made or before is None or after is None:
        return plain
    made = _moved(made, after - before)
    return replace(
        plain,
        difference=made.value,
        interval=made.interval,
        half_width=made.half_width,
        t=made.t,
        interval_entities=made.interval_entities,
        why_no_entities=made.why_no_entities,
        p=made.p,
        detectable=made.detectable,
        effect_size=made.effect_size,
    )


def _moved(made: Difference, value: float) -> Difference:
    """The same about the figure's own difference: pseudo-values have the mean of the figure without its bias."""
    step = value - made.value
    interval, entities = (
        None if ends is None else Interval(low=ends.low + step, high=ends.high + step)
        for ends in (made.interval, made.interval_entities)
    )
    assert interval is not None
    return replace(made, value=value, interval=interval, interval_entities=entities)


def by_group(baseline: Series, candidate: Series, group: Callable[[Case], str]) -> dict[str, GroupDifference]:
    """The failure rates by group, in order of first appearance, with Holm's p over all of them."""
    groups = group_by(shared_keys(baseline, candidate), lambda key: group(baseline.cases[key[0]]))
    made = {name: difference_of(baseline, candidate, keys) for name, keys in groups.items()}
    adjusted = holm({name: figure.p for name, figure in made.items()})
    return {
        name: GroupDifference(
            figure=figure, n_failed=_n_failed(baseline, candidate, groups[name]), p_holm=adjusted[name]
        )
        for name, figure in made.items()
    }


def _n_failed(baseline: Series, candidate: Series, keys: Iterable[Key]) -> tuple[int, int]:
    both = [(one[0], other[0]) for key in keys if (one := baseline.terms[key]) and (other := candidate.terms[key])]
    return int(sum(one for one, _ in both)), int(sum(other for _, other in both))


def flips_of(baseline: Iterable[Result], candidate: Iterable[Result]) -> tuple[Flip, ...]:
    """The pairs that pass with one model and fail with the other, those that got worse first."""
    others = {(result.case.case_id, result.repeat): result for result in candidate}
    beside = ((one, others.get((one.case.case_id, one.repeat))) for one in baseline if one.is_decided)
    flips = [
        Flip(baseline=one, candidate=other)
        for one, other in beside
        if other is not None and other.is_decided and one.is_fail is not other.is_fail
    ]
    return tuple(sorted(flips, key=lambda flip: not flip.got_worse))


def _sums(series: Series, keys: Iterable[Key]) -> dict[str, tuple[int, list[float]]]:
    """Of every case in how many repeats it was decided, and the sums of its terms."""
    sums: dict[str, tuple[int, list[float]]] = {}
    for key in keys:
        terms = series.terms[key]
        assert terms is not None
        n, total = sums.get(key[0], (0, [0.0] * len(terms)))
        sums[key[0]] = (n + 1, [one + other for one, other in zip(total, terms, strict=True)])
    return sums


def figure_over(series: Series, keys: Sequence[Key]) -> float | None:
    """The figure over these pairs."""
    sums = _sums(series, keys)
    if series.of_means is one_mean:
        return macro(
            Counted(category=series.category(case_id), n_hits=total[0], n=n) for case_id, (n, total) in sums.items()
        )
    n_all = sum(n for n, _ in sums.values())
    totals = [sum(column) for column in zip(*(total for _, total in sums.values()), strict=True)]
    return series.of_means([total / n_all for total in totals]) if n_all else None


def _paired(baseline: Series, candidate: Series, keys: Sequence[Key]) -> list[Counted] | None:
    """Both models case by case; a figure that is no mean as what each case adds to it. None where it is not defined."""
    ours, theirs = _sums(baseline, keys), _sums(candidate, keys)
    counts = [n for n, _ in ours.values()]
    if baseline.of_means is one_mean:
        before, after = ([total[0] for _, total in sums.values()] for sums in (ours, theirs))
    else:
        pseudo = [
            pseudo_values([total for _, total in sums.values()], counts, baseline.of_means) for sums in (ours, theirs)
        ]
        if pseudo[0] is None or pseudo[1] is None:
            return None
        before, after = pseudo[0], pseudo[1]
        counts = [1] * len(counts)
    return [
        Counted(
            category=baseline.category(case_id), entities=entities_of(baseline.cases[case_id]), n_hits=other - one, n=n
        )
        for case_id, one, other, n in zip(ours, before, after, counts, strict=True)
    ]
