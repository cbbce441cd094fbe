"""DSG's raw answers to yes-or-no questions as scores of images.

A row an answer comes in, a row an image goes out. A question holds where it is answered with yes and all questions it
depends on hold. An answer that is neither yes nor no leaves its image without a score.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from salva.core.exchange import Flaw
from salva.errors import UsageError
from salva.messages import message
from salva.review.cells import FileRow, as_number

_ITEM = ("item_id", "t2i_model")
_NUMBER = ("question_id", "proposition_id")
"""What numbers the questions of a text."""
_PARENTS = ("dependency_id", "dependency")
"""What names the questions that one depends on."""
_ANSWER = "answer"
_JUDGE = "dsg"

Question = tuple[str, str]
"""The text's id, and the number of the question."""


def is_raw(header: Collection[str]) -> bool:
    """Whether each row of a file is an answer to a question."""
    return _ITEM[0] in header and _ANSWER in header and bool({*_NUMBER} & {*header})


def is_question_file(header: Collection[str]) -> bool:
    """Whether a file says which questions depend on which, and has no answers."""
    is_numbered = bool({*_NUMBER} & {*header}) and bool({*_PARENTS} & {*header})
    return _ITEM[0] in header and is_numbered and _ANSWER not in header


def scored_rows(
    lines: Sequence[FileRow], questions: Sequence[FileRow], judges: Sequence[str]
) -> tuple[list[FileRow], list[Flaw]]:
    """A row an image with a score for every judge, and what could not be used.

    questions: the rows of a question file, for answers without a column of dependencies; judges: further columns of
    answers.
    """
    header = lines[0].cells
    columns = {_JUDGE: _ANSWER} | {name: name for name in judges if name in header and name != _ANSWER}
    flaws: list[Flaw] = []
    parents = _parents(questions or lines)
    answers: dict[tuple[tuple[str, ...], str], dict[str, bool | None]] = {}
    first: dict[tuple[str, ...], FileRow] = {}
    for line in lines:
        image = tuple(line.cell(name) for name in _ITEM if name in header)
        first.setdefault(image, line)
        for judge, column in columns.items():
            number = as_number(line.cell(column))
            value = None if number not in (0, 1) else number == 1
            if value is None and line.cell(column):
                flaws.append(
                    line.flaw(f"{column} is {line.cell(column)!r}, neither yes nor no: the image has no score")
                )
            asked = answers.setdefault((image, judge), {})
            if asked.setdefault(_number(line), value) != value:
                asked[_number(line)] = None
                flaws.append(line.flaw(f"question {_number(line)!r} has two answers: the image has no score"))
    rows = []
    for image, line in first.items():
        shares = {judge: _share(image[0], answers[image, judge], parents) for judge in columns}
        scores = {judge: "" if share is None else f"{share:.12g}" for judge, share in shares.items()}
        rows.append(line._replace(cells={**dict(zip(_ITEM, image, strict=False)), **scores}))
    return rows, flaws


def _number(line: FileRow) -> str:
    return next(filter(None, map(line.cell, _NUMBER)), "")


def _parents(lines: Sequence[FileRow]) -> dict[Question, tuple[str, ...]]:
    """By question, those it depends on; a name that is no question of its text is none."""
    column = next((name for name in _PARENTS if name in lines[0].cells), "")
    if not column:
        raise UsageError(message("dependency-missing", path=lines[0].file, header=", ".join(lines[0].cells)))
    return {(line.cell(_ITEM[0]), _number(line)): tuple(re.split(r"[;, ]", line.cell(column))) for line in lines}


def _share(item: str, answers: dict[str, bool | None], parents: dict[Question, tuple[str, ...]]) -> float | None:
    """The share of questions that hold; None where one has no answer."""
    if any(answer is None for answer in answers.values()):
        return None

    def holds(number: str, below: frozenset[str]) -> bool:
        # A dependency on a question that was not asked, or in a circle, settles nothing.
        needed = [name for name in parents.get((item, number), ()) if name in answers and name not in below]
        return bool(answers[number]) and all(holds(name, below | {number}) for name in needed)

    return sum(holds(number, frozenset((number,))) for number in answers) / len(answers)
