"""Compares models on the same cases.

Run directories in, one Comparison out. Only pairs that were decided on both sides count; the others are counted, named
and given bounds. How sure a difference is, stats says; whether two runs may be compared at all, matching says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import combinations
from pathlib import Path

from salva.compare.entrants import Entrant, read_entrants
from salva.compare.matching import notes_on, oracle_notes, unlike
from salva.compare.pairing import FigureDifference, GroupDifference, by_group, difference_of, flips_of
from salva.compare.pairing import Flip as Flip
from salva.compare.series import Series
from salva.core.printable import printable
from salva.core.quantity import quantity
from salva.errors import UsageError
from salva.messages import message
from salva.results.leading import FEWEST_DECIDED
from salva.stats.paired import holm

MIN_DECIDED = 16
"""A gate on fewer pairs passes nobody."""


class DifferenceFinding(StrEnum):
    """What the seeds interval of a difference says of the second model."""

    BETTER = "better"
    WORSE = "worse"
    NOT_SHOWN = "no difference shown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Duel:
    """Two entrants, the second held against the first."""

    first: Entrant
    second: Entrant
    leading: FigureDifference
    """The figure that leads."""
    beside: tuple[FigureDifference, ...]
    by_law: tuple[GroupDifference, ...]
    by_category: tuple[GroupDifference, ...]
    flipped: tuple[Flip, ...]
    """Pairs that held on one side and broke on the other, those that the figure counts and that got worse first."""
    notes: tuple[str, ...]
    """What to know before believing it."""
    p_holm: float | None = None
    """Holm's p over all duels of the comparison."""

    def __repr__(self) -> str:
        """The verdict and what it rests on; all that a duel holds would fill a screen for every case."""
        from salva.compare.words import sentence_of, verdict_of  # they are words about what stands here

        return printable(f"{verdict_of(self)}: {sentence_of(self)}")

    @property
    def worsening(self) -> tuple[float, float] | None:
        """The seeds interval of how much worse the second is, in the figure's unit; None where there is none."""
        interval = self.leading.interval
        if interval is None:
            return None
        return (-interval.high, -interval.low) if self.leading.is_high_good else (interval.low, interval.high)

    @property
    def verdict(self) -> DifferenceFinding:
        """By the seeds interval alone."""
        ends = self.worsening
        if ends is None or ends[0] <= 0 <= ends[1]:
            return DifferenceFinding.NOT_SHOWN
        return DifferenceFinding.WORSE if ends[0] > 0 else DifferenceFinding.BETTER

    def is_worse_than(self, margin: float) -> bool:
        """Whether the seeds interval lies beyond the margin on the bad side."""
        return self.worsening is not None and self.worsening[0] > margin

    @property
    def too_little(self) -> str:
        """Why nobody should pass a gate on this; empty where there is enough."""
        figure = self.leading
        n_asked = figure.n_pairs + figure.n_undecided
        if figure.n_pairs < MIN_DECIDED:
            pairs = quantity(figure.n_pairs, "pairs were", "pair was")
            return f"{pairs} decided on both sides, and it takes {MIN_DECIDED}"
        if figure.n_pairs < FEWEST_DECIDED * n_asked:
            return f"only {figure.n_pairs} of {n_asked} pairs were decided on both sides"
        if figure.interval is None:
            return f"how sure the difference is cannot be told from so few cases ({figure.n_cases})"
        return "; ".join(oracle_notes(self.first, self.second))


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """All entrants, and every two of them."""

    entrants: tuple[Entrant, ...]
    duels: tuple[Duel, ...]
    """Every two in the order of the entrants: the first against each other comes first."""

    def __repr__(self) -> str:
        """One line for each comparison, as Python shows a variable."""
        return "\n".join(repr(duel) for duel in self.duels)

    @property
    def suite(self) -> str:
        """The suite that all of them were run with."""
        return self.entrants[0].suite

    @property
    def against_first(self) -> tuple[Duel, ...]:
        """The duels that a gate looks at."""
        return self.duels[: len(self.entrants) - 1]

    def worse_than(self, margin: float) -> tuple[Duel, ...]:
        """The duels whose second entrant is worse than the first of all by more than the margin."""
        return tuple(duel for duel in self.against_first if duel.is_worse_than(margin))


def compare_runs(directories: Sequence[Path], parts: Sequence[str] = ()) -> Comparison:
    """Compare the models of runs, or of one run with several; raises UsageError where that measures something else.

    The first model is what the others are held against. parts: what each run is here, which tells models of one name
    apart; without it their directories do.
    """
    entrants = read_entrants(directories, parts)
    if len(entrants) < 2:
        source = repr(str(directories[0])) if directories else "no run"
        raise UsageError(message("compare-one-model", source=source, models=quantity(len(entrants), "models")))
    return compare_entrants(entrants)


