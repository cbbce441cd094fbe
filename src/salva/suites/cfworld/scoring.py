"""CF-Eval's figures: from grades to dimensions, from means to PRR and RRR.

Pure numbers and the query that asks for them; what becomes a verdict or a table is said elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from salva.core.case import Case, Prompt
from salva.core.observation import Answer
from salva.core.protocols import ImageObservations, Query
from salva.core.question import Question, picture_score, weighted_mean
from salva.logic.formula import entities
from salva.logic.notation import parse


def grade_query(text: str, questions: Sequence[Question], rubric: str) -> Query:
    """How a judge is asked to grade an image: all its questions at once, each with its criteria."""
    formulas = tuple(question.formula for question in questions)
    has_formulas = all(formulas)
    entities_named = sorted({name for formula in formulas for name in entities(parse(formula))}) if has_formulas else []
    return Query(
        role="judge",
        kind="grade",
        text=text,
        questions=tuple(question.text for question in questions),
        criteria=tuple(question.rule for question in questions),
        rubric=rubric,
        formulas=formulas if has_formulas else (),
        labels=tuple(entities_named),
    )


def grades_of(answer: object, questions: Sequence[Question]) -> tuple[float, ...] | str:
    """One grade for each question, or why there are none."""
    if not isinstance(answer, Answer):
        return "no reply of the judge"
    if answer.problem:
        return answer.problem
    grades = [answer.scores.get(f"q{i}") for i in range(1, len(questions) + 1)]
    readable = [grade for grade in grades if grade is not None and 0 <= grade <= 1]
    if len(readable) < len(grades):
        return f"expected {len(grades)} grades from 0 to 1, got {dict(answer.scores)}"
    return tuple(readable)


def scores_of(
    case: Case, observations: Mapping[str, ImageObservations], query_of: Callable[[Case, Prompt], Query], mean: str
) -> tuple[dict[str, float], dict[str, str]]:
    """S of every image by role, and why the others have none."""
    scores: dict[str, float] = {}
    problems: dict[str, str] = {}
    for prompt in case.prompts:
        sight = observations.get(prompt.role)
        grades: tuple[float, ...] | str = "the image is missing"
        if sight is not None:
            grades = grades_of(sight.seen.get(query_of(case, prompt)), prompt.questions)
        if isinstance(grades, str):
            problems[prompt.role] = grades
        else:
            scores[prompt.role] = picture_score(prompt.questions, grades, mean)
    return scores, problems


def dimension_scores(questions: Sequence[Question], grades: Sequence[float]) -> dict[str, float]:
    """The grade of each dimension."""
    kinds = dict.fromkeys(question.kind for question in questions)
    graded = list(zip(questions, grades, strict=True))
    return {kind: weighted_mean([(q.weight, grade) for q, grade in graded if q.kind == kind]) for kind in kinds}


def retention(after: float, before: float) -> float | None:
    """after / sqrt(before): PRR from the means of L2 and L1, RRR from those of L3 and L2; None over a mean of 0."""
    return after / math.sqrt(before) if before > 0 else None


def share_kept(counterfactual: float, factual: float) -> float | None:
    """CF / Fact; None where Fact is 0."""
    return counterfactual / factual if factual > 0 else None


def reasons_of(answer: object, questions: Sequence[Question], kind: str) -> str:
    """Why the questions of a dimension got their grades, as far as the judge said so."""
    if not isinstance(answer, Answer):
        return ""
    named = [answer.reasons.get(f"q{i}", "") for i, q in enumerate(questions, 1) if q.kind == kind]
    return " ".join(filter(None, named))
