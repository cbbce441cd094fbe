"""What checks by answers share: asking, reading, scores of a pair, and what is wrong in an image.

A case and what was seen come in; answers and scores go out, or the conclusion that nobody can tell. Knows nothing of
how a verdict follows from answers.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Generic, TypeVar

from salva.checks.answers import (
    AnswerOptions,
    ImageAnswers,
    PairQuestion,
    answer_needs,
    questions_for,
    read_images,
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
OptionsT = TypeVar("OptionsT", bound=AnswerOptions)
_UNASKED = "not asked (its parent was answered wrong)"
_NO_QUESTIONS = "there is no question about this pair"


class AnswerCheck(ABC, Generic[OptionsT]):
    """A check by a judge's answers; a subclass says which cases, and what follows from the answers."""

    version: ClassVar[str] = "2"
    Options: ClassVar[type[AnswerOptions]] = AnswerOptions

    def __init__(self, options: OptionsT) -> None:
        self._options = options
        self._file = read_questions(options.questions) if options.questions else None

    @classmethod
    def weights(cls, options: AnswerOptions) -> str:
        """A hash of the question file, if there is one: another content under the same name is another rule."""
        if not options.questions:
            return ""
        try:
            return hashlib.sha256(Path(options.questions).read_bytes()).hexdigest()[:16]
        except OSError as error:
            raise UsageError(message("file-unreadable", path=options.questions, why=error)) from error

    def remarks(self, size: str) -> Sequence[str]:
        """What of the question file could not be used; printed before a run of any size."""
        return [self._file.remark] if self._file and self._file.remark else []

    def needs(
        self, case: Case, roles: Collection[str], observations: Mapping[str, ImageObservations]
    ) -> Sequence[Need]:
        """Questions for the judge, children behind their parents."""
        needs = answer_needs(self._questions(case), observations)
        return with_checks(needs, case, roles, self._options)

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
        questions, beside = self._questions(case), self._scores_beside(case, observations)
        counts = case.read_counts(self._options.counts)
        read = read_images(case, questions, observations, counts) if questions else _NO_QUESTIONS
        if isinstance(read, str):
            conclusion = Conclusion(outcome=Outcome.UNDECIDED, scores=beside, reason=read)
        else:
            conclusion = self._conclude(case, questions, read, beside)
        return with_notes(conclusion, observations)

    def _questions(self, case: Case) -> tuple[PairQuestion, ...]:
        return questions_for(case, self._options, self._file)

    def _scores_beside(self, case: Case, observations: Mapping[str, ImageObservations]) -> Mapping[str, float]:
        """Scores that do not rest on answers."""
        return {}

    @abstractmethod
    def _conclude(
        self,
        case: Case,
        questions: Sequence[PairQuestion],
        images: Sequence[ImageAnswers],
        beside: Mapping[str, float],
    ) -> Conclusion:
        """What follows from readable answers, without what is noted of every judge."""


class AnsweredPairCheck(AnswerCheck[OptionsT]):
    """A check of a pair, scored by vectors too where there is an embedder."""

    def needs(
        self, case: Case, roles: Collection[str], observations: Mapping[str, ImageObservations]
    ) -> Sequence[Need]:
        """Questions for the judge, and vectors where there is an embedder."""
        vectors = similarity_needs(case) if "embedder" in roles else []
        return [*super().needs(case, roles, observations), *vectors]

    def _scores_beside(self, case: Case, observations: Mapping[str, ImageObservations]) -> Mapping[str, float]:
        return similarity_scores(case, observations, self._options)


def answer_failures(images: Iterable[ImageAnswers]) -> list[Failure]:
    """Every answer that is not what the image's prompt calls for."""
    return [
        Failure(
            failure_type=WRONG_ANSWER,
            role=image.role,
            message=f"{asked.question.text} {answer or _UNASKED}, and it should be {asked.expected[image.role]}",
            expected=str(asked.expected[image.role]),
            seen=answer,
        )
        for image in images
        for asked, answer in image.scored.wrong
    ]
