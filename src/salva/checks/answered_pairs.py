"""What checks by answers share: asking, reading, scores of a pair, and what is wrong in an image.

A case and what was seen come in; answers and scores go out, or the conclusion that nobody can tell. Knows nothing of
how a verdict follows from answers.
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
from salva.checks.question_files import read_questions
from salva.checks.similarities import similarity_needs, similarity_scores
from salva.core.case import Case
from salva.core.probe import Probe
from salva.core.protocols import Conclusion, ImageObservations, Need
from salva.core.verdict import Failure, Outcome
from salva.english.questions import YES
from salva.errors import UsageError
from salva.messages import message

WRONG_ANSWER = "wrong-answer"
_UNASKED = "not asked, since a question it hangs on was answered wrong"
_NO_QUESTIONS = "there is no question about this pair"


class AnswerCheck(ABC):
    """A check by a judge's answers; a subclass says which cases, and what follows from the answers."""

    version: ClassVar[str] = "2"
    Options: ClassVar[type[AnswerOptions]] = AnswerOptions

    def __init__(self, options: AnswerOptions) -> None:
        self._asking = options
        self._file = read_questions(options.questions) if options.questions else None

    @classmethod
    def weights(cls, options: AnswerOptions) -> str:
        """Pins the question file, if there is one."""
        return digest_of(options)

    def needs(
        self, case: Case, roles: Collection[str], observations: Mapping[str, ImageObservations]
    ) -> Sequence[Need]:
        """Questions for the judge, children behind their parents."""
        needs = answer_needs(self._questions(case), observations)
        return with_checks(needs, case, roles, self._asking)

    def probes(self, case: Case) -> Sequence[Probe]:
        """Questions that a right image gets yes for; whatever is not there gets no in every image."""
        return [
            Probe(role=role, query=asked.query, expected=YES)
            for asked in self._questions(case)
            for role, expected in asked.expected.items()
            if expected == YES
        ]

    def judge(self, case: Case, observations: Mapping[str, ImageObservations]) -> Conclusion:
        """What follows from the answers; UNDECIDED where one cannot be read."""
        return with_notes(self._concluded(case, observations), observations)

    def _questions(self, case: Case) -> tuple[PairQuestion, ...]:
        return questions_for(case, self._asking, self._file)

    @abstractmethod
    def _concluded(self, case: Case, observations: Mapping[str, ImageObservations]) -> Conclusion:
        """The conclusion, without what is noted of every judge."""


class AnsweredPair(NamedTuple):
    """What was asked about a pair, what was answered, and every score that follows."""

    questions: tuple[PairQuestion, ...]
    pair: PairAnswers
    similar: Mapping[str, float]
    """Scores from vectors; empty without an embedder."""


class AnsweredPairCheck(AnswerCheck):
    """A check of a pair; a subclass says what follows from readable answers."""

    def needs(
        self, case: Case, roles: Collection[str], observations: Mapping[str, ImageObservations]
    ) -> Sequence[Need]:
        """Questions for the judge, and vectors where there is an embedder."""
        vectors = similarity_needs(case) if "embedder" in roles else []
        return [*super().needs(case, roles, observations), *vectors]

    def _concluded(self, case: Case, observations: Mapping[str, ImageObservations]) -> Conclusion:
        questions = self._questions(case)
        similar = similarity_scores(case, observations, self._asking)
        pair = (
            read_pair(case, questions, observations, case.read_counts(self._asking.counts))
            if questions
            else _NO_QUESTIONS
        )
        if isinstance(pair, str):
            return Conclusion(outcome=Outcome.UNDECIDED, scores=similar, reason=pair)
        return self._conclude(case, AnsweredPair(questions, pair, similar))

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
