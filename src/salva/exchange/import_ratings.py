"""Imports files of ratings as cases and verdicts.

Each rater is an observer: scores of all pairs of text and image that a check asks for become a verdict by its own
rule, the column `failed` becomes one too, and any other rating is kept as a score that decides nothing. The files stay
in the run, so that `salva agree RUN` reads what `salva agree FILE` did.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from salva import registry
from salva.core.exchange import ImportSettings, ReadIn
from salva.core.fingerprint import Json
from salva.core.options import option
from salva.core.plan import Binding
from salva.core.protocols import Conclusion, ScoringCheck
from salva.core.run_spec import ComponentSpec
from salva.core.score_rubric import HIGHEST
from salva.core.scoring import Pair
from salva.core.verdict import PAIR, Outcome, Verdict
from salva.exchange.rated_cases import RATED, RatedItem, RatedItems, place_all
from salva.review.columns import FAILED, RATING, Columns
from salva.review.rating_table import CANNOT_TELL, Rating, RatingTable, read_ratings

_NO_VERDICT = "a rating does not decide whether a check passes"
_CANNOT_TELL = "the rater cannot tell"
_HALVES = ("objects", "relations")


class RatingsImport:
    """Ratings by people and scores by judges, in any file that salva agree reads."""

    version: ClassVar[str] = "1"

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options:
        """The columns that have other names than the documented ones."""

        people: tuple[str, ...] = option((), "Columns of people's ratings.")
        judge: tuple[str, ...] = option((), "Columns of judges' scores, or names in the column of raters.")
        item: tuple[str, ...] = option((), "Columns that name the rated item.")
        rater: str = option("", "The column that names the rater.")

    def __init__(self, options: Options) -> None:
        self._columns = Columns(item=options.item, rater=options.rater, people=options.people, judges=options.judge)

    def read(self, files: Sequence[Path], settings: ImportSettings) -> ReadIn:
        """Cases and verdicts of these files."""
        return _read_in(files, settings, self._columns)


def _read_in(files: Sequence[Path], settings: ImportSettings, columns: Columns) -> ReadIn:
    table = read_ratings(files, columns, names=settings.names or [path.name for path in files])
    rated = _Rated(table=table, placed=place_all(table, settings.model), observers=_observers(table))
    placed = rated.placed
    is_scored = placed.check != RATED
    verdicts = list(_scored_verdicts(rated) if is_scored else _item_verdicts(rated))
    people, judges = ([rated.observers[who] for who in names] for names in (table.people, table.judges))
    roles = {**dict.fromkeys(people, "person"), **dict.fromkeys(judges, "judge")}
    rule = ComponentSpec(role="check", name=RATED, options={"people": ",".join(people)})
    return ReadIn(
        suite=placed.suite,
        models=placed.models,
        cases=tuple(placed.cases.values()),
        verdicts=tuple(verdicts),
        problems=(*table.flaws, *placed.flaws),
        counts={
            "cases": len(placed.cases),
            "people": len(table.people),
            "judges": len(table.judges),
            "ratings": len(table.ratings),
        },
        rules=(_check(placed.check).spec() if is_scored else rule,),
        repeats=len({place.repeat for place in placed.places.values()}),
        observers=roles,
        deciding=tuple(people[:1]),
        about={
            "people": list[Json](people),
            "judges": list[Json](judges),
            "model": settings.model,
            "columns": {
                "item": list[Json](columns.item),
                "rater": columns.rater,
                "people": list[Json](columns.people),
                "judge": list[Json](columns.judges),
            },
        },
        needs_files=True,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rated:
    """Ratings, where each of them belongs, and the name of each rater as an observer."""

    table: RatingTable
    placed: RatedItems
    observers: Mapping[str, str]


def _observers(table: RatingTable) -> dict[str, str]:
    observers: dict[str, str] = {}
    for who in (*table.people, *table.judges):
        # A plus joins observers and a comma lists them, so no name may hold either.
        name = re.sub(r"\s*[+,]\s*", " and ", who)
        observers[who] = name if name not in observers.values() else f"{name} ({len(observers) + 1})"
    return observers


def _check(name: str) -> Binding:
    return registry.bind(ComponentSpec(role="check", name=name))


def _by_observer(rated: _Rated) -> dict[str, list[Rating]]:
    """People first, judges after them."""
    table = rated.table
    by_observer: dict[str, list[Rating]] = {who: [] for who in (*table.people, *table.judges)}
    for rating in table.ratings:
        if rating.item in rated.placed.places:
            by_observer[rating.who].append(rating)
    return by_observer


def _scored_verdicts(rated: _Rated) -> Iterator[Verdict]:
    """One verdict a case, model, repeat and rater or judge who rated any of its pairs, by the check's own rule."""
    bound = _check(rated.placed.check)
    check: ScoringCheck = bound.build()
    assert bound.about.scoring is not None, "rated pairs are placed by a check that scores them"
    for who, ratings in _by_observer(rated).items():
        units: dict[RatedItem, dict[Pair, tuple[float, float] | str]] = {}
        for rating in ratings:
            place = rated.placed.places[rating.item]
            if place.pair is not None:
                units.setdefault(replace(place, pair=None), {})[place.pair] = _halves(rating)
        for unit, given in units.items():
            missing = f"{who} gave no rating that can be used"
            scores = {pair: given.get(pair, missing) for pair in bound.about.scoring.pairs}
            conclusion = check.conclude(rated.placed.cases[unit.case_id], scores, {})
            yield _verdict(unit, rated.placed.check, rated.observers[who], conclusion)


def _halves(rating: Rating) -> tuple[float, float] | str:
    """Objects and relations, or why there are none."""
    if len(rating.parts) == 2 and all(0 <= part <= HIGHEST for part in rating.parts):
        return rating.parts[0], rating.parts[1]
    return f"{rating.who} gave one number, and objects and relations, 0 to {HIGHEST} each, are needed"


def _item_verdicts(rated: _Rated) -> Iterator[Verdict]:
    """One verdict an item and rater or judge who rated it."""
    for who, ratings in _by_observer(rated).items():
        by_item: dict[str, list[Rating]] = {}
        for rating in ratings:
            by_item.setdefault(rating.item, []).append(rating)
        for item, given in by_item.items():
            yield _verdict(rated.placed.places[item], RATED, rated.observers[who], _concluded(given))


def _concluded(ratings: Sequence[Rating]) -> Conclusion:
    by_measure = {rating.measure: rating for rating in ratings}
    scores = {name: rating.value for name, rating in by_measure.items() if name != FAILED}
    if RATING in by_measure and len(by_measure[RATING].parts) == len(_HALVES):
        scores |= dict(zip(_HALVES, by_measure[RATING].parts, strict=True))
    if FAILED not in by_measure:
        return Conclusion(outcome=Outcome.UNDECIDED, scores=scores, reason=_NO_VERDICT)
    if by_measure[FAILED].value == CANNOT_TELL:
        return Conclusion(outcome=Outcome.UNDECIDED, scores=scores, reason=_CANNOT_TELL)
    return Conclusion(outcome=Outcome.FAIL if by_measure[FAILED].value else Outcome.PASS, scores=scores)


def _verdict(place: RatedItem, check: str, observer: str, conclusion: Conclusion) -> Verdict:
    return Verdict(
        case_id=place.case_id,
        repeat=place.repeat,
        arm=PAIR,
        model=place.model,
        check=check,
        observers=(observer,),
        outcome=conclusion.outcome,
        failure_types=conclusion.failure_types,
        failures=conclusion.failures,
        scores=conclusion.scores,
        reason=conclusion.reason,
    )
