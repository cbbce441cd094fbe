"""Two series of one figure, pair by pair: how far apart they are, over all and by group, and which pairs flipped.

Numbers from stats, cases and verdicts from the series. A pair that was not decided on both sides enters no difference;
it is counted, and bounds say what it could have changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from salva.compare.series import Key, Series
from salva.core.case import Case
from salva.core.own_figure import one_mean
from salva.core.verdict import Outcome, Verdict
from salva.results.rates import DECIDED, entities_of
from salva.stats.intervals import Interval
from salva.stats.paired import Difference, Paired, holm, paired_difference, pseudo_values
from salva.stats.rates import Counted, macro
from salva.stats.signs import Signs, sign_test


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureDifference:
    """One figure on both sides, over the pairs decided on both."""

    name: str
    title: str
    is_high_good: bool
    is_share: bool
    first: float | None
    second: float | None
    difference: float | None
    """The second less the first; None where no pair was decided on both sides or the figure is not defined."""
    interval: Interval | None
    """95 %: these prompts, other seeds."""
    interval_entities: Interval | None
    """95 %: prompts like these, other entities."""
    why_no_entities: str
    p: float | None
    detectable: float | None
    """The difference that so many pairs show with 80 % power."""
    standardised: float | None
    """The difference in standard deviations of the cases' differences."""
    relative: float | None
    """The second over the first, less 1."""
    signs: Signs | None
    """McNemar's: how often only one side broke; None for a figure that is no rate."""
    bounds: Interval | None
    """The difference whatever the undecided pairs were; None for a figure without ends."""
    n_pairs: int
    n_cases: int
    n_undecided: int
    """Pairs of both runs that were not decided on both sides."""
    undecided: tuple[int, int, int] = (0, 0, 0)
    """Of these: on the first side only, on the second only, on neither."""

    @property
    def odds(self) -> float | None:
        """Of the pairs that only one side broke: how many the second broke for each that the first did."""
        return self.signs.n_lower / self.signs.n_higher if self.signs and self.signs.n_higher else None


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupDifference:
    """The same over the cases of a law or category."""

    name: str
    figure: FigureDifference
    p_holm: float | None
    """Holm's p over all groups."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Flip:
    """A pair that held on one side and broke on the other."""

    case: Case
    repeat: int
    first: Verdict
    second: Verdict
    is_apart: bool = False
    """Whether the suite counts its case apart from the leading figure."""

    @property
    def got_worse(self) -> bool:
        """Whether it is the second side that broke."""
        return self.second.outcome is Outcome.FAIL


def difference_of(first: Series, second: Series) -> FigureDifference:
    """How far apart two sides are in one figure, what is counted apart left out."""
    apart = first.apart | second.apart
    keys = [key for key in first.terms if key in second.terms and key[0] not in apart]
    return _difference(first, second, keys)


def by_group(first: Series, second: Series, group: Callable[[Case], str]) -> tuple[GroupDifference, ...]:
    """The same by group, in order of first appearance, with Holm's p over all of them."""
    groups: dict[str, list[Key]] = {}
    for key in first.terms:
        if key in second.terms:
            groups.setdefault(group(first.cases[key[0]]), []).append(key)
    made = {name: _difference(first, second, keys) for name, keys in groups.items()}
    adjusted = holm({name: figure.p for name, figure in made.items()})
    return tuple(GroupDifference(name=name, figure=figure, p_holm=adjusted[name]) for name, figure in made.items())


def flips_of(first: Series, second: Series) -> tuple[Flip, ...]:
    """The pairs whose verdict is another one: those that the figure counts first, and of these those that got worse."""
    apart = first.apart | second.apart
    flips = [
        Flip(
            case=first.cases[key[0]],
            repeat=key[1],
            first=verdict,
            second=second.verdicts[key],
            is_apart=key[0] in apart,
        )
        for key, verdict in first.verdicts.items()
        if key in second.verdicts and key[0] in first.cases and _is_flip(verdict, second.verdicts[key])
    ]
    return tuple(sorted(flips, key=lambda flip: (flip.is_apart, not flip.got_worse)))


def _is_flip(first: Verdict, second: Verdict) -> bool:
    return first.outcome in DECIDED and second.outcome in DECIDED and first.outcome is not second.outcome


