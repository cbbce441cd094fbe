"""A question about one image, to be graded or to be answered: what a prompt that a judge is asked about carries.

Goes in and out of JSON here, so that cases, files of questions and stored runs hold one form; grades become an image's
score here, so that judges and people are summed up alike.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from salva.core.fingerprint import Json
from salva.core.grouping import grouped

DIMENSIONS, QUESTIONS = "dimensions", "questions"
"""How grades become a score: by the dimensions that questions belong to, or by question."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is to be graded about an image, from 0 to 1."""

    kind: str
    """The dimension it belongs to, in a suite's own word: "integrity", "point", "logic"."""
    text: str
    criteria: tuple[tuple[float, str], ...] = ()
    """Scores, the highest first, each with the sentence that says when it is given; empty where nobody wrote any."""
    weight: float = 1.0
    formula: str = ""
    """What the question means, for a judge that reasons from scenes; others never see it."""
    answer: str = ""
    """What a right image is answered with, yes or no; empty for a question that is graded."""
    parents: tuple[str, ...] = ()
    """Questions, by their text, that must be answered with yes for this one to mean anything."""

    def __post_init__(self) -> None:
        scores = [score for score, _ in self.criteria]
        if any(not 0 <= score <= 1 for score in scores) or scores != sorted(set(scores), reverse=True):
            raise ValueError(f"criteria run from the highest score to the lowest within 1 and 0, got {scores}")
        if self.weight <= 0:
            raise ValueError(f"a question's weight is {self.weight!r}; it must be above 0")

    @property
    def rule(self) -> str:
        """The criteria in one line, as a judge reads them."""
        return " ".join(f"{score:g}: {sentence}" for score, sentence in self.criteria)


def question_to_json(question: Question) -> dict[str, Json]:
    """The stored form of a question; what is not said of it is left out."""
    said: dict[str, Json] = {
        "kind": question.kind,
        "text": question.text,
        "criteria": {f"{score:g}": sentence for score, sentence in question.criteria},
        "weight": question.weight,
    }
    beside: dict[str, Json] = {"formula": question.formula, "answer": question.answer, "parents": [*question.parents]}
    return said | {name: value for name, value in beside.items() if value}


def question_from_json(stored: Mapping[str, Json]) -> Question:
    """The question a stored form stands for; ValueError or KeyError where it is none."""
    criteria = cast(Mapping[str, str], stored.get("criteria") or {})
    return Question(
        kind=str(stored["kind"]),
        text=str(stored["text"]),
        criteria=tuple(sorted(((float(score), str(text)) for score, text in criteria.items()), reverse=True)),
        weight=float(cast(float, stored.get("weight", 1.0))),
        formula=str(stored.get("formula", "")),
        answer=str(stored.get("answer", "")),
        parents=tuple(map(str, cast(Sequence[str], stored.get("parents", ())))),
    )


def picture_score(questions: Sequence[Question], grades: Sequence[float], mean: str) -> float:
    """S: the weighted mean of the grades, over questions or over dimensions.

    A dimension's grade is the weighted mean of its questions', and its weight the mean of their weights: two questions
    about the surroundings do not make these count twice.
    """
    if mean == QUESTIONS:
        return weighted_mean([(question.weight, grade) for question, grade in zip(questions, grades, strict=True)])
    graded = zip(questions, grades, strict=True)
    by_kind = grouped((question.kind, (question.weight, grade)) for question, grade in graded)
    return weighted_mean([(sum(w for w, _ in part) / len(part), weighted_mean(part)) for part in by_kind.values()])


def weighted_mean(parts: Sequence[tuple[float, float]]) -> float:
    """The mean of numbers, each with its weight before it."""
    return sum(weight * grade for weight, grade in parts) / sum(weight for weight, _ in parts)
