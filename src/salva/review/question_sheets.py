"""Rating sheets by question: an answer from 0 to 1 each, and yes or no to the whole image.

A run's records come in, rows to fill in go out. Filled in, a rater's answers become a score of the image by the rule
that makes the judge's.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator, Mapping

from salva.core.case import Case, Prompt
from salva.core.exchange import Flaw
from salva.core.question import picture_score
from salva.core.scoring import role_score
from salva.core.source import RunRecords
from salva.core.table import Cell
from salva.core.verdict import PAIR
from salva.errors import UsageError
from salva.messages import message
from salva.review.calibration import RatedImage, image_scores, is_doubtful, passes_name
from salva.review.cells import FileRow
from salva.review.columns import LABEL

QUESTION_COLUMNS = (
    *("case_id", "repeat", "model", "category", "image_role", "question", "text", "asked", "criteria", "image"),
    *("rater", "score"),
)
QUESTION_HINT = """Look at each image and answer every question about it:
rater      your name, the same in all your rows
score      0 to 1, by the column criteria; without criteria 1 yes, 0.5 partly, 0 no
The row "label" asks once for the whole image: 1 or 0, nothing between.
Answer all questions about an image, or none.
Several raters: each fills in a copy; `salva agree RUN --ratings COPY --ratings COPY` reads them.
"""
_LABEL_TEXT = "Are the main things that the text asks for recognisable?"
_LABEL_RULE = "1: they are there and recognisable. 0: they are missing or badly distorted."
_DOUBTFUL_SHARE = 0.75
"""The share of doubtful images in a sample, as far as there are so many."""


def graded_images(records: RunRecords, roles: Collection[str], sample: int) -> dict[RatedImage, str]:
    """The images that are graded by questions, in random order; a sample favours doubtful ones.

    roles: only these, unless empty.
    sample: how many; 0 for all.
    """
    asked = {prompt.role for case in records.cases for prompt in case.prompts if _is_graded(prompt)}
    if (roles or sample) and not asked:
        raise UsageError(message("questions-missing"))
    if unknown := sorted({*roles} - asked):
        raise UsageError(message("role-unrated", role=unknown[0], known=", ".join(sorted(asked))))
    cases = {case.case_id: case for case in records.cases}
    ids = {
        (verdict.case_id, verdict.repeat, verdict.model, prompt.role): verdict.images[prompt.role]
        for verdict in records.verdicts
        for prompt in cases[verdict.case_id].prompts
        if verdict.arm == PAIR and _is_graded(prompt) and prompt.role in verdict.images
        if not roles or prompt.role in roles
    }
    images = sorted(ids)
    # Seeded, so that a sheet can be made again.
    random.Random(len(images)).shuffle(images)
    return {image: ids[image] for image in (_sampled(images, records, sample) if sample else images)}


def _is_graded(prompt: Prompt) -> bool:
    """Whether judges grade its images by questions; questions with a right answer are not grades."""
    return any(not question.answer for question in prompt.questions)


def _sampled(images: list[RatedImage], records: RunRecords, sample: int) -> list[RatedImage]:
    """As appendix B of CF-World: mostly images with a doubtful score, some of the others."""
    scores = image_scores(records)
    scored = [image for image in images if image in scores]
    doubtful = [image for image in scored if is_doubtful(scores[image])]
    clear = [image for image in scored if not is_doubtful(scores[image])]
    n_doubtful = min(len(doubtful), max(round(sample * _DOUBTFUL_SHARE), sample - len(clear)))
    chosen = {*doubtful[:n_doubtful], *clear[: sample - n_doubtful]}
    return [image for image in images if image in chosen]


def question_rows(case: Case, role: str) -> Iterator[tuple[Cell, ...]]:
    """The columns question, text, asked and criteria for each row of an image."""
    prompt = case.prompt(role)
    for number, question in enumerate(prompt.questions, 1):
        yield number, prompt.text, question.text, question.rule
    yield LABEL, prompt.text, _LABEL_TEXT, _LABEL_RULE


def question_measure(line: FileRow, case: Case) -> str | Flaw:
    """What a row of such a sheet rates: an answer to a question about an image, or the image as a whole."""
    role, number = line.cell("image_role"), line.cell("question")
    questions = next((prompt.questions for prompt in case.prompts if prompt.role == role), ())
    if number == LABEL and questions:
        return passes_name(role)
    if number not in map(str, range(1, len(questions) + 1)):
        return line.flaw(f"question {number!r} of {role!r} of {case.case_id!r} is none of its {len(questions)}")
    return _answer_name(number, role)


def with_image_scores(
    answers: Mapping[str, Mapping[str, float]], case: Case, mean: str, flaws: list[Flaw]
) -> dict[str, dict[str, float]]:
    """Ratings of a case with each rater's score of an image in place of their answers to its questions."""
    rated = {name: dict(given) for name, given in answers.items()}
    for prompt in case.prompts:
        names = [_answer_name(f"{number}", prompt.role) for number in range(1, len(prompt.questions) + 1)]
        by_question = [rated.pop(name, {}) for name in names]
        for rater in dict.fromkeys(who for given in by_question for who in given):
            grades = [given[rater] for given in by_question if rater in given]
            if len(grades) == len(names):
                score = picture_score(prompt.questions, grades, mean)
                rated.setdefault(role_score(prompt.role), {}).setdefault(rater, score)
            else:
                what = f"{rater!r} answered {len(grades)} of {len(names)} questions about {prompt.role}: no score of it"
                flaws.append(Flaw(file="ratings", where=case.case_id, what=what))
    return rated


def _answer_name(number: str, role: str) -> str:
    return f"question {number} of {role}"
