"""The record that metrics get: the verdicts on one model, joined with their cases.

Verdicts stand beside their cases, and those that lead are chosen already. A check says by its Rate what its
failures mean, so that whoever reads verdicts need not know it by name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from salva.core.case import Case
from salva.core.fingerprint import Json
from salva.core.verdict import Verdict


class Rate(StrEnum):
    """What the failures of a check are a rate of."""

    WRONG = "wrong"
    """An image does not show what its own prompt says. Decided verdicts have a score `right_<role>`, 1 or 0, for
    every image, and for a pair `both_wrong`: whether both are wrong and show the same; they may have `named_<role>`,
    how many things that the prompts name were seen, and `mean_score_<role>`, how sure of them the detector was."""
    INCONSISTENT = "inconsistent"
    """Two images of the same meaning do not show the same."""


class CaseVerdict(NamedTuple):
    """A verdict with the case it is about."""

    case: Case
    verdict: Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCheck:
    """A check that took part in a run."""

    rate: Rate | None = None
    """None for a check with a figure of its own."""
    options: Mapping[str, Json] = field(default_factory=dict)
    """What it judged with."""
    needs: tuple[str, ...] = ()
    """The roles whose looks it goes by."""


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
    """Of the commands that generated; what was observed meanwhile is in it."""
    n_images: int
    where: str
    """The machine, in a few words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgements:
    """Everything a metric may measure of one model."""

    cases: tuple[Case, ...]
    verdicts: tuple[Verdict, ...] = ()
    """As they were stored, of both arms."""
    pairs: tuple[CaseVerdict, ...] = ()
    """The pair arm in the order of the cases. Observers are one name where they are the same at work on different
    cases, so they can differ from those that were stored."""
    controls: tuple[CaseVerdict, ...] = ()
    """The control arm alike."""
    headline: tuple[CaseVerdict, ...] = ()
    """The pairs' verdicts that the leading rate counts: of one check each, by those who observed most of them."""
    beside: tuple[CaseVerdict, ...] = ()
    """The same check's verdicts on cases that the suite counts apart."""
    chosen: str = ""
    """The check the run asked to lead with; empty where it left that to each case."""
    checks: Mapping[str, RunCheck] = field(default_factory=dict)
    has_own_figure: bool = False
    """Whether the suite leads with a figure of its own, beside which rates only stand."""
    figures: tuple[SetFigure, ...] = ()
    """What was measured of its images as images, set by set."""
    weights: Mapping[str, str] = field(default_factory=dict)
    """Observers to what pins their weights; whoever is not in it left no trace in the run."""
    apart: tuple[str, str] | None = None
    """A label and its value: cases with it are counted apart from the leading rate."""
    group: str = ""
    """What other models this one is shown together with, as the user says."""
    is_whole: bool = False
    """Whether the run is finished: a case without a verdict then has none because nobody can judge it."""
    inner: Judgements | None = None
    """Of a model that is put round another: what was concluded about that one, where the run has it by itself too."""
    effort: Effort | None = None
    """What the run took, all its models and observers together; None where nobody noted it."""

    @property
    def speaking(self) -> tuple[CaseVerdict, ...]:
        """The verdicts that speak for their cases, those that are counted apart last."""
        return (*self.headline, *self.beside)

    def rate_of(self, check: str) -> Rate | None:
        """What the failures of a check are a rate of."""
        return self.checks[check].rate if check in self.checks else None

    def of_rate(self, rate: Rate) -> str:
        """The first check of a rate; empty without one."""
        return next((name for name, check in self.checks.items() if check.rate is rate), "")

    def options_of(self, check: str) -> Mapping[str, Json]:
        """What a check judged with; empty where it took no part."""
        return self.checks[check].options if check in self.checks else {}
