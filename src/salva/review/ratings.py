"""Ratings by people and scores by judges, from whatever table somebody keeps them in.

Rows come in (rating_files.py reads them): one a rated thing with a column a rater (wide), or one a rating with a
column that names the rater (long). Which column is which is found by its name and can always be said. Rows that
cannot be used are named and counted, never dropped in silence.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from salva.core.counted import counted
from salva.core.exchange import Flaw
from salva.errors import UsageError
from salva.files.tables import by_kind
from salva.review.rating_cells import (
    Place,
    Problems,
    column_key,
    is_numeric,
    no_numbers,
    parts,
    rating_columns,
    silence,
)
from salva.review.rating_files import Row, column_names, read_rows

_PERSON = re.compile(
    r"(^|_)(human|person|people|rater|annotator|annotation|annot|ann|worker|expert|likert|user|subject|participant"
    r"|evaluator|labell?er|coder|reviewer|assessor|turker|crowd|volunteer|mos)s?(\d|_|$)"
)
_AVERAGE = re.compile(r"(avg|average|mean|majority|median|mos)")
_NO_RATING = re.compile(r"(^|_)(std|stdev|sd|var|variance|sem|count|n|num)(_|$)")
"""What is said about people's ratings and is none."""
ANYBODY = r"(rater|annotator|worker|user|coder|evaluator|labell?er|reviewer|assessor|participant)"
_RATER = re.compile(rf"{ANYBODY}(_?id|_?name)?")
THING = re.compile(r"(item|case|sample|image|text|picture|pair|unit|key|thing|task|example)?_?(id|no|number)?|name")
_MODEL = r"(t2i|img|image|generator|generation)?_?(model|system|generator)(_?(type|name|id))?"
MODEL = re.compile(_MODEL)
_MORE_OF_THING = re.compile(
    rf"{_MODEL}|repeat|seed|(text|image)_role"
    r"|prompt(_?id)?|text|caption|q(uestion)?(_?id)?|(image|file)(_?(path|name))?|dimension|aspect|category"
)
ROLE_COLUMNS = ("text_role", "image_role")
"""Which text was held against which picture of a triple."""
YES_OR_NO = ("failed", "is_fail", "outcome")
"""Columns in which a rater says whether a check broke."""
_VALUE = (
    "total",
    "score",
    "rating",
    "value",
    "label",
    "answer",
    "human_score",
    "overall",
    "total_score",
    "overall_score",
    *YES_OR_NO,
)
_NO_SCORE = re.compile(r"(^|_)(id|index|seed|repeat|row|no|number|time|timestamp|date|duration|year|age|chance)$")
_MOST_WORDS = 10
"""A column of more different words than this is no rating in words but a remark."""
_MAX_SHOWN = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """Which column is what; empty leaves it to the names."""

    things: tuple[str, ...] = ()
    """The columns that together name a rated thing."""
    rater: str = ""
    people: tuple[str, ...] = ()
    judges: tuple[str, ...] = ()
    """Columns; or, one row a rating, names in the column of raters."""
    group: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """A table as it was read: one file, or several under one heading."""

    name: str
    rows: list[Row]
    places: tuple[Place, ...]
    """File and line of each row."""

    @property
    def columns(self) -> list[str]:
        """Every column that occurs, in order."""
        return column_names(self.rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratings:
    """Ratings of the same things by people and by judges; None where somebody was silent."""

    things: tuple[str, ...]
    people: Mapping[str, Sequence[float | None]]
    judges: Mapping[str, Sequence[float | None]]
    groups: tuple[str, ...]
    """The group of each thing; all empty without one."""
    flaws: tuple[Flaw, ...] = ()
    """Everything that could not be used."""
    taken_for: Mapping[str, str] = field(default_factory=dict)
    """Which columns were taken for what, for the reader to check."""
    named_by: tuple[str, ...] = ()
    """The columns that name a thing; none where the number of its row does."""
    rows: tuple[Row, ...] = ()
    """The first row about each thing."""
    said: Mapping[str, Sequence[Row | None]] = field(default_factory=dict)
    """The row that each rating of a person or judge stands in."""
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The columns that make up the rating of a person or judge: one, or objects and relations."""
    places: tuple[Place, ...] = ()
    """File and line of each of `rows`."""
    yes_or_no: str = ""
    """One row a rating: the column in which raters also say whether a check broke; empty without one."""

    @property
    def problems(self) -> tuple[str, ...]:
        """The flaws in sentences, by kind where they are many."""
        return tuple(by_kind(self.flaws))

    def people_mean(self) -> list[float | None]:
        """The mean rating of each thing over those who rated it."""
        columns = list(self.people.values())
        means: list[float | None] = []
        for row in zip(*columns, strict=True) if columns else [()] * len(self.things):
            given = [value for value in row if value is not None]
            means.append(sum(given) / len(given) if given else None)
        return means


def read_sheet(path: Path, name: str = "") -> Sheet:
    """A file as a table; name: what to call it in messages, its path unless given."""
    name, rows = name or str(path), read_rows(path)
    return Sheet(name=name, rows=[row.cells for row in rows], places=tuple((name, row.where) for row in rows))


def ratings_of(sheet: Sheet, wanted: Columns) -> Ratings:
    """The ratings in one table."""
    rater, names = rater_column(sheet, wanted), sheet.columns
    raters = {row.get(rater, "").strip() for row in sheet.rows} if rater else set()
    for name in (*wanted.things, *wanted.people, *wanted.judges, wanted.rater, wanted.group):
        if name and name not in names and not (name in raters and name in wanted.judges):
            also = f", and {rater!r} no such name" if rater and name in wanted.judges else ""
            raise UsageError(f"{sheet.name!r} has no column {name!r}{also}; it has {', '.join(names)}")
    return long_ratings(sheet, wanted, rater) if rater else _wide(sheet, wanted)


def holds_people(sheet: Sheet, wanted: Columns) -> bool:
    """Whether a table has people's ratings, and not judges' scores alone."""
    names = sheet.columns
    if wanted.rater in names or rater_column(sheet, wanted):
        return True
    if wanted.people:
        return any(name in names for name in wanted.people)
    return any(_rates(name) and is_numeric(sheet.rows, name) for name in names)


def _wide(sheet: Sheet, wanted: Columns) -> Ratings:
    rows, names = sheet.rows, sheet.columns
    things = wanted.things or tuple(name for name in names if THING.fullmatch(column_key(name)))[:1]
    taken = {*things, wanted.group}
    free = [name for name in names if name not in taken]
    numeric = parts(name for name in free if is_numeric(rows, name))
    people = parts(wanted.people) if wanted.people else _raters({k: v for k, v in numeric.items() if _rates(k)})
    judges = (
        parts(wanted.judges)
        if wanted.judges
        else {k: v for k, v in numeric.items() if k not in people and not _is_person(k) and is_score(k)}
    )
    if not people:
        raise UsageError(
            f"{sheet.name!r}: no column of people's ratings among {', '.join(names)} (the first line is the heading); "
            "name them with --people, and give ratings and scores in two files with --ratings"
        )
    problems = Problems(sheet.name, sheet.places)
    for name in free:
        n_words = len({row.get(name, "") for row in rows})
        if _rates(name) and not wanted.people and not is_numeric(rows, name) and n_words <= _MOST_WORDS:
            problems.add(
                f"column {name!r} may be people's ratings, but {no_numbers(rows, name)}; it is left out "
                f"(--people {name} takes what numbers it has)"
            )
    table = {
        name: [problems.rating(row, columns, index) for index, row in enumerate(rows)]
        for name, columns in {**people, **judges}.items()
    }
    return Ratings(
        things=tuple(_thing(row, things, index) for index, row in enumerate(rows)),
        people={name: table[name] for name in people},
        judges={name: table[name] for name in judges},
        groups=tuple(row.get(wanted.group, "") for row in rows),
        flaws=tuple(problems.flaws),
        taken_for={"things": " + ".join(things) or "rows", "people": ", ".join(people), "judges": ", ".join(judges)},
        named_by=things,
        rows=tuple(rows),
        said=dict.fromkeys(table, rows),
        columns={**people, **judges},
        places=sheet.places,
    )


def long_ratings(sheet: Sheet, wanted: Columns, rater: str) -> Ratings:
    """The ratings in a table of one row a rating; rater: the column that says whose it is."""
    rows, names = sheet.rows, sheet.columns
    values = wanted.people or _value_columns(sheet, rater)
    things = wanted.things or _thing_columns(sheet, (rater, *values), wanted.group)
    taken = {*things, rater, *values, wanted.group}
    columns = tuple(name for name in wanted.judges if name in names)
    if not wanted.judges:
        free = [name for name in names if name not in taken and column_key(name) not in YES_OR_NO]
        columns = tuple(name for name in free if is_numeric(rows, name) and is_score(name))
    scorers = [name for name in wanted.judges if name not in names]
    problems = Problems(sheet.name, sheet.places)
    order: dict[str, int] = {}
    rated: dict[str, _Said] = {name: {} for name in scorers}
    scored: dict[str, _Said] = {name: {} for name in parts(columns)}
    groups: dict[str, str] = {}
    for index, row in enumerate(rows):
        thing = _thing(row, things, index)
        order.setdefault(thing, index)
        groups.setdefault(thing, row.get(wanted.group, ""))
        rating = problems.rating(row, values, index)
        who = row.get(rater, "").strip() or "?"
        mine = rated.setdefault(who, {})
        if rating is not None and thing in mine:
            problems.add(f"{who!r} rated {thing!r} twice; the first rating stands", index)
        elif rating is not None:
            mine[thing] = rating, row
        for name, parted in parts(columns).items():
            score = problems.rating(row, parted, index)
            if score is not None and scored[name].setdefault(thing, (score, row))[0] != score:
                problems.add(f"{name!r} gives {thing!r} another score than before; the first stands", index)
    people = {who: mine for who, mine in rated.items() if who not in scorers and mine}
    if not people:
        raise UsageError(f"{sheet.name!r} has no rating in {' + '.join(values)}: {silence(rows, values)}")
    judges = scored | {name: rated[name] for name in scorers}
    shown = ", ".join(list(people)[:_MAX_SHOWN]) + (", ..." if len(people) > _MAX_SHOWN else "")
    everyone = {**judges, **people}
    return Ratings(
        things=tuple(order),
        people={name: _column(mine, order) for name, mine in people.items()},
        judges={name: _column(given, order) for name, given in judges.items()},
        groups=tuple(groups[thing] for thing in order),
        flaws=tuple(problems.flaws),
        taken_for={
            "things": " + ".join(things),
            "people": f"{counted(len(people), 'raters')} in {rater} ({shown}), rating {' + '.join(values)}",
            "judges": ", ".join(judges),
        },
        named_by=things,
        rows=tuple(rows[index] for index in order.values()),
        said={who: [mine[thing][1] if thing in mine else None for thing in order] for who, mine in everyone.items()},
        columns={**parts(columns), **dict.fromkeys((*people, *scorers), tuple(values))},
        places=tuple(sheet.places[index] for index in order.values()),
        yes_or_no=next((name for name in names if column_key(name) in YES_OR_NO), ""),
    )


_Said = dict[str, tuple[float, Row]]
"""Thing to its rating by somebody, and the row that says so."""


def _column(said: _Said, things: Mapping[str, int]) -> list[float | None]:
    return [said[thing][0] if thing in said else None for thing in things]


def rater_column(sheet: Sheet, wanted: Columns, words: re.Pattern[str] = _RATER) -> str:
    """The column that names who rated; empty where every row is a thing."""
    if wanted.rater:
        return wanted.rater
    spoken_for = {*wanted.things, *wanted.people, *wanted.judges, wanted.group}
    return next((name for name in sheet.columns if name not in spoken_for and words.fullmatch(column_key(name))), "")


def _is_person(name: str) -> bool:
    return bool(_PERSON.search(column_key(name)))


def _rates(name: str) -> bool:
    return _is_person(name) and is_score(name) and not _NO_RATING.search(column_key(name))


def is_score(name: str) -> bool:
    """Whether a column of numbers may hold scores; ids, seeds and times do not."""
    return not _NO_SCORE.search(column_key(name))


def names_things(name: str) -> bool:
    """Whether a column says which thing a row is about."""
    return bool(THING.fullmatch(column_key(name)) or _MORE_OF_THING.fullmatch(column_key(name)))


def _thing_columns(sheet: Sheet, taken: tuple[str, ...], group: str) -> tuple[str, ...]:
    """The columns that name a rated thing: its id, and what else is needed for nobody to rate one thing twice."""
    rows, free = sheet.rows, [name for name in sheet.columns if name not in taken]
    # A role is part of what was rated even where text and picture are enough to tell two things apart.
    things = [name for name in free if THING.fullmatch(column_key(name)) or column_key(name) in ROLE_COLUMNS]

    def n_ratings(columns: Sequence[str]) -> int:
        return len({tuple(row.get(name, "") for name in (taken[0], *columns)) for row in rows})

    for name in free:
        if n_ratings(things) == len(rows):
            break
        is_more = name not in things and (name == group or _MORE_OF_THING.fullmatch(column_key(name)))
        if is_more and n_ratings([*things, name]) > n_ratings(things):
            things.append(name)
    if not things:
        raise UsageError(f"{sheet.name!r}: no column names the rated thing; say which with --item")
    return tuple(things)


def _raters(named: dict[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """Single raters where there are any; their average, which is no further person, only without them."""
    single = {name: columns for name, columns in named.items() if not _AVERAGE.search(column_key(name))}
    return single or named


def _value_columns(sheet: Sheet, rater: str) -> tuple[str, ...]:
    free = [name for name in sheet.columns if name != rater]
    if pair := rating_columns(free):
        return pair
    column = next((name for value in _VALUE for name in free if column_key(name) == value), None)
    if column is None:
        raise UsageError(
            f"{sheet.name!r}: no column of ratings among {', '.join(sheet.columns)}; name it with --people"
        )
    return (column,)


def _thing(row: Row, things: tuple[str, ...], index: int) -> str:
    return " / ".join(row.get(name, "").strip() for name in things) if things else str(index + 1)
