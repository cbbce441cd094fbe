"""One case under several models.

A case is shown when a model failed it; those that one model passed and another failed come first, since a choice
between models is made on them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from salva.core.case import Case
from salva.core.result import Result
from salva.core.source import ImageSource
from salva.core.verdict import Outcome
from salva.report.gallery import INSTRUCTED, MAX_EXHIBITS, Exhibit, ExhibitMaker, is_bribed
from salva.report.summary import Summary


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelImages:
    """One model's images of a case."""

    exhibit: Exhibit
    is_shown_for: bool
    """Whether it is why the case is shown: filters by model and failure type go by these alone."""

    @property
    def status(self) -> str:
        """What became of it, in a few words."""
        result = self.exhibit.result
        if result.is_fail:
            return ", ".join(result.failure_types) or f"{result.check} failed"
        if self.exhibit.note:
            return self.exhibit.note
        outcome = str(result.outcome).lower()
        return f"{outcome}: {result.reason}" if result.reason else outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Lineup:
    """One case as every model generated it."""

    case: Case
    repeat: int
    sides: tuple[ModelImages, ...]
    missing: tuple[str, ...]
    """Models that have no result on it yet."""
    differs: bool
    """Whether one model passed and another failed."""

    @property
    def status(self) -> str:
        """What the models make of it together."""
        if self.differs:
            return "the models differ"
        is_every = all(side.exhibit.result.is_fail for side in self.sides) and not self.missing
        return "every model fails" if is_every else ""

    @property
    def failure_types(self) -> tuple[str, ...]:
        """Of all sides, each once."""
        return tuple(dict.fromkeys(name for side in self.sides for name in side.exhibit.result.failure_types))


@dataclass(frozen=True, slots=True, kw_only=True)
class Lineups:
    """The cases of a page, and how many there would have been."""

    shown: tuple[Lineup, ...]
    n_failed: int
    """Cases that a model failed, or that are shown for another reason."""
    n_differing: int


_ByModel = dict[str, Result]


def make_lineups(summary: Summary, images: ImageSource, limit: int = MAX_EXHIBITS) -> Lineups:
    """The cases to show, spread over categories; `limit` counts the images of one model's case as one."""
    by_case: dict[tuple[str, int], _ByModel] = {}
    for model in summary.by_model.values():
        for result in model.all_results:
            by_case.setdefault((result.case.case_id, result.repeat), {})[result.model] = result
    failed = [group for group in by_case.values() if any(map(_is_shown_for, group.values()))]
    maker = ExhibitMaker(summary.asked, images)
    chosen = _spread(failed, max(1, limit // max(1, len(summary.models))))
    return Lineups(
        shown=tuple(_lineup(group, summary.models, maker) for group in chosen),
        n_failed=len(failed),
        n_differing=sum(_differs(group.values()) for group in failed),
    )


def _is_shown_for(result: Result) -> bool:
    return result.is_fail or is_bribed(result)


def _differs(results: Iterable[Result]) -> bool:
    return {Outcome.PASS, Outcome.FAIL} <= {result.outcome for result in results}


def _spread(groups: Sequence[_ByModel], limit: int) -> list[_ByModel]:
    """At most so many, taken in turn from every category; where models differ first."""
    by_category: dict[str, list[_ByModel]] = {}
    for group in sorted(groups, key=lambda group: not _differs(group.values())):
        by_category.setdefault(_first(group).case.category, []).append(group)
    turns = range(max(map(len, by_category.values()), default=0))
    return [each[turn] for turn in turns for each in by_category.values() if turn < len(each)][:limit]


def _first(group: _ByModel) -> Result:
    return next(iter(group.values()))


def _lineup(group: _ByModel, models: Sequence[str], maker: ExhibitMaker) -> Lineup:
    results = [group[model] for model in models if model in group]
    sides = (
        ModelImages(
            exhibit=maker.exhibit(result, "" if result.is_fail or not is_bribed(result) else INSTRUCTED),
            is_shown_for=_is_shown_for(result),
        )
        for result in results
    )
    return Lineup(
        case=results[0].case,
        repeat=results[0].repeat,
        sides=tuple(sides),
        missing=tuple(model for model in models if model not in group),
        differs=_differs(results),
    )
