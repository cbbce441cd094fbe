"""DSG's raw answers to yes-or-no questions as scores of images.

A row an answer comes in, a row an image goes out, by DSG's own rules: a question holds where it and each question it
depends on are answered with yes, whatever these depend on themselves; any other answer counts as no; an image that
people rated and that has no answer scores 0.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

from salva.core.exchange import Flaw
from salva.errors import UsageError
from salva.messages import message
from salva.review.cells import FileRow, as_number

_ITEM = ("item_id", "t2i_model")
_NUMBER = ("question_id", "proposition_id")
"""What numbers the questions of a text."""
_PARENTS = ("dependency_id", "dependency")
"""What names the questions that one depends on."""
_ANSWER, _RATER, _SPLIT = "answer", "worker_id", "dsg_prompt_split"
_JUDGE = "dsg"

Question = tuple[str, str]
"""The text's id, and the number of the question."""
Image = tuple[str, ...]
"""The text's id, and the model."""


def is_raw(header: Collection[str]) -> bool:
    """Whether each row of a file is an answer to a question."""
    return _ITEM[0] in header and _ANSWER in header and bool({*_NUMBER} & {*header})


def is_rated(header: Collection[str]) -> bool:
    """Whether each row of a file is what a person says of an image."""
    return {_ITEM[0], _RATER, _ANSWER} <= {*header}


def is_question_file(header: Collection[str]) -> bool:
    """Whether a file says which questions depend on which, and has no answers."""
    is_numbered = bool({*_NUMBER} & {*header}) and bool({*_PARENTS} & {*header})
    return _ITEM[0] in header and is_numbered and _ANSWER not in header


def scored_rows(
    lines: Sequence[FileRow], questions: Sequence[FileRow], judges: Sequence[str], rated: Sequence[FileRow] = ()
) -> tuple[list[FileRow], list[Flaw]]:
    """A row an image with a score for every judge, and what was not as it should be.

    questions: the rows of a question file, for answers without a column of dependencies; judges: further columns of
    answers; rated: the rows of people's ratings.
    """
    header = lines[0].cells
    columns = {_JUDGE: _ANSWER} | {name: name for name in judges if name in header and name != _ANSWER}
    flaws: list[Flaw] = []
    parents = _parents(questions if questions and not {*_PARENTS} & {*header} else lines)
    answers: dict[tuple[Image, str], dict[str, bool | None]] = {}
    first: dict[Image, FileRow] = {}
    for line in lines:
        image = _image(line)
        first.setdefault(image, line)
        for judge, column in columns.items():
            number = as_number(line.cell(column))
            if number not in (0, 1):
                flaws.append(line.flaw(f"{column} is {line.cell(column)!r}, neither yes nor no: counted as no"))
            asked = answers.setdefault((image, judge), {})
            if asked.setdefault(_number(line), number == 1) != (number == 1):
                asked[_number(line)] = None
                flaws.append(line.flaw(f"question {_number(line)!r} has two answers: the image has no score"))
    rows = []
    for image, line in first.items():
        shares = {judge: _share(image[0], answers[image, judge], parents) for judge in columns}
        rows.append(_scored(line, image, shares))
    for image, line in _unanswered(lines, rated).items():
        flaws.append(line.flaw(f"no answer about {' / '.join(image)}: it scores 0"))
        rows.append(_scored(line, image, dict.fromkeys(columns, 0.0)))
    return rows, flaws


def _image(line: FileRow) -> Image:
    return tuple(line.cell(name) for name in _ITEM if name in line.cells)


def _scored(line: FileRow, image: Image, shares: Mapping[str, float | None]) -> FileRow:
    scores = {judge: "" if share is None else f"{share:.12g}" for judge, share in shares.items()}
    return line._replace(cells={**dict(zip(_ITEM, image, strict=False)), **scores})


def _unanswered(lines: Sequence[FileRow], rated: Sequence[FileRow]) -> dict[Image, FileRow]:
    """Rated images without an answer, of the models and the parts of DSG that the answers are about."""

    def about(line: FileRow) -> tuple[str, ...]:
        return line.cell(_SPLIT), *_image(line)[1:]

    answered, covered = {_image(line) for line in lines}, {about(line) for line in lines if line.cell(_SPLIT)}
    missing: dict[Image, FileRow] = {}
    for line in rated:
        if about(line) in covered and _image(line) not in answered:
            missing.setdefault(_image(line), line)
    return missing


def _number(line: FileRow) -> str:
    return next(filter(None, map(line.cell, _NUMBER)), "")


def _parents(lines: Sequence[FileRow]) -> dict[Question, tuple[str, ...]]:
    """By question, those it depends on; a name that is no question of its text is none."""
    column = next((name for name in _PARENTS if name in lines[0].cells), "")
    if not column:
        raise UsageError(message("dependency-missing", path=lines[0].file, header=", ".join(lines[0].cells)))
    return {(line.cell(_ITEM[0]), _number(line)): tuple(re.split(r"[;, ]", line.cell(column))) for line in lines}


def _share(item: str, answers: dict[str, bool | None], parents: dict[Question, tuple[str, ...]]) -> float | None:
    """The share of questions that hold; None where one has two answers."""
    if any(answer is None for answer in answers.values()):
        return None
    # A dependency on a question that was not asked settles nothing.
    return sum(
        bool(answer) and all(answers.get(name, True) for name in parents.get((item, number), ()))
        for number, answer in answers.items()
    ) / len(answers)
