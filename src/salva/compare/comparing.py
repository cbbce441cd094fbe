"""Compares candidates with a baseline on the same cases.

Run directories in, one ComparedRuns out. Only pairs that were decided in both count. How sure a difference is, stats
says; whether two runs may be compared at all, matching says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path

from salva import component_facts
from salva.compare.entrants import Entrant, read_entrants
from salva.compare.margin import Demands, decide_margin
from salva.compare.matching import check_comparable, notes_on
from salva.compare.pairing import (
    FigureDifference,
    Flip,
    GroupDifference,
    by_group,
    difference_of,
    flips_of,
    shared_keys,
)
from salva.compare.series import failure_series, metric_series
from salva.core.metric import HIGHER, LOWER, MetricValue
from salva.core.printable import printable
from salva.core.quantity import quantity
from salva.errors import UsageError
from salva.messages import Message, message
from salva.results.exit_code import Standing, exit_code
from salva.results.gate import GateDecision
from salva.results.tally import cluster_of
from salva.results.trust import FEWEST_DECIDED, NONE, OK
from salva.stats.intervals import MIN_CLUSTERS
from salva.stats.paired import holm

Ends = tuple[float, float] | None


class Decision(StrEnum):
    """What the interval of a difference says of the candidate."""

    BETTER = "better"
    WORSE = "worse"
    NONE_SHOWN = "no-difference-shown"
    """It lies inside the margin."""
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A candidate against the baseline."""

    baseline: Entrant
    candidate: Entrant
    figure: FigureDifference
    """Of the failure rate."""
    demands: Demands = field(default_factory=Demands)
    metrics: Mapping[str, FigureDifference] = field(default_factory=dict)
    """The metrics that both runs have, by name."""
    by_category: Mapping[str, GroupDifference] = field(default_factory=dict)
    by_law: Mapping[str, GroupDifference] = field(default_factory=dict)
    """By the label `law`; empty where no case has it."""
    flipped: tuple[Flip, ...] = ()
    """Pairs that pass with one model and fail with the other, those that got worse first."""
    n_shared: int = 0
    """Pairs that both were asked for, decided or not."""
    gate: GateDecision | None = None
    notes: tuple[Message, ...] = ()
    """What to know before believing it."""
    p_holm: float | None = None
    """Holm's p over all candidates."""

    def __repr__(self) -> str:
        """The sentence; all that a comparison holds would fill a screen for every case."""
        from salva.compare.words import sentence_of  # these are words about what stands here

        return printable(sentence_of(self))

    @property
    def pairs(self) -> int:
        """Pairs decided in both."""
        return self.figure.n_pairs

    @property
    def difference(self) -> float | None:
        """The candidate's failure rate less the baseline's; None with fewer than five cases."""
        return self.figure.difference

    @property
    def interval(self) -> Ends:
        """95 %: these prompts, other seeds."""
        return (self.figure.interval.low, self.figure.interval.high) if self.figure.interval else None

    @property
    def interval_entities(self) -> Ends:
        """95 %: prompts like these about other entities."""
        ends = self.figure.interval_entities
        return (ends.low, ends.high) if ends else None

    @property
    def detectable(self) -> float | None:
        """The difference that so many pairs detect with 80 % power."""
        return self.figure.detectable

    @property
    def decision(self) -> Decision:
        """By the interval alone."""
        if self.interval is None:
            return Decision.INCONCLUSIVE
        low, high = self.interval
        if low > 0 or high < 0:
            return Decision.WORSE if low > 0 else Decision.BETTER
        is_inside = -self.demands.margin <= low and high <= self.demands.margin
        return Decision.NONE_SHOWN if is_inside else Decision.INCONCLUSIVE

    @property
    def standing(self) -> Standing:
        """What decides the exit code."""
        trusts = {entrant.figures.trust.status for entrant in (self.baseline, self.candidate)}
        decisions = (self.gate.decision,) if self.gate else ()
        # A gate holds at both ends of what is undecided, so coverage is in its decision.
        return Standing(trust=NONE if NONE in trusts else OK, decisions=decisions, coverage=1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedRuns:
    """Every candidate against the baseline; the figures of a comparison are None here when there are several."""

    baseline: Entrant
    comparisons: tuple[Comparison, ...]

    def __repr__(self) -> str:
        """One line for each comparison, as Python shows a variable."""
        return "\n".join(map(repr, self.comparisons))

    @property
    def suite(self) -> str:
        """The suite of all runs."""
        return self.baseline.run.suite

    @property
    def entrants(self) -> tuple[Entrant, ...]:
        """The baseline, then the candidates."""
        return (self.baseline, *(one.candidate for one in self.comparisons))

    @property
    def only(self) -> Comparison | None:
        """The comparison, where there is one."""
        return self.comparisons[0] if len(self.comparisons) == 1 else None

    @property
    def pairs(self) -> int | None:
        """Pairs decided in both."""
        return self.only.pairs if self.only else None

    @property
    def difference(self) -> float | None:
        """The candidate's failure rate less the baseline's."""
        return self.only.difference if self.only else None

    @property
    def interval(self) -> Ends:
        """Of the difference, for other seeds."""
        return self.only.interval if self.only else None

    @property
    def interval_entities(self) -> Ends:
        """Of the difference, for other entities."""
        return self.only.interval_entities if self.only else None

    @property
    def decision(self) -> Decision | None:
        """better, worse, no-difference-shown or inconclusive."""
        return self.only.decision if self.only else None

    @property
    def gate(self) -> GateDecision | None:
        """What the gate decided, where one was set."""
        return self.only.gate if self.only else None

    @property
    def detectable(self) -> float | None:
        """The difference that so many pairs detect with 80 % power."""
        return self.only.detectable if self.only else None

    @property
    def by_category(self) -> Mapping[str, GroupDifference] | None:
        """The differences by category."""
        return self.only.by_category if self.only else None

    @property
    def flipped(self) -> tuple[Flip, ...] | None:
        """Pairs that pass with one model and fail with the other."""
        return self.only.flipped if self.only else None

    @property
    def exit_code(self) -> int:
        """By the gates where one is set; 0 only where all runs are finished."""
        is_complete = all(entrant.run.complete for entrant in self.entrants)
        gated = [one.standing for one in self.comparisons if one.gate is not None]
        return exit_code(gated, is_complete=is_complete) if gated or not is_complete else 0


def compare_runs(
    directories: Sequence[Path], demands: Demands | None = None, parts: Sequence[str] = ()
) -> ComparedRuns:
    """Compare the models of runs, or of one run with several; UsageError where that measures something else.

    The first model is the baseline. parts: what each run is here, which tells models of one name apart; without it
    their directories do.
    """
    entrants = read_entrants(directories, parts)
    if len(entrants) < 2:
        source = repr(str(directories[0])) if directories else "no run"
        raise UsageError(message("compare-one-model", source=source, models=quantity(len(entrants), "models")))
    baseline, *candidates = entrants
    made = [_compare(baseline, candidate, demands or Demands()) for candidate in candidates]
    adjusted = holm({str(place): one.figure.p for place, one in enumerate(made)})
    return ComparedRuns(
        baseline=baseline,
        comparisons=tuple(replace(one, p_holm=adjusted[str(place)]) for place, one in enumerate(made)),
    )


def _compare(baseline: Entrant, candidate: Entrant, demands: Demands) -> Comparison:
    check_comparable(baseline, candidate)
    before, after = failure_series(baseline.judged), failure_series(candidate.judged)
    figure = difference_of(before, after)
    metrics = _metrics(baseline, candidate)
    n_shared = len(shared_keys(before, after))
    has_laws = any("law" in case.labels for case in before.cases.values())
    made = Comparison(
        baseline=baseline,
        candidate=candidate,
        figure=figure,
        demands=demands,
        metrics=metrics,
        by_category=by_group(before, after, lambda case: case.category),
        by_law=by_group(before, after, lambda case: case.labels.get("law") or case.category) if has_laws else {},
        flipped=flips_of(baseline.judged.results, candidate.judged.results),
        n_shared=n_shared,
        gate=decide_margin(demands, before, after, figure, (baseline.figures.trust, candidate.figures.trust)),
    )
    return replace(made, notes=(*_pair_notes(figure, n_shared, metrics), *notes_on(baseline, candidate)))


def _pair_notes(figure: FigureDifference, n_shared: int, metrics: Mapping[str, FigureDifference]) -> list[Message]:
    notes = []
    if figure.difference is None:
        notes.append(message("compare-few-cases", cases=quantity(figure.n_cases, "cases"), least=MIN_CLUSTERS))
    elif figure.n_pairs < FEWEST_DECIDED * n_shared:
        notes.append(message("compare-few-pairs", n=figure.n_pairs, total=n_shared))
    # One gets better and the other worse, and one of them for sure.
    opposite = [one for one in metrics.values() if figure.worsening * one.worsening < 0]
    if opposite := [one for one in opposite if figure.is_shown or one.is_shown]:
        went = ("better", "worse") if figure.worsening < 0 else ("worse", "better")
        titles = " and ".join(one.title for one in opposite[:2])
        notes.append(message("compare-opposite", went=went[0], metrics=titles, other=went[1]))
    return notes


def _metrics(baseline: Entrant, candidate: Entrant) -> dict[str, FigureDifference]:
    """The metrics with a direction that both runs have; those without a value for each pair have no interval."""
    figures = component_facts.own_figures(baseline.run.suite)
    before, after = (metric_series(entrant.judged, figures) for entrant in (baseline, candidate))
    n_clusters = len({cluster_of(case) for case in baseline.judged.cases})
    # Figures of a whole run are compared where both were asked for the same pairs.
    is_same = baseline.cases.keys() == candidate.cases.keys() and baseline.asked.repeats == candidate.asked.repeats
    made = {}
    for name, ours in baseline.figures.metrics.items():
        theirs = candidate.figures.metrics.get(name)
        if name in before and name in after:
            made[name] = difference_of(before[name], after[name])
        elif theirs is not None and ours.better in (HIGHER, LOWER) and is_same:
            made[name] = _whole_difference(name, ours, theirs, n_clusters)
    return {name: one for name, one in made.items() if one.baseline is not None and one.candidate is not None}


def _whole_difference(name: str, ours: MetricValue, theirs: MetricValue, n_clusters: int) -> FigureDifference:
    """A metric that is known of a whole run alone: it has no interval."""
    is_known = n_clusters >= MIN_CLUSTERS and ours.value is not None and theirs.value is not None
    return FigureDifference(
        name=name,
        title=ours.title or name.replace("_", " "),
        better=ours.better,
        is_share=ours.is_share,
        baseline=ours.value,
        candidate=theirs.value,
        difference=(theirs.value or 0.0) - (ours.value or 0.0) if is_known else None,
    )
