"""Answers about a pair: whom to ask, what was answered, what is wrong in it.

A case and what was seen come in; the answers and scores of both images go out, or the conclusion that nobody can
tell. Knows nothing of how a verdict follows from answers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import NamedTuple

from salva.checks.answers import (
    AnswerOptions,
    PairAnswers,
    PairQuestion,
    Scored,
    answer_needs,
    asked_about,
    read_pair,
)
from salva.checks.asking import with_checks
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


class Heard(NamedTuple):
    """What was asked about a pair, what was answered, and every score that follows."""

    questions: tuple[PairQuestion, ...]
    pair: PairAnswers
    similar: Mapping[str, float]
    """Scores from vectors; empty without an embedder."""


class AnsweredPairs:
    """The questions of one run's options, asked and read."""

    def __init__(self, options: AnswerOptions) -> None:
        self._options = options
        self.file = questions_to_ask(options.questions)

    def needs(self, case: Case, roles: Collection[str], observations: Mapping[str, ImageObservations]) -> list[Need]:
        """Questions for the judge, and vectors where there is an embedder."""
        questions = asked_about(case, self._options, self.file)
        looks = answer_needs(questions, observations, self._options) + (
            similarity_needs(case) if "embedder" in roles else []
        )
        return with_checks(looks, case, roles, self._options)

    def read(self, case: Case, observations: Mapping[str, ImageObservations]) -> Heard | Conclusion:
        """What was heard of both images, or UNDECIDED with the reason."""
        questions = asked_about(case, self._options, self.file)
        similar = similarity_scores(case, observations, self._options)
        pair = read_pair(case, questions, observations, self._options.counts) if questions else _NO_QUESTIONS
        if isinstance(pair, str):
            return Conclusion(outcome=Outcome.UNDECIDED, scores=similar, reason=pair)
        return Heard(questions, pair, similar)


def digest_of(options: AnswerOptions) -> str:
    """A hash of the question file: another content under the same name is another rule."""
    if not options.questions:
        return ""
    try:
        return hashlib.sha256(Path(options.questions).read_bytes()).hexdigest()[:16]
    except OSError as error:
        raise UsageError(message("file-unreadable", path=options.questions, why=error)) from error


def wrong_answers(pair: PairAnswers) -> list[Failure]:
    """Every answer that is not what the image's prompt calls for."""
    return [failure for role, scored in zip(pair.roles, pair.scored, strict=True) for failure in wrong_of(scored, role)]


def wrong_of(scored: Scored, role: str) -> list[Failure]:
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
