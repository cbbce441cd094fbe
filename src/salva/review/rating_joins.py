"""Ratings that lie in several files, put together: one copy a rater, or people's ratings here and judges' scores there.

Files come in, one Ratings goes out. Copies with a row a rating go under one heading; everything else is joined by the
columns that name the rated thing, and what does not fit together is named.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from salva.core.exchange import Flaw
from salva.errors import UsageError
from salva.review.rating_cells import Place, is_numeric
from salva.review.rating_files import Row
from salva.review.ratings import (
    ANYBODY,
    Columns,
    Ratings,
    Sheet,
    holds_people,
    is_score,
    long_ratings,
    names_things,
    rater_column,
    ratings_of,
    read_sheet,
)
from salva.review.raw_answers import scored

_SCORER = re.compile(rf"{ANYBODY}(_?id|_?name)?|judge|metric|scorer|judge_name|metric_name")


def read_ratings(
    path: Path, columns: Columns | None = None, scores: Path | None = None, questions: Path | None = None
) -> Ratings:
    """The ratings in a file, and the scores of judges in it or in another file about the same things.

    The other file may hold raw answers; questions: the file that says which questions depend on which.
    """
    wanted = columns or Columns()
    if scores is None:
        return ratings_of(read_sheet(path), wanted)
    flaws: list[Flaw] = []
    answers = scored(read_sheet(scores), read_sheet(questions) if questions else None, flaws)
    ratings = _with_scores([read_sheet(path)], [answers], wanted)
    return replace(ratings, flaws=(*flaws, *ratings.flaws))


def read_together(paths: Sequence[Path], columns: Columns, names: Sequence[str] = ()) -> Ratings:
    """The ratings in any number of files; names: what to call the files in messages."""
    sheets = [read_sheet(path, name) for path, name in zip(paths, names or map(str, paths), strict=True)]
    if len(sheets) == 1:
        return ratings_of(sheets[0], columns)
    people, scores = list[Sheet](), list[Sheet]()
    for sheet in sheets:
        (people if holds_people(sheet, columns) else scores).append(sheet)
    if not people:
        raise UsageError(
            f"no people's ratings in {', '.join(sheet.name for sheet in sheets)}: no column names a rater, and none "
            "is called after people; say which with --rater or --people"
        )
    return _with_scores(people, scores, columns) if scores else _of_people(people, columns)


def _with_scores(people: Sequence[Sheet], scores: Sequence[Sheet], wanted: Columns) -> Ratings:
    wanted = replace(wanted, things=_shared_things([*people, *scores], wanted))
    own = tuple(dict.fromkeys(name for sheet in people for name in _known(wanted, sheet)))
    ratings = _of_people(people, replace(wanted, judges=own))
    for sheet in scores:
        # All of them where the file knows none, so that it is the file that is said to lack them.
        judges = _known(wanted, sheet) or wanted.judges
        about = replace(wanted, judges=judges, people=(), rater="", group="")
        ratings = _joined(ratings, _scores_of(sheet, about), sheet.name, people[0].name)
    return ratings


def _of_people(sheets: Sequence[Sheet], wanted: Columns) -> Ratings:
    """People's ratings of one or more tables of the same shape."""
    if len(sheets) == 1:
        return ratings_of(sheets[0], wanted)
    raters = [rater_column(sheet, wanted) for sheet in sheets]
    if not any(raters):
        wanted = replace(wanted, things=_shared_things(sheets, wanted))
        of_each = [replace(wanted, judges=_known(wanted, sheet)) for sheet in sheets]
        if missing := set(wanted.judges).difference(*(own.judges for own in of_each)):
            raise UsageError(f"none of {', '.join(sheet.name for sheet in sheets)} has a column {missing.pop()!r}")
        read = _own_names([ratings_of(sheet, own) for sheet, own in zip(sheets, of_each, strict=True)], sheets)
        ratings, *others = (_each_once(own, sheet.name) for own, sheet in zip(read, sheets, strict=True))
        for other in others:
            ratings = _merged(ratings, other)
        return ratings
    if len(set(raters)) > 1:
        named = ", ".join(f"{sheet.name} by {rater or 'columns'}" for sheet, rater in zip(sheets, raters, strict=True))
        raise UsageError(f"the files do not name their raters alike: {named}; give all of them the same heading")
    whole = _under_one_heading(sheets, raters[0])
    ratings = ratings_of(whole, wanted)
    used = {id(row) for rows in ratings.said.values() for row in rows if row is not None}
    counted = Counter(file for (file, _), row in zip(whole.places, whole.rows, strict=True) if id(row) in used)
    unused = "no rating in it counts: no cell is filled in with one, or all of them stand in another file too"
    silent = [Flaw(file=sheet.name, what=unused) for sheet in sheets if not counted[sheet.name]]
    return replace(ratings, flaws=(*ratings.flaws, *silent))


