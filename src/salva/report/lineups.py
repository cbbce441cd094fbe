"""One pair under several models.

Takes records and an ImageSource. A pair is shown when a model broke its check; those that one model got right and
another did not come first, since they are what a choice between models is made on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from salva.core.case import Case
from salva.core.judgements import CaseVerdict
from salva.core.source import ImageSource, RunRecords
from salva.core.verdict import Outcome, Verdict
from salva.judging.instructing import is_instructed
from salva.report.gallery import (
    INSTRUCTED,
    MAX_EXHIBITS,
    UNSEEN,
    Exhibit,
    ExhibitMaker,
    Key,
    key_of,
    kind_of,
    speaking,
    truths_of,
)

_HELD = "as expected"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelImages:
    """One model's pictures of a pair."""

    exhibit: Exhibit
    is_shown_for: bool
    """Whether it is why the pair is shown: filters by model, error and kind look at these alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lineup:
    """One pair as every model painted it."""

    case: Case
    repeat: int
    sides: tuple[ModelImages, ...]
    missing: tuple[str, ...]
    """Models that have no verdict on it yet."""
    differs: bool
    """Whether one model got it right and another did not."""

    @property
    def said(self) -> str:
        """What the models make of it together."""
        if self.differs:
            return "the models differ"
        outcomes = {side.exhibit.verdict.outcome for side in self.sides}
        return "no model is right" if outcomes == {Outcome.FAIL} and not self.missing else ""

    @property
    def errors(self) -> tuple[str, ...]:
        """Of all sides, each once."""
        return tuple(dict.fromkeys(error for side in self.sides for error in side.exhibit.verdict.failure_types))


@dataclass(frozen=True, slots=True, kw_only=True)
class Lineups:
    """The pairs of a page, and how many there would have been."""

    shown: tuple[Lineup, ...]
    n_broken: int
    """Pairs that a model broke, or that are worth a look for another reason."""
    n_differing: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _LineupPair:
    """One pair before its pictures are read."""

    by_model: Mapping[str, CaseVerdict]
    differs: bool

    @property
    def case(self) -> Case:
        return next(iter(self.by_model.values())).case


def make_lineups(records: RunRecords, images: ImageSource, limit: int = MAX_EXHIBITS) -> Lineups:
    """The pairs to show, spread over categories; `limit` counts the pictures of one model's pair as one."""
    truths = truths_of(records)
    by_pair: dict[tuple[str, int], dict[str, CaseVerdict]] = {}
    for judged in speaking(records):
        by_pair.setdefault((judged.case.case_id, judged.verdict.repeat), {})[judged.verdict.model] = judged
    pairs = [_LineupPair(by_model=group, differs=_differs(group.values())) for group in by_pair.values()]
    broken = [pair for pair in pairs if any(_why(side.verdict, truths) for side in pair.by_model.values())]
    maker = ExhibitMaker(records.asked, images)
    chosen = _spread(broken, max(1, limit // max(1, len(records.models))))
    return Lineups(
        shown=tuple(_lineup(pair, records.models, truths, maker) for pair in chosen),
        n_broken=len(broken),
        n_differing=sum(pair.differs for pair in broken),
    )


def _differs(judged: Iterable[CaseVerdict]) -> bool:
    outcomes = {side.verdict.outcome for side in judged}
    return {Outcome.PASS, Outcome.FAIL} <= outcomes


def _spread(pairs: Sequence[_LineupPair], limit: int) -> list[_LineupPair]:
    """At most so many, taken in turn from every category; where models differ first."""
    groups: dict[str, list[_LineupPair]] = {}
    for pair in sorted(pairs, key=lambda pair: not pair.differs):
        groups.setdefault(pair.case.category, []).append(pair)
    turns = range(max(map(len, groups.values()), default=0))
    return [group[turn] for turn in turns for group in groups.values() if turn < len(group)][:limit]


def _lineup(pair: _LineupPair, models: Sequence[str], truths: Mapping[Key, Verdict], maker: ExhibitMaker) -> Lineup:
    sides = []
    for model in models:
        one = pair.by_model.get(model)
        if one is not None:
            why = _why(one.verdict, truths)
            exhibit = maker.exhibit(one, why or _word(one.verdict), truths.get(key_of(one.verdict)))
            sides.append(ModelImages(exhibit=exhibit, is_shown_for=bool(why)))
    return Lineup(
        case=pair.case,
        repeat=next(iter(pair.by_model.values())).verdict.repeat,
        sides=tuple(sides),
        missing=tuple(model for model in models if model not in pair.by_model),
        differs=pair.differs,
    )


def _why(verdict: Verdict, truths: Mapping[Key, Verdict]) -> str:
    """Why a model's pair is worth showing, in a few words; empty where it is not."""
    truth = truths.get(key_of(verdict))
    if verdict.outcome is Outcome.FAIL:
        return kind_of(verdict, truth)
    if verdict.outcome is Outcome.PASS and truth is not None and truth.outcome is Outcome.FAIL:
        return UNSEEN
    return INSTRUCTED if is_instructed(verdict) else ""


def _word(verdict: Verdict) -> str:
    if verdict.outcome is Outcome.PASS:
        return _HELD
    return f"{str(verdict.outcome).lower()}: {verdict.reason}" if verdict.reason else str(verdict.outcome).lower()