def _difference(first: Series, second: Series, keys: Sequence[Key]) -> FigureDifference:
    both = [key for key in keys if first.terms[key] is not None and second.terms[key] is not None]
    only = [
        sum(ours.terms[key] is None and other.terms[key] is not None for key in keys)
        for ours, other in _sides(first, second)
    ]
    paired = _paired(first, second, both)
    before, after = (figure_over(series, both) for series in (first, second))
    made = None if paired is None else paired_difference(paired, is_share=first.is_share and not first.is_own)
    # Pseudo-values have the mean of the figure without its bias; what is shown is the figure.
    value = after - before if before is not None and after is not None else None
    made = _moved(made, value)
    is_rate = not first.is_own
    return FigureDifference(
        name=first.name,
        title=first.title,
        is_high_good=first.is_high_good,
        is_share=first.is_share,
        first=before,
        second=after,
        difference=value,
        interval=made.interval if made else None,
        interval_entities=made.interval_entities if made else None,
        why_no_entities=made.why_no_entities if made else "no pair is decided on both sides",
        p=made.p if made else None,
        detectable=made.detectable if made else None,
        standardised=made.standardised if made else None,
        relative=after / before - 1 if value is not None and before and after is not None else None,
        signs=sign_test((_one(first, key), _one(second, key)) for key in both) if is_rate else None,
        bounds=_bounds(first, second, keys) if first.is_share and first.of_means is one_mean else None,
        n_pairs=len(both),
        n_cases=len({case_id for case_id, _ in both}),
        n_undecided=len(keys) - len(both),
        undecided=(only[0], only[1], len(keys) - len(both) - sum(only)),
    )


def _sides(first: Series, second: Series) -> tuple[tuple[Series, Series], tuple[Series, Series]]:
    return (first, second), (second, first)


def _moved(made: Difference | None, value: float | None) -> Difference | None:
    """The same about the figure's own difference."""
    if made is None or value is None or made.value == value:
        return made if value is not None else None
    step = value - made.value
    interval, things = (
        None if interval is None else Interval(low=interval.low + step, high=interval.high + step)
        for interval in (made.interval, made.interval_entities)
    )
    return replace(made, value=value, interval=interval, interval_entities=things)


def _one(series: Series, key: Key) -> float:
    terms = series.terms[key]
    assert terms is not None
    return terms[0]


def _sums(series: Series, keys: Iterable[Key]) -> dict[str, tuple[int, list[float]]]:
    """Of every case in how many repeats it was decided, and the sums of what it brought."""
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


def values_by_case(series: Series, keys: Sequence[Key]) -> dict[str, list[float]]:
    """What each case adds to the figure, a value a repeat; one in all of a figure that is no mean."""
    if series.of_means is one_mean:
        values: dict[str, list[float]] = {}
        for key in keys:
            values.setdefault(key[0], []).append(_one(series, key))
        return values
    sums = _sums(series, keys)
    counts, totals = [n for n, _ in sums.values()], [total for _, total in sums.values()]
    pseudo = pseudo_values(totals, counts, series.of_means)
    return {} if pseudo is None else {name: [value] for name, value in zip(sums, pseudo, strict=True)}


def _paired(first: Series, second: Series, keys: Sequence[Key]) -> list[Paired] | None:
    """Both sides case by case; a figure that is no mean as what each case adds to it. None where it is not defined."""
    ours, theirs = _sums(first, keys), _sums(second, keys)
    counts = [n for n, _ in ours.values()]
    if first.of_means is one_mean:
        before, after = ([total[0] for _, total in sums.values()] for sums in (ours, theirs))
    else:
        pseudo = [
            pseudo_values([total for _, total in sums.values()], counts, first.of_means) for sums in (ours, theirs)
        ]
        if pseudo[0] is None or pseudo[1] is None:
            return None
        before, after = pseudo[0], pseudo[1]
        counts = [1] * len(counts)
    return [
        Paired(
            category=first.category(case_id), entities=entities_of(first.cases[case_id]), first=one, second=other, n=n
        )
        for case_id, one, other, n in zip(ours, before, after, counts, strict=True)
    ]


def _bounds(first: Series, second: Series, keys: Sequence[Key]) -> Interval | None:
    """The difference if every undecided side had been as low, or as high, as a share can be."""
    ends = []
    for ours, theirs in ((1.0, 0.0), (0.0, 1.0)):
        filled = (_filled(first, ours), _filled(second, theirs))
        before, after = (figure_over(series, keys) for series in filled)
        if before is None or after is None:
            return None
        ends.append(after - before)
    return Interval(low=ends[0], high=ends[1])


def _filled(series: Series, value: float) -> Series:
    return replace(series, terms={key: (value,) if terms is None else terms for key, terms in series.terms.items()})
