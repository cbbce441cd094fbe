"""Sheets by question: a row for each question about a picture, from 0 to 1, and one for yes or no to all of it.

A run's records come in, rows to fill in go out; filled in they come back as answers, and a rater's answers become their
score of the picture by the rule that makes the judge's.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator, Mapping

from salva.core.case import Case, Prompt
from salva.core.question import picture_score
from salva.core.scoring import role_score
from salva.core.source import RunRecords
from salva.core.table import Cell
from salva.core.verdict import PAIR
from salva.errors import UsageError
from salva.review.calibration import Picture, is_doubtful, passes_name, picture_scores
from salva.review.rating_cells import Problems, as_number, is_silent
from salva.review.rating_files import Row

QUESTION_COLUMNS = (
    *("case_id", "repeat", "model", "category", "image_role", "question", "text", "asked", "criteria", "picture"),
    *("rater", "score"),
)
QUESTION_HINT = """Need at each picture and answer every question about it:
rater      your name, the same in all your rows
score      0 to 1, by what stands under criteria; without criteria 1 yes, 0.5 partly, 0 no
The row "label" asks once for the whole picture: 1 or 0, nothing between.
Leave nothing out within a picture: a score takes all of its questions. A picture you skip whole is no harm.
Several raters: each fills in a copy; `salva agree RUN --ratings FILE` wants the rows of all copies under one heading.
"""
_LABEL = "label"
_LABEL_TEXT = "Are the main things that the text asks for recognisable?"
_LABEL_RULE = "1: they are there and recognisable. 0: they are missing or badly distorted."
_DOUBTFUL_SHARE = 0.75
"""How much of a sample is doubtful pictures, as far as there are so many."""


def graded_pictures(records: RunRecords, roles: Collection[str], sample: int) -> dict[Picture, str]:
    """The painted pictures that are graded by questions, in random order, with their images; a sample favours doubt.

    roles: only these, unless empty.
    sample: how many; 0 for all.
    """
    asked = {prompt.role for case in records.cases for prompt in case.prompts if _is_graded(prompt)}
    if (roles or sample) and not asked:
        raise UsageError("no prompt of the run has questions to grade; --roles and --sample choose pictures by them")
    if unknown := sorted({*roles} - asked):
        raise UsageError(f"no picture has the role {unknown[0]!r} and questions; it can be {', '.join(sorted(asked))}")
    cases = {case.case_id: case for case in records.cases}
    images = {
        (verdict.case_id, verdict.repeat, verdict.model, prompt.role): verdict.images[prompt.role]
        for verdict in records.verdicts
        for prompt in cases[verdict.case_id].prompts
        if verdict.arm == PAIR and _is_graded(prompt) and prompt.role in verdict.images
        if not roles or prompt.role in roles
    }
    pictures = sorted(images)
    # Seeded, so that a sheet can be made again.
    random.Random(len(pictures)).shuffle(pictures)
    return {picture: images[picture] for picture in (_sampled(pictures, records, sample) if sample else pictures)}


def _is_graded(prompt: Prompt) -> bool:
    """Whether judges give its pictures a grade for each question; answers that are right or wrong are another thing."""
    return any(not question.answer for question in prompt.questions)


def _sampled(pictures: list[Picture], records: RunRecords, sample: int) -> list[Picture]:
    """As appendix B of CF-World: mostly pictures that a judge was in doubt about, some of the others."""
    scores = picture_scores(records)
    scored = [picture for picture in pictures if picture in scores]
    doubtful = [picture for picture in scored if is_doubtful(scores[picture])]
    clear = [picture for picture in scored if not is_doubtful(scores[picture])]
    n_doubtful = min(len(doubtful), max(round(sample * _DOUBTFUL_SHARE), sample - len(clear)))
    chosen = {*doubtful[:n_doubtful], *clear[: sample - n_doubtful]}
    return [picture for picture in pictures if picture in chosen]


def question_rows(case: Case, role: str) -> Iterator[tuple[Cell, ...]]:
    """What stands in the columns question, text, asked and criteria for each row of a picture."""
    prompt = case.prompt(role)
    for number, question in enumerate(prompt.questions, 1):
        yield number, prompt.text, question.text, question.rule
    yield _LABEL, prompt.text, _LABEL_TEXT, _LABEL_RULE


def is_question_row(row: Row) -> bool:
    """Whether a row answers a question about a picture."""
    return bool(row.get("question", "").strip() and row.get("image_role", "").strip())


def is_label_row(row: Row) -> bool:
    """Whether a row says yes or no to a whole picture, which is of another kind than an answer from 0 to 1."""
    return is_question_row(row) and row["question"].strip() == _LABEL


def question_answer(row: Row, index: int, case: Case, problems: Problems) -> tuple[str, float] | None:
    """What a row of such a sheet says; None for silence, and for what is noted as a problem."""
    role, asked, cell = (row.get(name, "").strip() for name in ("image_role", "question", "score"))
    questions = next((prompt.questions for prompt in case.prompts if prompt.role == role), ())
    numbers = [f"{number}" for number in range(1, len(questions) + 1)]
    if asked not in (*numbers, _LABEL) or not questions:
        can_be = f"1 to {len(questions)} or {_LABEL}" if questions else "nothing: there are none for it"
        problems.add(f"question {asked!r} of {role!r} of {case.case_id!r}; it can be {can_be}", index)
        return None
    if is_silent(cell):
        return None
    value = as_number(cell)
    if value is None or not 0 <= value <= 1:
        problems.add(f"score is {cell!r}; it must be from 0 to 1", index)
        return None
    return (passes_name(role) if asked == _LABEL else _answer_name(asked, role)), value


def with_picture_scores(
    answers: Mapping[str, Mapping[str, float]], case: Case, mean: str, problems: Problems
) -> dict[str, dict[str, float]]:
    """Ratings of a case with each rater's score of a picture in place of their answers to its questions."""
    rated = {name: dict(said) for name, said in answers.items()}
    for prompt in case.prompts:
        names = [_answer_name(f"{number}", prompt.role) for number in range(1, len(prompt.questions) + 1)]
        by_question = [rated.pop(name, {}) for name in names]
        for rater in dict.fromkeys(who for said in by_question for who in said):
            grades = [said[rater] for said in by_question if rater in said]
            if len(grades) == len(names):
                score = picture_score(prompt.questions, grades, mean)
                rated.setdefault(role_score(prompt.role), {}).setdefault(rater, score)
            else:
                told = f"{rater!r} answered {len(grades)} of {len(names)} questions about {prompt.role} of "
                problems.add(f"{told}{case.case_id!r}; the picture gets no score of theirs")
    return rated


def _answer_name(number: str, role: str) -> str:
    return f"question {number} of {role}"
