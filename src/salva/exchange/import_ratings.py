"""Files of ratings by people and scores by judges, made into cases and verdicts.

Whoever rated is an observer: scores of all pairs of text and picture that a check asks for become a verdict by its
own rule, a yes or no about a check becomes one too, and any other rating is kept as a score that decides nothing.
The files stay in the run, so that `salva agree RUN` reads what `salva agree FILE` did.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from salva import registry
from salva.core.asked import AskedComponent
from salva.core.counted import counted
from salva.core.exchange import Flaw, ImportSettings, ReadIn
from salva.core.fingerprint import Json
from salva.core.options import option
from salva.core.protocols import Conclusion, ScoringCheck
from salva.core.scoring import Pair
from salva.core.spec import Binding, ComponentSpec
from salva.core.verdict import PAIR, Outcome, Verdict
from salva.errors import UsageError
from salva.review.kept_ratings import KeptRatings, read_kept
from salva.review.question_sheets import is_label_row
from salva.review.rated_things import RATED, Place
from salva.review.rating_cells import as_number, column_key
from salva.review.ratings import Columns, Ratings

_WHETHER = re.compile(r"(.*_)?(failed|outcome)")
_NO_WORD = "a rating says how good something is, not whether a check holds"


class RatingsImport:
    """Ratings by people and scores by judges, in any shape that salva agree reads."""

    version: ClassVar[str] = "1"

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options:
        """Which column of the tables is what; empty leaves it to the names."""

        people: tuple[str, ...] = option((), "Columns of people's ratings; found by name otherwise.")
        judge: tuple[str, ...] = option((), "Columns of judges' scores; likewise.")
        item: tuple[str, ...] = option((), "Columns that name the rated thing; likewise.")
        rater: str = option("", "The column that names the rater, one row a rating; likewise.")

    def __init__(self, options: Options) -> None:
        self._columns = Columns(things=options.item, rater=options.rater, people=options.people, judges=options.judge)

    def read(self, files: Sequence[Path], settings: ImportSettings) -> ReadIn:
        """Cases and verdicts of these files."""
        return _read_in(files, settings, self._columns)


def _read_in(files: Sequence[Path], settings: ImportSettings, columns: Columns) -> ReadIn:
    if len({path.resolve() for path in files}) < len(files):
        raise UsageError(f"one of the files is given twice: {', '.join(map(str, files))}; give each once")
    names = settings.names or [path.name for path in files]
    kept = read_kept(files, names, columns, settings.model)
    ratings, placed = kept.ratings, kept.placed
    problems = [*ratings.flaws, *placed.flaws]
    if (unnamed := ratings.people.get("?")) is not None:
        n = sum(value is not None for value in unnamed)
        what = f"{counted(n, 'ratings')} without a rater's name; they count as one person's, called '?'"
        problems.append(Flaw(file=", ".join(names), what=what))
    is_scored = placed.check != RATED
    verdicts = list(_scored_verdicts(kept) if is_scored else _thing_verdicts(kept, problems))
    judges = [kept.observers[who] for who in ratings.judges]
    roles = {**dict.fromkeys(kept.people, "person"), **dict.fromkeys(judges, "judge")}
    rule = AskedComponent(role="check", name=RATED, options={"people": ",".join(kept.people)})
    return ReadIn(
        suite=placed.suite,
        models=placed.models,
        cases=tuple(placed.cases.values()),
        verdicts=tuple(verdicts),
        problems=tuple(problems),
        counts={
            "cases": len(placed.cases),
            "people": len(ratings.people),
            "judges": len(ratings.judges),
            "ratings": sum(value is not None for _, given in _everyone(ratings) for value in given),
        },
        rules=(_check(placed.check).asked() if is_scored else rule,),
        repeats=len({place.repeat for place in placed.places if place}),
        observers=roles,
        leading={placed.check: kept.people[0]},
        about={
            "people": list[Json](kept.people),
            "judges": list[Json](judges),
            "model": settings.model,
            "columns": {
                "item": list[Json](columns.things),
                "rater": columns.rater,
                "people": list[Json](columns.people),
                "judge": list[Json](columns.judges),
            },
        },
        keeps_files=True,
    )


def _everyone(ratings: Ratings) -> Iterator[tuple[str, Sequence[float | None]]]:
    """People first: of observers with as many verdicts the first leads."""
    yield from ratings.people.items()
    yield from ratings.judges.items()


def _check(name: str) -> Binding:
    return registry.bind(ComponentSpec(role="check", name=name))


def _scored_verdicts(kept: KeptRatings) -> Iterator[Verdict]:
    """One verdict a case, model, repeat and rater or judge who rated any of its pairs, by the check's own rule."""
    bound = _check(kept.placed.check)
    check: ScoringCheck = bound.build()
    assert bound.about.scoring is not None, "rated pairs are placed by a check that scores them"
    pairs = bound.about.scoring.pairs
    ratings, placed = kept.ratings, kept.placed
    units: dict[Place, dict[Pair, int]] = {}
    unit_of: dict[int, Place] = {}
    for index, place in enumerate(placed.places):
        if place is not None and place.pair is not None:
            unit_of[index] = replace(place, pair=None)
            units.setdefault(unit_of[index], {})[place.pair] = index
    for who, given in _everyone(ratings):
        rated = (unit_of[index] for index, value in enumerate(given) if value is not None and index in unit_of)
        for unit in dict.fromkeys(rated):
            things = units[unit]
            scores = {
                pair: _halves(ratings, who, things[pair]) if pair in things else f"{who} was not asked"
                for pair in pairs
            }
            conclusion = check.conclude(placed.cases[unit.case_id], scores, {})
            yield _verdict(unit, placed.check, kept.observers[who], conclusion)