def _own_names(read: list[Ratings], sheets: Sequence[Sheet]) -> list[Ratings]:
    """Copies with one column of ratings, filled in for the same things, are several people's: one a file, named so."""
    whose = {tuple(ratings.people) for ratings in read}
    rated = [
        thing
        for ratings in read
        for given in ratings.people.values()
        for thing, value in zip(ratings.things, given, strict=True)
        if value is not None
    ]
    if len(whose) > 1 or len(read[0].people) > 1 or len(set(rated)) == len(rated):
        return read
    named = []
    for ratings, sheet in zip(read, sheets, strict=True):
        ((old, given),) = ratings.people.items()
        new = Path(sheet.name).stem
        said = {new if who == old else who: rows for who, rows in ratings.said.items()}
        columns = {new if who == old else who: names for who, names in ratings.columns.items()}
        named.append(replace(ratings, people={new: given}, said=said, columns=columns))
    return named


def _under_one_heading(sheets: Sequence[Sheet], rater: str) -> Sheet:
    """The rows of all copies; who forgot to write a name is called after the file, since a copy is one person's."""
    rows: list[Row] = []
    places: list[Place] = []
    for sheet in sheets:
        rows += [row if row.get(rater, "").strip() else {**row, rater: Path(sheet.name).stem} for row in sheet.rows]
        places += sheet.places
    return Sheet(name=", ".join(sheet.name for sheet in sheets), rows=rows, places=tuple(places))


def _shared_things(sheets: Sequence[Sheet], wanted: Columns) -> tuple[str, ...]:
    """The columns that name the rated thing in every table."""
    headings = [sheet.columns for sheet in sheets]
    things = wanted.things or tuple(
        name for name in headings[0] if names_things(name) and all(name in heading for heading in headings)
    )
    if not things:
        listed = " and of ".join(
            f"{sheet.name!r} ({', '.join(heading)})" for sheet, heading in zip(sheets, headings, strict=True)
        )
        raise UsageError(
            f"no column of {listed} names the rated thing in both; give one the same name in both files, and say which "
            "with --item"
        )
    return things


def _known(wanted: Columns, sheet: Sheet) -> tuple[str, ...]:
    """The judges asked for that a table knows, as columns or among its raters."""
    rater = rater_column(sheet, Columns(rater=wanted.rater if wanted.rater in sheet.columns else ""), _SCORER)
    raters = {row.get(rater, "").strip() for row in sheet.rows} if rater else set()
    return tuple(name for name in wanted.judges if name in sheet.columns or name in raters)


def _scores_of(sheet: Sheet, wanted: Columns) -> Ratings:
    """Judges' scores in a file of their own: a column a judge, or a row a score with a column that names the judge."""
    scorer = rater_column(sheet, wanted, _SCORER)
    if scorer:
        kept = _of_judges(sheet, scorer, wanted.judges)
        if not kept.rows:
            raise UsageError(f"{sheet.name!r}: {scorer!r} never says {' or '.join(wanted.judges)}")
        return _each_once(long_ratings(kept, replace(wanted, judges=()), scorer), sheet.name)
    chosen = wanted.judges or tuple(
        name for name in sheet.columns if name not in wanted.things and is_numeric(sheet.rows, name) and is_score(name)
    )
    if not chosen:
        here = ", ".join(sheet.columns)
        raise UsageError(f"{sheet.name!r}: no column of scores among {here}; name it with --judge")
    return _each_once(ratings_of(sheet, replace(wanted, people=chosen, judges=())), sheet.name)


