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

COVERED = (
    "Covered: what is there and what is not, numbers up to six, left, right, top, bottom and middle, "
    "what a prompt forbids, and drawn words, in drawings on calm grounds."
)
NOT_COVERED = (
    "Not covered: photographs and images of other generators, other things than the painter's, next to and on, sizes, "
    "and anything people would argue about. Measure these on images of your own: salva agree."
)


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
class HardScore:
    """How one kind of hard image went."""

    kind: str
    n_exact: int
    """Images of which the oracle said just what is wrong with them, or that nothing is."""
    n_undecided: int
    wrong: Score
    """Whether something is wrong with an image, whatever it is."""


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
    hard: tuple[HardScore, ...] = ()
    """Per kind of hard image; empty where none were asked for."""
    hard_errors: tuple[Score, ...] = ()
    """Per error type, over all hard images."""
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

    def beyond(self) -> str:
        """How the hard images went, in one sentence; empty where there were none."""
        if not self.hard:
            return ""
        n, n_exact = sum(score.wrong.n_judged for score in self.hard), sum(score.n_exact for score in self.hard)
        ranked = sorted(self.hard, key=lambda score: score.n_exact / score.wrong.n_judged)
        worst, best = ranked[0], ranked[-1]
        return (
            f"exactly right about {n_exact} of {n} hard images ({100 * n_exact / n:.0f} %), from "
            f"{100 * worst.n_exact / worst.wrong.n_judged:.0f} % ({worst.kind}) to "
            f"{100 * best.n_exact / best.wrong.n_judged:.0f} % ({best.kind}); this changes no exit code"
        )

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
            *self._hard_tables(),
        )

    def _hard_tables(self) -> tuple[Table, ...]:
        if not self.hard:
            return ()
        kinds = Table(
            name="hard images",
            columns=("kind", "pictures", "exactly right", "undecided", "precision", "recall"),
            rows=tuple(
                (
                    score.kind,
                    score.wrong.n_judged,
                    rate_cell(score.n_exact, score.wrong.n_judged),
                    score.n_undecided,
                    _of(score.wrong.n_both, score.wrong.n_found),
                    _of(score.wrong.n_both, score.wrong.n_true),
                )
                for score in self.hard
            ),
            note="Every other image has a fault; precision and recall are of images called wrong. "
            "No photograph is used: photo grounds are made by code.",
        )
        errors = Table(
            name="error types in hard images",
            columns=("error type", "there", "found", "precision", "recall"),
            rows=tuple(
                (score.name, *score_cells(score)) for score in self.hard_errors if score.n_true or score.n_found
            ),
            note="Over all hard images.",
        )
        return kinds, errors


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


def _of(n_hits: int, n: int) -> str:
    return f"{n_hits} of {n}" if n else "-"


def rate_cell(n_hits: int, n: int) -> str:
    """A share with its 95 % interval."""
    if not n:
        return "-"
    interval = wilson(n_hits / n, n)
    return f"{n_hits / n:.3f} ({interval.low:.2f}-{interval.high:.2f})"