def compare_entrants(entrants: Sequence[Entrant]) -> Comparison:
    """Every two of these."""
    duels = [_duel(first, second) for first, second in combinations(entrants, 2)]
    adjusted = holm({str(place): duel.leading.p for place, duel in enumerate(duels)})
    return Comparison(
        entrants=tuple(entrants),
        duels=tuple(replace(duel, p_holm=adjusted[str(place)]) for place, duel in enumerate(duels)),
    )


def _duel(first: Entrant, second: Entrant) -> Duel:
    notes = notes_on(first, second)
    ours, theirs = _both_asked(*_led_by(first, second), first, second)
    figure = difference_of(ours, theirs)
    beside, unlike_notes = _beside(ours.name, first, second)
    rewritten = first.fingerprints.rewritten | second.fingerprints.rewritten
    return Duel(
        first=first,
        second=second,
        leading=figure,
        beside=beside,
        by_law=by_group(ours, theirs, lambda case: case.labels.get("law") or case.category),
        by_category=by_group(ours, theirs, lambda case: case.category),
        flipped=flips_of(ours, theirs),
        notes=(*notes, *unlike_notes, *_pair_notes(figure, ours, theirs, rewritten)),
    )


def _beside(leading: str, first: Entrant, second: Entrant) -> tuple[tuple[FigureDifference, ...], list[str]]:
    """The other figures that are the same on both sides, and what to say of those that are not."""
    made, notes = [], []
    others = {series.name: series for series in second.series if series.name != leading}
    for ours, theirs in ((series, others[series.name]) for series in first.series if series.name in others):
        if why := unlike(ours, theirs, first, second):
            notes.append(f"{ours.title} is not compared: {why}")
        else:
            made.append(difference_of(*_both_asked(ours, theirs, first, second)))
    return tuple(made), notes


def _led_by(first: Entrant, second: Entrant) -> tuple[Series, Series]:
    """The figure that leads on both sides."""
    ours = {series.name: series for series in first.series}
    theirs = {series.name: series for series in second.series}
    # Of those that can lead: a figure beside another has no verdicts to be held against each other.
    shared = [name for name, series in ours.items() if name in theirs and series.verdicts and theirs[name].verdicts]
    # A figure of the suite's own that nothing was scored for says nothing: the rate of what was judged leads then.
    decided = [name for name in shared if not ours[name].is_own or _is_scored(ours[name]) or _is_scored(theirs[name])]
    if not decided:
        raise UsageError(
            message(
                "compare-no-figure",
                first=str(first.directory),
                second=str(second.directory),
                ours=", ".join(ours) or "nothing is judged",
                theirs=", ".join(theirs) or "nothing is judged",
            )
        )
    return ours[decided[0]], theirs[decided[0]]


def _both_asked(ours: Series, theirs: Series, first: Entrant, second: Entrant) -> tuple[Series, Series]:
    """Both with the pairs that only one has a verdict on and both were asked: the other's run is not finished."""
    before, after = ({case.case_id: case for case in entrant.cases} for entrant in (first, second))
    repeats = min(first.asked.repeats, second.asked.repeats)
    keys = [key for key in (*ours.terms, *theirs.terms) if key[0] in before and key[0] in after and key[1] < repeats]
    return ours.asked(keys, before), theirs.asked(keys, after)


def _is_scored(series: Series) -> bool:
    return any(terms is not None for terms in series.terms.values())


def _pair_notes(figure: FigureDifference, ours: Series, theirs: Series, rewritten: frozenset[str]) -> list[str]:
    notes = []
    n_asked = figure.n_pairs + figure.n_undecided
    if not figure.n_pairs:
        notes.append(f"none of {quantity(n_asked, 'pairs')} was decided on both sides: nothing can be said")
    elif figure.n_pairs < FEWEST_DECIDED * n_asked:
        notes.append(
            f"only {figure.n_pairs} of {n_asked} pairs were decided on both sides: what is left may not be like the "
            "rest, and the comparison may be biased by that"
        )
    keys = [key for key, terms in ours.terms.items() if terms is not None and theirs.terms.get(key) is not None]
    n_rewritten = sum(
        bool(rewritten & {*series.verdicts[key].images.values()})
        for key in keys
        for series in (ours, theirs)
        if key in series.verdicts
    )
    if n_rewritten:
        notes.append(
            f"{n_rewritten} of the {len(keys)} pairs rest on pictures whose prompt the provider had rewritten: what is "
            "compared there is how two texts were painted that nobody asked for"
        )
    return notes