def _of_judges(sheet: Sheet, scorer: str, judges: Sequence[str]) -> Sheet:
    """The rows of a table that hold scores of these judges, of all where none is named."""
    pairs = zip(sheet.rows, sheet.places, strict=True)
    chosen = [(row, place) for row, place in pairs if not judges or row.get(scorer, "").strip() in judges]
    return replace(sheet, rows=[row for row, _ in chosen], places=tuple(place for _, place in chosen))


def _each_once(ratings: Ratings, name: str) -> Ratings:
    thing, n_rows = Counter(ratings.things).most_common(1)[0]
    if n_rows > 1:
        raise UsageError(f"{name!r} has {n_rows} rows for {thing!r}; say with --item which columns name one thing")
    return ratings


def _joined(people: Ratings, scores: Ratings, name: str, whose: str) -> Ratings:
    """People's ratings with the scores that judges gave the same things."""
    index_of = dict(zip(scores.things, range(len(scores.things)), strict=True))
    n_silent = sum(thing not in index_of for thing in people.things)
    if n_silent == len(people.things):
        raise UsageError(
            f"{whose!r} and {name!r} have no rated thing in common by {' + '.join(people.named_by)}: "
            f"{people.things[0]!r} is in one, {scores.things[0]!r} in the other; say with --item what names one"
        )
    missed = Flaw(file=name, what=f"no score for {n_silent} of {len(people.things)} rated things")
    where = [index_of.get(thing) for thing in people.things]
    judges = {who: [None if index is None else given[index] for index in where] for who, given in scores.people.items()}
    said = {who: [None if index is None else scores.said[who][index] for index in where] for who in scores.people}
    everyone = {**people.judges, **judges}
    return replace(
        people,
        judges=everyone,
        flaws=(*people.flaws, *scores.flaws, *((missed,) if n_silent else ())),
        taken_for={**people.taken_for, "judges": ", ".join(everyone)},
        said={**people.said, **said},
        columns={**people.columns, **scores.columns},
    )


def _merged(one: Ratings, other: Ratings) -> Ratings:
    """Two tables of a row a thing as one; where both have a rating by somebody, the first stands."""
    flaws = [*one.flaws, *other.flaws]
    things = tuple(dict.fromkeys((*one.things, *other.things)))
    mine, theirs = ({thing: index for index, thing in enumerate(of.things)} for of in (one, other))

    def put(who: str, first: Mapping[str, Sequence[float | None]], then: Mapping[str, Sequence[float | None]]) -> None:
        for thing in things:
            a = first[who][mine[thing]] if who in first and thing in mine else None
            b = then[who][theirs[thing]] if who in then and thing in theirs else None
            if a is not None and b is not None and a != b:
                what = f"{who!r} rated {thing!r} {b:g}, and {a:g} in another file; the first rating stands"
                file, where = other.places[theirs[thing]]
                flaws.append(Flaw(file=file, where=where, what=what))
            values[who].append(b if a is None else a)
            row = other.said[who][theirs[thing]] if b is not None else None
            said[who].append(row if a is None else one.said[who][mine[thing]])

    people, judges = ((*dict.fromkeys((*a, *b)),) for a, b in ((one.people, other.people), (one.judges, other.judges)))
    values: dict[str, list[float | None]] = {who: [] for who in (*people, *judges)}
    said: dict[str, list[Row | None]] = {who: [] for who in values}
    for who in people:
        put(who, one.people, other.people)
    for who in judges:
        put(who, one.judges, other.judges)
    taken_for = {"things": one.taken_for["things"], "people": ", ".join(people), "judges": ", ".join(judges)}
    groups = {**dict(zip(other.things, other.groups, strict=True)), **dict(zip(one.things, one.groups, strict=True))}
    return Ratings(
        things=things,
        people={who: values[who] for who in people},
        judges={who: values[who] for who in judges},
        groups=tuple(groups[thing] for thing in things),
        flaws=tuple(flaws),
        taken_for=taken_for,
        named_by=one.named_by,
        rows=tuple(one.rows[mine[t]] if t in mine else other.rows[theirs[t]] for t in things),
        said=said,
        columns={**other.columns, **one.columns},
        places=tuple(one.places[mine[t]] if t in mine else other.places[theirs[t]] for t in things),
    )
