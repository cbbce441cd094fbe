"""What a selftest found: how often each error type was there, was found, and both.

Counts in, figures and tables out. It has never seen an image.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from salva.core.table import Cell, Table
from salva.stats.intervals import wilson

MAX_FALSE_VIOLATIONS = 0.005
"""Faultless pairs that may be called failed, as a part of all."""
FEWEST = 20
"""Fewer planted faults of a type tell nothing: of 19 that are all found, 95 % intervals begin at 0.83."""

COVERED = "Covered: presence, numbers up to six, places, what a prompt forbids and drawn words, in drawings."
NOT_COVERED = "Not covered: images of other generators, other entities, relations, sizes. For those: salva agree."


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """How often something was there, was found, and both."""

    name: str
    n_judged: int
    n_true: int
    n_found: int
    n_both: int

    @classmethod
    def of(cls, name: str, pairs: Sequence[tuple[bool, bool]]) -> Score:
        """Counted from whether something was there and whether it was found, each time."""
        return cls(
            name=name,
            n_judged=len(pairs),
            n_true=sum(true for true, _ in pairs),
            n_found=sum(found for _, found in pairs),
            n_both=sum(true and found for true, found in pairs),
        )

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
    """The prompt's role, or the check's name for a whole pair."""
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
    """Per check, FAIL over the pairs with planted faults."""
    faultless: tuple[Score, ...]
    """Per check, FAIL over the pairs without; nothing is ever there to be found."""
    mistakes: tuple[Mistake, ...]
    rate: float
    seed: int
    made_for: str = ""
    """What images the detector was made for, in its own words."""

    def problems(self, threshold: float) -> tuple[str, ...]:
        """Why the oracle does not pass, in sentences; empty when it does."""
        problems = low_scores(self.errors, threshold)
        for score in self.faultless:
            rate = score.n_found / score.n_judged if score.n_judged else 0.0
            if rate > MAX_FALSE_VIOLATIONS:
                problems.append(
                    f"{score.name}: {score.n_found} of {score.n_judged} faultless pairs are called failed, "
                    f"more than {100 * MAX_FALSE_VIOLATIONS:.1f} %"
                )
        return tuple(problems)

    def too_few(self) -> tuple[str, ...]:
        """What was planted too seldom to tell, in sentences."""
        return tuple(
            f"{score.name}: planted {score.n_true} times, and it takes {FEWEST} to tell; ask for more --pairs"
            for score in self.errors
            if score.n_true < FEWEST
        )

    def passes(self, threshold: float) -> bool:
        """Whether precision and recall of every error type reach the threshold, on enough faults, with few false
        failures."""
        return not self.problems(threshold) and not self.too_few()

    def tables(self) -> tuple[Table, ...]:
        """The figures, with 95 % intervals."""
        planted = f"Faults planted in {100 * self.rate:.0f} % of the images of their own pairs, seed {self.seed}."
        columns = ("there", "found", "precision", "recall")
        return (
            Table(
                name="error types",
                columns=("error type", *columns),
                rows=tuple((score.name, *score_cells(score)) for score in self.errors),
                note=f"{self.errors[0].n_judged} images. {planted} In brackets 95 % intervals.",
            ),
            Table(
                name="failed pairs",
                columns=("check", "pairs", *columns),
                rows=tuple((score.name, score.n_judged, *score_cells(score)) for score in self.faulty),
                note="Pairs with planted faults alone.",
            ),
            Table(
                name="false failures",
                columns=("check", "pairs", "found", "rate"),
                rows=tuple(
                    (score.name, score.n_judged, score.n_found, rate_cell(score.n_found, score.n_judged))
                    for score in self.faultless
                ),
                note="Pairs without a fault.",
            ),
        )


def low_scores(errors: Sequence[Score], threshold: float) -> list[str]:
    """Precision and recall below a threshold, of what was there often enough; a sentence each."""
    return [
        f"{score.name}: {name} {value:.3f} is below {threshold}"
        for score in errors
        if score.n_true >= FEWEST
        for name, value in (("precision", score.precision), ("recall", score.recall))
        if value is not None and value < threshold
    ]


def score_cells(score: Score) -> tuple[Cell, ...]:
    """There, found, precision and recall."""
    precision, recall = rate_cell(score.n_both, score.n_found), rate_cell(score.n_both, score.n_true)
    return score.n_true, score.n_found, precision, recall


def rate_cell(n_hits: int, n: int) -> str:
    """A share with its 95 % interval."""
    if not n:
        return "-"
    interval = wilson(n_hits / n, n)
    return f"{n_hits / n:.3f} ({interval.low:.2f}-{interval.high:.2f})"
