"""Columns of a rating file: by its documented name, or by a flag that names it.

The heading of a file and the flags come in, a layout goes out. Nothing is guessed: what the names and flags do not
settle is an error that shows the heading and the flag to give.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from salva.core.score_rubric import HALVES, HIGHEST
from salva.errors import UsageError
from salva.messages import message

ITEM = ("case_id", "id", "prompt")
"""What names a rated item: the first of these that a file has."""
PART_OF_ITEM = ("repeat", "seed", "model", "text_role", "image_role", "question")
"""What says which image, text or question of it was rated; all that a file has."""
PEOPLE, JUDGE = "rater", "judge"
"""The column that names the person or judge of a row."""
HALF_COLUMNS = tuple(half.key for half in HALVES)
FAILED, SAMPLE = "failed", "sample"
"""What a reviewer says of a result: yes, no or cannot tell; and how the result was drawn."""
RATING, LABEL = "rating", "label"
"""Measures: an ordinary rating, and the yes or no to a whole image on a sheet by question."""
_DSG = ("item_id", "t2i_model", "worker_id", "answer")
"""The columns of DSG's ratings by people."""
_DSG_SCORE = "dsg"
"""The column that scored answers have."""
_SCORES = ("score", "rating")
_WANTED = f"{_SCORES[0]}, {' and '.join(HALF_COLUMNS)}, or {FAILED}"


Scale = tuple[float, float]
"""The lowest and highest number that can be given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """The columns that flags name; empty for the documented names. A + joins columns whose sum is one rating."""

    item: tuple[str, ...] = ()
    """The columns that together name a rated item."""
    rater: str = ""
    people: tuple[str, ...] = ()
    """Columns of ratings: a column a person or, with a rater, the column of the ratings."""
    judges: tuple[str, ...] = ()
    """Columns of scores, or names in the column of raters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """What the columns of one file are."""

    item: tuple[str, ...]
    rater: str
    """The column that names who rated; empty where columns do, or the file."""
    are_judges: bool
    """Whether those named there are judges."""
    measures: Mapping[str, tuple[str, ...]]
    """What a row rates: measure to columns, for the rater of the row."""
    people: Mapping[str, tuple[str, ...]]
    """Person to columns, in a file with a column a person."""
    judges: Mapping[str, tuple[str, ...]]
    """Judge to columns."""
    limits: Mapping[tuple[str, ...], Scale]
    """From where to where each number in some columns goes, where that is documented."""


def layout_of(path: str, header: Sequence[str], columns: Columns, scores: Collection[str] = ()) -> Layout:
    """The layout of a file; scores: names of scores that are known besides the documented ones."""
    is_dsg = _DSG[0] in header
    people = _named(columns.people, header)
    judges = _named((*columns.judges, *((_DSG_SCORE,) if is_dsg and _DSG_SCORE in header else ())), header)
    named = {name for columns_of in (*people.values(), *judges.values()) for name in columns_of}
    item = _item(path, header, columns.item, is_dsg)
    rater = _rater(path, [name for name in header if name not in named], columns.rater)
    measures: dict[str, tuple[str, ...]] = {}
    limits: dict[tuple[str, ...], Scale] = {(_DSG_SCORE,): (0, 1)} if is_dsg else {}
    if people and rater:
        is_one = len(people) == 1
        measures = {RATING if is_one and not _is_measure(name, scores) else name: of for name, of in people.items()}
        people = {}
    elif not columns.people:
        measures = _documented(path, [name for name in header if name not in named], scores, is_dsg)
        limits |= _limits(measures, header)
    if not (people or judges or measures):
        raise column_missing(path, (*columns.people, _WANTED)[0], header, "--people")
    return Layout(
        item=item,
        rater=rater,
        are_judges=rater == JUDGE,
        measures=measures,
        people=people,
        judges=judges,
        limits=limits,
    )


def column_missing(path: str, column: str, header: Sequence[str], flag: str) -> UsageError:
    """The error for a column that a file lacks, with the flag that names another."""
    return UsageError(message("column-missing", path=path, column=column, header=", ".join(header), flag=flag))


def _item(path: str, header: Sequence[str], wanted: Sequence[str], is_dsg: bool) -> tuple[str, ...]:
    for name in wanted:
        if name not in header:
            raise column_missing(path, name, header, "--item")
    if wanted or is_dsg:
        return (*wanted,) or tuple(name for name in _DSG[:2] if name in header)
    names = [name for name in ITEM if name in header][:1]
    if not names:
        raise column_missing(path, ", ".join(ITEM[:-1]) + f" or {ITEM[-1]}", header, "--item")
    return (*names, *(name for name in PART_OF_ITEM if name in header))


def _rater(path: str, free: Sequence[str], wanted: str) -> str:
    if wanted:
        return wanted if wanted in free else ""
    found = [name for name in (PEOPLE, JUDGE, _DSG[2]) if name in free]
    if len(found) > 1:
        raise _ambiguous(path, "the rater", found, "--rater")
    return found[0] if found else ""


def _documented(path: str, free: Sequence[str], scores: Collection[str], is_dsg: bool) -> dict[str, tuple[str, ...]]:
    candidates = [HALF_COLUMNS] if {*HALF_COLUMNS} <= {*free} else []
    candidates += [(name,) for name in _SCORES if name in free]
    candidates += [_DSG[3:]] if is_dsg and _DSG[3] in free else []
    if len(candidates) > 1:
        raise _ambiguous(path, "the rating", ["+".join(names) for names in candidates], "--people")
    measures = {RATING: candidates[0]} if candidates else {}
    return measures | {name: (name,) for name in free if _is_measure(name, scores) and (name,) not in candidates}


def _limits(measures: Mapping[str, tuple[str, ...]], header: Collection[str]) -> dict[tuple[str, ...], Scale]:
    limits: dict[tuple[str, ...], Scale] = {HALF_COLUMNS: (0, HIGHEST), _DSG[3:]: (1, 5)}
    if {"question", "image_role"} <= {*header}:
        limits[_SCORES[:1]] = 0, 1
    return limits | {of: (0.0, 1.0) for name, of in measures.items() if _is_measure(name, ())}


def _is_measure(name: str, scores: Collection[str]) -> bool:
    return name == FAILED or name.startswith(("passes_", "s_")) or name in scores


def _named(wanted: Sequence[str], header: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Those that a heading has, with their columns."""
    columns = {name: (name,) if name in header else tuple(name.split("+")) for name in wanted}
    return {name: parts for name, parts in columns.items() if {*parts} <= {*header}}


def _ambiguous(path: str, what: str, columns: Sequence[str], flag: str) -> UsageError:
    return UsageError(message("column-ambiguous", path=path, what=what, columns=", ".join(columns), flag=flag))
