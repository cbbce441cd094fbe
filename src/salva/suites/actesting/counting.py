"""What ACTesting's tables count: errors and misses of verdicts, by cluster, each with its own denominator.

A seed's image serves several mutants and counts once; intervals are over clusters, the captions of one image.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from salva.core.case import Case
from salva.core.judgements import CaseVerdict
from salva.core.table import Cell
from salva.judging.crossing import within_name
from salva.results.tables import ends, group_by
from salva.results.tally import cluster_of
from salva.stats.intervals import Interval
from salva.stats.rates import Counted, clusters_interval
from salva.stats.ratios import RelativeChange, Shares, relative_change
from salva.suites.actesting.observing import mutation_of

ORIG = "orig"
WEIGHT = "weight"
"""The label of a case that was sampled on purpose: what it stands for in the uniform population."""


@dataclass(slots=True)
class ClusteredShare:
    """Hits among tries, by cluster."""

    hits: Counter[str] = field(default_factory=Counter)
    tries: Counter[str] = field(default_factory=Counter)
    undecided: int = 0
    weighted_hits: float = 0.0
    weights: float = 0.0

    def add(self, case: Case, hits: int, n: int = 1) -> None:
        """Count some tries of one case."""
        cluster = cluster_of(case)
        self.hits[cluster] += hits
        self.tries[cluster] += n
        weight = weight_of(case)
        self.weighted_hits += weight * hits
        self.weights += weight * n

    @property
    def n(self) -> int:
        """Tries in all."""
        return self.tries.total()

    @property
    def value(self) -> float | None:
        """The share; None without tries."""
        return self.hits.total() / self.n if self.n else None

    @property
    def reweighted(self) -> float | None:
        """The share as a uniform sample would have it."""
        return self.weighted_hits / self.weights if self.weights else None

    def interval(self) -> Interval | None:
        """95 %, over clusters; None of few."""
        return clusters_interval(
            [Counted(category="", n_hits=self.hits[name], n=n) for name, n in self.tries.items() if n]
        )

    def cells(self) -> tuple[Cell, ...]:
        """Value, low, high and n."""
        return (self.value, *ends(self.interval()), self.n)

    def over(self, base: ClusteredShare) -> RelativeChange | None:
        """By how much it is higher than another, clusters held together."""
        names = dict.fromkeys((*self.tries, *base.tries))
        return relative_change(
            [
                Shares(hits=self.hits[name], n=self.tries[name], base_hits=base.hits[name], base_n=base.tries[name])
                for name in names
            ]
        )


def change_cells(change: RelativeChange | None) -> tuple[Cell, ...]:
    """Value, low and high of a relative change."""
    if change is None:
        return (None, None, None)
    return (change.value, *ends(change.interval))


def weight_of(case: Case) -> float:
    """What a case stands for in the uniform population; 1 where it was not sampled on purpose."""
    return float(case.labels.get(WEIGHT, 1.0))


def by_operator(pairs: Iterable[CaseVerdict]) -> dict[str, list[CaseVerdict]]:
    """Pairs by the operator that made them."""
    return group_by(pairs, lambda one: mutation_of(one.case).operator)


def errors(pairs: Iterable[CaseVerdict], score: str) -> ClusteredShare:
    """How many of some pairs are wrong by a score of 1 or 0; without it a pair is undecided."""
    share = ClusteredShare()
    for case, verdict in pairs:
        if score in verdict.scores:
            share.add(case, int(verdict.scores[score]))
        else:
            share.undecided += 1
    return share


def noise(controls: Iterable[CaseVerdict], score: str) -> float | None:
    """The same score of the seed's caption against itself under another seed; None without a control arm."""
    values = [
        control.verdict.scores[name]
        for control in controls
        for name in [within_name(score, control.case.prompts[0].role)]
        if name in control.verdict.scores
    ]
    return sum(values) / len(values) if values else None


class Miss(NamedTuple):
    """How much of what captions say their images do not show."""

    entities: ClusteredShare
    relations: ClusteredShare


def misses(pairs: Sequence[CaseVerdict]) -> dict[str, Miss]:
    """Misses of the seeds' captions and of every operator's; each image counts once."""
    misses: defaultdict[str, Miss] = defaultdict(lambda: Miss(ClusteredShare(), ClusteredShare()))
    counted: set[tuple[str, int]] = set()
    for case, verdict in pairs:
        seed, mutant = (prompt.role for prompt in case.prompts)
        generated_from = (case.painting or case.case_id, verdict.repeat)
        if generated_from not in counted and f"entities_{seed}" in verdict.scores:
            counted.add(generated_from)
            _add(misses[ORIG], case, verdict.scores, seed)
        if f"entities_{mutant}" in verdict.scores:
            _add(misses[mutation_of(case).operator], case, verdict.scores, mutant)
    return misses


def _add(miss: Miss, case: Case, scores: Mapping[str, float], role: str) -> None:
    n, n_shown = int(scores[f"entities_{role}"]), int(scores[f"named_{role}"])
    miss.entities.add(case, n - n_shown, n)
    n_asked, n_shown_triples = int(scores[f"decided_triples_{role}"]), int(scores[f"shown_triples_{role}"])
    if n_asked:
        miss.relations.add(case, n_asked - n_shown_triples, n_asked)
    pool = mutation_of(case).seed if role == case.prompts[0].role else mutation_of(case).mutant
    miss.relations.undecided += len(pool.triples) - n_asked
