"""Verdicts to counts: which verdict speaks for a case, and rates over any group of them.

Takes cases and verdicts, gives counted outcomes with intervals and bounds. Knows no suite and
no label; whoever groups verdicts says by what.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeVar

from salva.core.case import Case
from salva.core.table import Cell
from salva.core.verdict import Outcome, Verdict
from salva.stats.bootstrap import cautious_macro
from salva.stats.intervals import Cluster, Interval, clustered_interval, implied_bounds

PAIR = "pair"
CONTROL = "control"
SAME_SCENE = "same-scene"
TRUTH = "truth"

TRUTH_KINDS = ("both right", "one wrong", "both wrong alike", "both wrong, each its own way", "undecided")

RATE_COLUMNS = ("n", "violated", "rate", "low", "high", "undecided")

GroupKey = TypeVar("GroupKey", bound=Hashable)


class Judged(NamedTuple):
    """A verdict with the case it is about."""

    case: Case
    verdict: Verdict


class CategoryMean(NamedTuple):
    """The unweighted mean of category rates, without an interval."""

    rate: float | None
    n_categories: int


@dataclass(slots=True)
class Tally:
    """Outcomes counted, with the clusters they came from."""

    outcomes: Counter[Outcome] = field(default_factory=Counter)
    hits: Counter[str] = field(default_factory=Counter)
    """Cluster to violated verdicts."""
    decided: Counter[str] = field(default_factory=Counter)
    """Cluster to verdicts that enter the rate."""

    def add(self, judged: Judged) -> None:
        """Count one verdict."""
        outcome = judged.verdict.outcome
        self.outcomes[outcome] += 1
        if outcome in (Outcome.HOLDS, Outcome.VIOLATED):
            name = cluster_of(judged.case)
            self.decided[name] += 1
            self.hits[name] += outcome is Outcome.VIOLATED

    @property
    def n(self) -> int:
        """Verdicts that enter the rate."""
        return self.outcomes[Outcome.HOLDS] + self.outcomes[Outcome.VIOLATED]

    @property
    def violated(self) -> int:
        """Verdicts that say the relation broke."""
        return self.outcomes[Outcome.VIOLATED]

    @property
    def undecided(self) -> int:
        """Verdicts that enter no rate."""
        return self.outcomes[Outcome.INCONCLUSIVE] + self.outcomes[Outcome.FAILED]

    @property
    def rate(self) -> float | None:
        """Violated among decided; None when nothing was decided."""
        return self.violated / self.n if self.n else None

    def interval(self) -> Interval | None:
        """95 %, Wilson at the effective sample size of the clusters."""
        return clustered_interval([Cluster(n_hits=self.hits[name], n=n) for name, n in self.decided.items()])

    def bounds(self) -> Interval | None:
        """The rate if all undecided held, and if all were violated."""
        return implied_bounds(self.violated, self.n, self.undecided)

    def cells(self) -> tuple[Cell, ...]:
        """The values under RATE_COLUMNS."""
        interval = self.interval()
        low, high = (interval.low, interval.high) if interval else (None, None)
        return (self.n, self.violated, self.rate, low, high, self.undecided)


@dataclass(frozen=True, slots=True, kw_only=True)
class MacroRate:
    """The unweighted mean of category rates."""

    rate: float | None
    interval: Interval | None
    n_categories: int


def cluster_of(case: Case) -> str:
    """The cluster a case counts towards; a case that names none stands alone."""
    return case.cluster or case.case_id


def tally(judged: Iterable[Judged]) -> Tally:
    """All of them counted together."""
    total = Tally()
    for one in judged:
        total.add(one)
    return total


def tally_by(judged: Iterable[Judged], key: Callable[[Judged], GroupKey | None]) -> dict[GroupKey, Tally]:
    """Counted by group, in order of first appearance; a key of None leaves a verdict out."""
    groups: dict[GroupKey, Tally] = {}
    for one in judged:
        name = key(one)
        if name is None:
            continue
        if name not in groups:
            groups[name] = Tally()
        groups[name].add(one)
    return groups


def category_mean(judged: Iterable[Judged]) -> CategoryMean:
    """The mean over categories of their rates; a category where nothing was decided is left out."""
    rates = [group.rate for group in tally_by(judged, lambda one: one.case.category).values()]
    known = [rate for rate in rates if rate is not None]
    return CategoryMean(sum(known) / len(known) if known else None, len(known))


def macro_rate(judged: Sequence[Judged]) -> MacroRate:
    """The mean over categories, with a cluster bootstrap interval.

    Where every decided verdict says the same, a bootstrap has nothing to draw from and would
    claim certainty; Wilson's interval of the pooled rate stands in.
    """
    decided = [one for one in judged if one.verdict.outcome in (Outcome.HOLDS, Outcome.VIOLATED)]
    rate, n_categories = category_mean(decided)
    if rate is None or rate in (0.0, 1.0):
        interval = tally(decided).interval()
    else:
        interval = cautious_macro(
            [float(one.verdict.outcome is Outcome.VIOLATED) for one in decided],
            [one.case.category for one in decided],
            [cluster_of(one.case) for one in decided],
            [one.case.case_id for one in decided],
        )
    return MacroRate(rate=rate, interval=interval, n_categories=n_categories)


def join(cases: Iterable[Case], verdicts: Iterable[Verdict], arm: str = PAIR) -> list[Judged]:
    """Every verdict of an arm beside its case, in the order of the cases; one without a case is left out.

    A judge that had a detector's help with some cases, because only they have formulas, is one judge and not two.
    """
    known = {case.case_id: (rank, case) for rank, case in enumerate(cases)}
    joined = [
        (known[verdict.case_id], verdict) for verdict in verdicts if verdict.arm == arm and verdict.case_id in known
    ]
    joined.sort(key=lambda one: (one[0][0], one[1].repeat, one[1].relation))
    names = _whole_names([verdict for _, verdict in joined])
    return [
        Judged(case, verdict if name == verdict.observers else replace(verdict, observers=name))
        for (_, case), verdict in joined
        for name in (names[verdict.relation, verdict.observers],)
    ]


def _whole_names(verdicts: Sequence[Verdict]) -> dict[tuple[str, str], str]:
    """For each relation and its observers the fullest name they go by.

    Two sets of observers are the same at work on different cases when the last of them (the judge, where there is
    one) is the same and they never looked at the same pictures; otherwise they are two opinions.
    """
    looked: dict[tuple[str, str], set[tuple[str, int, str]]] = {}
    for one in verdicts:
        looked.setdefault((one.relation, one.observers), set()).add((one.case_id, one.repeat, one.model))
    names: dict[tuple[str, str], str] = {}
    groups: dict[tuple[str, str], list[tuple[str, set[tuple[str, int, str]]]]] = {}
    for (relation, observers), units in sorted(looked.items(), key=lambda one: -one[0][1].count("+")):
        alike = groups.setdefault((relation, observers.rpartition("+")[2]), [])
        name, together = next((group for group in alike if not group[1] & units), (observers, set()))
        if not together:
            alike.append((name, together))
        together |= units
        names[relation, observers] = name
    return names


def main_observers(judged: Iterable[Judged]) -> dict[str, str]:
    """For each relation the observers that most verdicts come from; the first seen wins a tie."""
    counts = Counter((one.verdict.relation, one.verdict.observers) for one in judged)
    main: dict[str, str] = {}
    for (relation, observers), _ in counts.most_common():
        main.setdefault(relation, observers)
    return main


def headline_relation(case: Case, judged_by: Mapping[str, object] | set[str], chosen: str = "") -> str:
    """The relation whose verdict speaks for a case, among those that judged it.

    The one the run chose, if it judged this case. Else the case's own; but a pair with several
    worlds that same-scene judged all the same is same-scene's, because the run asked for that rule.
    """
    if chosen and chosen in judged_by:
        return chosen
    if case.relation == TRUTH and case.determinate is False and SAME_SCENE in judged_by:
        return SAME_SCENE
    return case.relation


def headline(judged: Sequence[Judged], chosen: str = "") -> list[Judged]:
    """The verdicts that speak for their cases: one relation each, by its main observers."""
    observers = main_observers(judged)
    seen = [one for one in judged if one.verdict.observers == observers[one.verdict.relation]]
    judged_by: dict[str, set[str]] = {}
    for one in seen:
        judged_by.setdefault(one.case.case_id, set()).add(one.verdict.relation)
    relation_of: dict[str, str] = {}
    for one in seen:
        if one.case.case_id not in relation_of:
            relation_of[one.case.case_id] = headline_relation(one.case, judged_by[one.case.case_id], chosen)
    return [one for one in seen if one.verdict.relation == relation_of[one.case.case_id]]


def leading_verdicts(cases: Sequence[Case], verdicts: Sequence[Verdict], chosen: str = "") -> dict[str, list[Judged]]:
    """Each model's headline verdicts beside their cases."""
    by_model: dict[str, list[Judged]] = {}
    for one in join(cases, verdicts, PAIR):
        by_model.setdefault(one.verdict.model, []).append(one)
    return {model: headline(group, chosen) for model, group in by_model.items()}


def truth_kind(verdict: Verdict) -> str:
    """Which of TRUTH_KINDS a verdict of the truth relation is."""
    right_a, right_b = verdict.scores.get("right_a"), verdict.scores.get("right_b")
    if verdict.outcome in (Outcome.INCONCLUSIVE, Outcome.FAILED) or right_a is None or right_b is None:
        return "undecided"
    if right_a and right_b:
        return "both right"
    if right_a or right_b:
        return "one wrong"
    return "both wrong alike" if verdict.scores.get("wrong_alike") else "both wrong, each its own way"
