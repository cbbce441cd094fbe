"""Answers about a pair: whom to ask, what was answered, what is wrong in it.

A case and what was seen come in; the answers and scores of both images go out, or the conclusion that nobody can
tell. Knows nothing of how a verdict follows from answers.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import ClassVar, NamedTuple

from salva.checks.answers import (
    AnswerOptions,
    ImageScore,
    PairAnswers,
    PairQuestion,
    answer_needs,
    questions_for,
    read_pair,
)
from salva.checks.asking import with_checks, with_notes
from salva.checks.question_files import questions_to_ask
from salva.checks.similarities import similarity_needs, similarity_scores
from salva.core.case import Case
from salva.core.protocols import Conclusion, ImageObservations, Need
from salva.core.verdict import Failure, Outcome
from salva.errors import UsageError
from salva.messages import message

WRONG_ANSWER = "wrong-answer"
_UNASKED = "not asked, since a question it hangs on was answered wrong"
_NO_QUESTIONS = "there is no question about this pair"


class AnsweredPair(NamedTuple):
    """What was asked about a pair, what was answered, and every score that follows."""

    questions: tuple[PairQuestion, ...]
    pair: PairAnswers
    similar: Mapping[str, float]
    """Scores from vectors; empty without an embedder."""


class AnsweredPairCheck(ABC):
    """A check of a pair by a judge's answers; a subclass says which pairs, and what follows from the answers."""

    version: ClassVar[str] = "2"

    def __init__(self, options: AnswerOptions) -> None:
        self._asking = options
        self._file = questions_to_ask(options.questions)

    @classmethod
    def weights(cls, options: AnswerOptions) -> str:
        """Pins the question file, if there is one."""
        return digest_of(options)

    def needs(
        self, case: Case, roles: Collection[str], observations: Mapping[str, ImageObservations]
    ) -> Sequence[Need]:
        """Questions for the judge, and vectors where there is an embedder."""
        questions = questions_for(case, self._asking, self._file)
        vectors = similarity_needs(case) if "embedder" in roles else []
        return with_checks(answer_needs(questions, observations, self._asking) + vectors, case, roles, self._asking)

    def judge(self, case: Case, observations: Mapping[str, ImageObservations]) -> Conclusion:
        """What follows from the answers about both images; UNDECIDED where one cannot be read."""
        questions = questions_for(case, self._asking, self._file)
        similar = similarity_scores(case, observations, self._asking)
        pair = read_pair(case, questions, observations, self._asking.counts) if questions else _NO_QUESTIONS
        if isinstance(pair, str):
            conclusion = Conclusion(outcome=Outcome.UNDECIDED, scores=similar, reason=pair)
        else:
            conclusion = self._conclude(case, AnsweredPair(questions, pair, similar))
        return with_notes(conclusion, observations)

    @abstractmethod
    def _conclude(self, case: Case, answered: AnsweredPair) -> Conclusion:
        """What follows from readable answers."""


def digest_of(options: AnswerOptions) -> str:
    """A hash of the question file: another content under the same name is another rule."""
    if not options.questions:
        return ""
    try:
        return hashlib.sha256(Path(options.questions).read_bytes()).hexdigest()[:16]
    except OSError as error:
        raise UsageError(message("file-unreadable", path=options.questions, why=error)) from error


def answer_failures(pair: PairAnswers) -> list[Failure]:
    """Every answer that is not what the image's prompt calls for."""
    return [
        failure
        for role, scored in zip(pair.roles, pair.scored, strict=True)
        for failure in image_failures(scored, role)
    ]


def image_failures(scored: ImageScore, role: str) -> list[Failure]:
    """The same for one image."""
    return [
        Failure(
            failure_type=WRONG_ANSWER,
            role=role,
            message=f"{asked.question.text} {answer or _UNASKED}, and it should be {asked.expected[role]}",
            expected=str(asked.expected[role]),
            seen=answer,
        )
        for asked, answer in scored.wrong
    ]
