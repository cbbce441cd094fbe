"""What a selftest found: how often each error type was there, was found, and both.

Counts in, figures and tables out. It has never seen a picture.
"""

from __future__ import annotations

from dataclasses import dataclass

from salva.core.table import Cell, Table
from salva.stats.intervals import wilson

MAX_FALSE_VIOLATIONS = 0.005
"""Faultless pairs that may be called violated, as a part of all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """How often something was there, was found, and both."""

    name: str
    n_judged: int
    n_true: int
    n_found: int
    n_both: int

    @property
    def precision(self) -> float | None:
        """Of what was found, the part that was there; None when nothing was found."""
        return self.n_both / self.n_found if self.n_found else None

    @property
    def recall(self) -> float | None:
        """Of what was there, the part that was found; None when nothing was there."""
        return self.n_both / self.n_true if self.n_true else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Mistake:
    """An image or a pair of which the oracle said something else than is true."""

    case_id: str
    role: str
    """The prompt's role, or the relation's name for a whole pair."""
    planted: str
    """The fault, or empty."""
    true: tuple[str, ...]
    found: tuple[str, ...]
    why: str
    """What the oracle says it saw."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SelftestReport:
    """How far the oracle can be trusted."""

    errors: tuple[Score, ...]
    """Per error type, over all images."""
    faulty: tuple[Score, ...]
    """Per relation, VIOLATED over the pairs with planted faults."""
    faultless: tuple[Score, ...]
    """Per relation, VIOLATED over the pairs without; nothing is ever there to be found."""
    mistakes: tuple[Mistake, ...]
    rate: float
    seed: int

    def problems(self, threshold: float) -> tuple[str, ...]:
        """Why the oracle does not pass, in sentences; empty when it does."""
        problems = []
        for score in self.errors:
            for name, value in (("precision", score.precision), ("recall", score.recall)):
                if value is not None and value < threshold:
                    problems.append(f"{score.name}: {name} {value:.3f} is below {threshold}")
            if not score.n_true:
                problems.append(f"{score.name}: never shown, so its recall was not measured; ask for more pairs")
        for score in self.faultless:
            rate = score.n_found / score.n_judged if score.n_judged else 0.0
            if rate > MAX_FALSE_VIOLATIONS:
                problems.append(
                    f"{score.name}: {score.n_found} of {score.n_judged} faultless pairs are called violated, "
                    f"more than {MAX_FALSE_VIOLATIONS:.1%}"
                )
        return tuple(problems)

    def passes(self, threshold: float) -> bool:
        """Whether precision and recall of every error type reach the threshold, with few false violations."""
        return not self.problems(threshold)

    def tables(self) -> tuple[Table, ...]:
        """The figures, with 95 % intervals."""
        planted = f"Faults planted in {self.rate:.0%} of the images of their own pairs, seed {self.seed}."
        columns = ("there", "found", "precision", "recall")
        return (
            Table(
                name="error types",
                columns=("error type", *columns),
                rows=tuple((score.name, *_found(score)) for score in self.errors),
                note=f"{self.errors[0].n_judged} images. {planted} In brackets 95 % intervals.",
            ),
            Table(
                name="violated pairs",
                columns=("relation", "pairs", *columns),
                rows=tuple((score.name, score.n_judged, *_found(score)) for score in self.faulty),
                note="Pairs with planted faults alone.",
            ),
            Table(
                name="false violations",
                columns=("relation", "pairs", "found", "rate"),
                rows=tuple(
                    (score.name, score.n_judged, score.n_found, _rate(score.n_found, score.n_judged))
                    for score in self.faultless
                ),
                note="Pairs without a fault.",
            ),
        )


def _found(score: Score) -> tuple[Cell, ...]:
    precision, recall = _rate(score.n_both, score.n_found), _rate(score.n_both, score.n_true)
    return score.n_true, score.n_found, precision, recall


def _rate(n_hits: int, n: int) -> str:
    if not n:
        return "-"
    interval = wilson(n_hits / n, n)
    return f"{n_hits / n:.3f} ({interval.low:.2f}-{interval.high:.2f})"