def _halves(ratings: Ratings, who: str, index: int) -> tuple[float, float] | str:
    """Objects and relations as somebody rated them, or why there are none."""
    given = ratings.people.get(who) or ratings.judges[who]
    row = ratings.said[who][index]
    if given[index] is None or row is None:
        return f"{who} gave none that can be used"
    numbers = [as_number(row[name]) for name in ratings.columns[who]]
    if len(numbers) != 2 or numbers[0] is None or numbers[1] is None:
        return f"{who} gave one number, and objects and relations, 0 to 50 each, are wanted"
    return numbers[0], numbers[1]


def _thing_verdicts(kept: KeptRatings, problems: list[Flaw]) -> Iterator[Verdict]:
    """One verdict a thing and rater or judge who rated it."""
    ratings = kept.ratings
    for who, given in _everyone(ratings):
        for index, value in enumerate(given):
            place = kept.placed.places[index]
            if value is None or place is None:
                continue
            yield _verdict(place, RATED, kept.observers[who], _concluded(ratings, who, index, value, problems))


def _concluded(ratings: Ratings, who: str, index: int, value: float, problems: list[Flaw]) -> Conclusion:
    columns, row = ratings.columns[who], ratings.said[who][index]
    assert row is not None, who
    is_word = len(columns) == 1 and bool(_WHETHER.fullmatch(column_key(columns[0])))
    scores = {} if is_word else {"label" if is_label_row(row) else "rating": value}
    if len(columns) > 1:
        scores |= dict(zip(("objects", "relations"), (as_number(row[name]) or 0.0 for name in columns), strict=True))
    word: float | None = value if is_word else None
    if not is_word and who in ratings.people and ratings.yes_or_no:
        word = as_number(row.get(ratings.yes_or_no, ""))
    if word is None:
        return Conclusion(outcome=Outcome.UNDECIDED, scores=scores, reason=_NO_WORD)
    if word not in (0.0, 1.0):
        file, where = ratings.places[index]
        what = f"{who!r} says {word:g} where yes or no is wanted"
        problems.append(Flaw(file=file, where=where, what=what))
        return Conclusion(outcome=Outcome.UNDECIDED, scores=scores, reason=what)
    return Conclusion(outcome=Outcome.FAIL if word else Outcome.PASS, scores=scores)


def _verdict(place: Place, check: str, observer: str, conclusion: Conclusion) -> Verdict:
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
