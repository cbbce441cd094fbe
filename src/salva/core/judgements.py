"""The record that metrics get: the results and verdicts of one model, beside their cases."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from salva.core.case import Case
from salva.core.fingerprint import Json
from salva.core.grouping import group_by
from salva.core.result import Result, Rule
from salva.core.verdict import Verdict, observers_text


class CaseVerdict(NamedTuple):
    """A verdict with the case it is about."""

    case: Case
    verdict: Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCheck:
    """A check that took part in a run."""

    compares: bool = False
    """Whether it only compares images with each other."""
    options: Mapping[str, Json] = field(default_factory=dict)
    """What it judged with."""
    needs: tuple[str, ...] = ()
    """The roles whose observations it uses."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SetFigure:
    """A figure about one of the sets of images that a model generated: how good they are as images."""

    name: str
    """What is measured: FID, Inception Score, R-precision, ..."""
    set: str
    """Whose images: those of a prompt role; of captions and mutants `orig` and each operator."""
    value: float
    n_images: int
    by: str
    """The embedder."""
    spread: float = 0.0
    """Standard deviation over splits or draws; 0 for figures without."""
    low: float | None = None
    """The ends of its interval, over captions or splits; None for figures without."""
    high: float | None = None
    n_reference: int = 0
    warning: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """What a run took."""

    seconds: float
    """Of the commands that generated, observing included."""
    n_images: int
    where: str
    """The machine, in a few words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgements:
    """Everything a metric may measure of one model."""

    cases: tuple[Case, ...]
    results: tuple[Result, ...] = ()
    """One for every case and repeat, in the order of the cases."""
    verdicts: tuple[Verdict, ...] = ()
    """As they are stored, of both arms."""
    pairs: tuple[CaseVerdict, ...] = ()
    """The pair arm in the order of the cases, the deciding observers of each check first."""
    controls: tuple[CaseVerdict, ...] = ()
    """The control arm in the same order."""
    rule: Rule = field(default_factory=Rule)
    average: str = "macro"
    """How rates are averaged: over categories (macro), or pooled."""
    checks: Mapping[str, RunCheck] = field(default_factory=dict)
    observers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Role to the components that played it."""
    figures: tuple[SetFigure, ...] = ()
    """What was measured of its images as images, set by set."""
    weights: Mapping[str, str] = field(default_factory=dict)
    """Each observer to the pin of its weights."""
    group: str = ""
    """What other models this one is shown together with, as the user says."""
    is_whole: bool = False
    """Whether the run is finished."""
    inner: Judgements | None = None
    """Of the model that this one wraps, where the run has that one by itself too."""
    effort: Effort | None = None
    """What the run took, all its models and observers together; None where it is not recorded."""

    @property
    def counts(self) -> str:
        """How the run asks numbers to be read; empty where each case says it."""
        return next((str(said) for check in self.checks.values() if (said := check.options.get("counts"))), "")

    def of_check(self, check: str) -> tuple[CaseVerdict, ...]:
        """The verdicts of a check by its deciding observers, one for every case and repeat."""
        return deciding_verdicts(self.pairs, check)

    def by_observer(self, check: str) -> dict[str, tuple[CaseVerdict, ...]]:
        """The verdicts of a check by each of its observers, the deciding one first; one for every case and repeat."""
        groups = group_by((p for p in self.pairs if p.verdict.check == check), lambda p: self.observer_of(p.verdict))
        return {observer: deciding_verdicts(group, check) for observer, group in groups.items()}

    def observer_of(self, verdict: Verdict) -> str:
        """Who makes a check's verdicts differ: its judge where it asks one, else all its observers."""
        asks_judge = verdict.check in self.checks and "judge" in self.checks[verdict.check].needs
        return verdict.observers[-1] if asks_judge and verdict.observers else observers_text(verdict.observers)

    def options_of(self, check: str) -> Mapping[str, Json]:
        """What a check judged with; empty where it took no part."""
        return self.checks[check].options if check in self.checks else {}


def deciding_verdicts(pairs: Iterable[CaseVerdict], check: str) -> tuple[CaseVerdict, ...]:
    """The first verdict of a check for every case and repeat; pairs: with the deciding observers first."""
    first: dict[tuple[str, int], CaseVerdict] = {}
    for pair in pairs:
        if pair.verdict.check == check:
            first.setdefault((pair.case.case_id, pair.verdict.repeat), pair)
    return tuple(first.values())
