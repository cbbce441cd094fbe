"""Raw answers to yes-or-no questions as scores of pictures, one a judge, in DSG's manner.

A sheet with a row an answer comes in, one with a row a picture goes out: the share of its questions that hold. A
question holds where it is answered with yes and all questions it depends on hold. Any other sheet passes unchanged.
A cell that is no answer, or names no question to depend on, is noted and spoils no other row.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from salva.core.exchange import Flaw
from salva.errors import UsageError
from salva.review.rating_cells import column_key
from salva.review.rating_files import Row
from salva.review.ratings import Sheet

QUESTION = ("proposition_id", "question_id", "qid")
"""Columns that number the questions of a text; with them a row is an answer."""
DEPENDENCY = "dependency"
_ITEM = "item_id"
_OF_QUESTION = (
    *("question", "question_natural_language", "tuple", "category", "category_broad", "category_detailed"),
    *("proposition", "expected", "expected_answer", "choices", "source"),
)
_ANSWERS = {"yes": True, "y": True, "true": True, "1": True, "no": False, "n": False, "false": False, "0": False}
_NO_PARENT = ("", "0", "-")
_LEAST_SHARE = 0.9
"""A column with fewer answers among its cells is something else."""


def is_raw(sheet: Sheet) -> bool:
    """Whether each row is an answer to a question."""
    keys = {column_key(name) for name in sheet.columns}
    return _ITEM in keys and bool(keys & set(QUESTION)) and bool(_answer_columns(sheet))


def scored(sheet: Sheet, questions: Sheet | None = None, flaws: list[Flaw] | None = None) -> Sheet:
    """A row a picture with a score for every judge; questions: where dependencies are, if the answers have none.

    flaws: gets the cells that could not be used.
    """
    flaws = [] if flaws is None else flaws
    if not is_raw(sheet):
        return sheet
    names = {column_key(name): name for name in sheet.columns}
    number = next(names[key] for key in QUESTION if key in names)
    judges = _answer_columns(sheet)
    left_out = {number, names.get(DEPENDENCY, ""), *judges}
    kept = [name for key, name in names.items() if name not in left_out and key not in _OF_QUESTION]
    parents = _parents(questions or sheet, flaws)
    pictures: dict[tuple[str, ...], _Picture] = {}
    for row, place in zip(sheet.rows, sheet.places, strict=True):
        thing = tuple(row.get(name, "").strip() for name in kept)
        picture = pictures.setdefault(thing, _Picture(place=place, by_judge={judge: {} for judge in judges}))
        for judge in judges:
            cell = row.get(judge, "").strip().casefold()
            if cell and cell not in _ANSWERS:
                what = f"{judge} is {cell!r}, neither yes nor no; this picture has no score"
                flaws.append(Flaw(file=place[0], where=place[1], what=what))
            asked = picture.by_judge[judge]
            if asked.setdefault(row.get(number, "").strip(), _ANSWERS.get(cell)) != _ANSWERS.get(cell):
                raise UsageError(
                    f"{sheet.name!r}, {place[1]}: question {row.get(number)!r} about {' / '.join(thing)} is answered "
                    "twice, and differently; keep one answer"
                )
    rows: list[Row] = []
    for thing, picture in pictures.items():
        named = dict(zip(kept, thing, strict=True))
        item = named[names[_ITEM]]
        shares = {judge: _share(answers, item, parents) for judge, answers in picture.by_judge.items()}
        scores = {_judge(name): "" if share is None else f"{share:.12g}" for name, share in shares.items()}
        rows.append(named | scores)
    return Sheet(name=sheet.name, rows=rows, places=tuple(picture.place for picture in pictures.values()))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Picture:
    place: tuple[str, str]
    by_judge: Mapping[str, dict[str, bool | None]]
    """By judge and number of the question; None where there is no answer."""


def _judge(column: str) -> str:
    return "dsg" if column_key(column) == "answer" else column


def _answer_columns(sheet: Sheet) -> list[str]:
    """The columns of answers and next to nothing else."""
    found = []
    for name in sheet.columns:
        cells = [cell for row in sheet.rows if (cell := row.get(name, "").strip().casefold())]
        key = column_key(name)
        known = [cell for cell in cells if cell in _ANSWERS and (cell.isalpha() or "answer" in key)]
        if known and len(known) >= _LEAST_SHARE * len(cells) and key not in _OF_QUESTION:
            found.append(name)
    return found


def _parents(sheet: Sheet, flaws: list[Flaw]) -> dict[tuple[str, str], tuple[str, ...]]:
    """By text and question, the questions it depends on; a name that is no other question of its text is none."""
    names = {column_key(name): name for name in sheet.columns}
    number = next((names[key] for key in QUESTION if key in names), "")
    if not number or _ITEM not in names or DEPENDENCY not in names:
        raise UsageError(
            f"{sheet.name!r} does not say which questions depend on which; it needs {_ITEM}, {QUESTION[0]} and "
            f"{DEPENDENCY}, or name DSG's question file with --questions FILE"
        )
    parents: dict[tuple[str, str], tuple[str, ...]] = {}
    places: dict[tuple[str, str], tuple[str, str]] = {}
    for row, place in zip(sheet.rows, sheet.places, strict=True):
        question = row.get(names[_ITEM], "").strip(), row.get(number, "").strip()
        named = row.get(names[DEPENDENCY], "").replace(";", ",").replace(" ", ",").split(",")
        parents[question] = tuple(part for part in named if part not in _NO_PARENT)
        places.setdefault(question, place)
    for (item, own), (file, where) in places.items():
        others = tuple(name for name in parents[item, own] if name != own and (item, name) in parents)
        for name in dict.fromkeys(parents[item, own]):
            if name not in others:
                what = f"parent {name!r} is no other question of {item!r} and is ignored"
                flaws.append(Flaw(file=file, where=where, what=what))
        parents[item, own] = others
    return parents


def _share(
    answers: Mapping[str, bool | None], item: str, parents: Mapping[tuple[str, str], tuple[str, ...]]
) -> float | None:
    """The share of questions that hold; None where one has no answer."""
    if any(answer is None for answer in answers.values()):
        return None

    def holds(number: str, below: frozenset[str]) -> bool:
        # A dependency on a question that was not asked, or in a circle, is the file's slip and settles nothing.
        needed = [name for name in parents.get((item, number), ()) if name in answers and name not in below]
        return bool(answers[number]) and all(holds(name, below | {number}) for name in needed)

    return sum(holds(number, frozenset((number,))) for number in answers) / len(answers)
