"""Check: every image gets the answers that its own prompt calls for.

Takes a judge's answers to questions about each image of a case, one prompt or several; where the questions come
from (a file, formulas, the prompts themselves) answers.py knows. Pure. A reply nobody can read makes a case
UNDECIDED, and so does a prompt that nobody has a question about.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from salva.checks.answered_pairs import WRONG_ANSWER, digest_of, image_failures
from salva.checks.answers import AnswerOptions, answer_needs, has_questions, questions_for, read_answers, score
from salva.checks.asking import AskingOptions, with_checks, with_notes
from salva.checks.question_files import questions_to_ask
from salva.core.about import About
from salva.core.case import Case
from salva.core.options import option
from salva.core.protocols import Conclusion, ImageObservations, Need
from salva.core.verdict import Failure, Outcome
from salva.errors import UsageError
from salva.messages import message

RIGHT_ANSWERS = "right-answers"


@dataclass(frozen=True, slots=True, kw_only=True)
class RightAnswersOptions(AnswerOptions):
    """How many answers must be right."""

    min_faithfulness: float = option(
        1.0, "An image with a smaller share of right answers, a child of a wrong parent counted as wrong, is failed."
    )

    def __post_init__(self) -> None:
        AskingOptions.__post_init__(self)
        if not 0 < self.min_faithfulness <= 1:
            raise UsageError(
                message(
                    "option-invalid",
                    name="check.min_faithfulness",
                    value=self.min_faithfulness,
                    wanted="above 0 and at most 1",
                )
            )


class RightAnswers:
    """Check: a judge answers about every image as its prompt calls for."""

    version: ClassVar[str] = "2"
    about: ClassVar[About] = About(
        needs_roles=("judge",),
        broken="wrong answers",
        failure_types={WRONG_ANSWER: "An image gets another answer than its prompt calls for."},
    )
    Options = RightAnswersOptions

    def __init__(self, options: RightAnswersOptions) -> None:
        self._options = options
        self._file = questions_to_ask(options.questions)

    @classmethod
    def weights(cls, options: RightAnswersOptions) -> str:
        """Pins the question file, if there is one."""
        return digest_of(options)

    def applies(self, case: Case) -> bool:
        """Whether the suite names it for this case, and there is something to ask about every prompt."""
        is_named = case.check == RIGHT_ANSWERS or any(RIGHT_ANSWERS in group for group in case.check_groups)
        if not is_named or not has_questions(case, self._file):
            return False
        questions = questions_for(case, self._options, self._file)
        return all(any(question.expected.get(prompt.role) for question in questions) for prompt in case.prompts)

    def needs(
        self, case: Case, roles: Collection[str], observations: Mapping[str, ImageObservations]
    ) -> Sequence[Need]:
        """Questions for the judge, children behind their parents."""
        needs = answer_needs(questions_for(case, self._options, self._file), observations, self._options)
        return with_checks(needs, case, roles, self._options)

    def judge(self, case: Case, observations: Mapping[str, ImageObservations]) -> Conclusion:
        """Hold the answers about every image against its prompt."""
        return with_notes(self._concluded(case, observations), observations)

    def _concluded(self, case: Case, observations: Mapping[str, ImageObservations]) -> Conclusion:
        questions = questions_for(case, self._options, self._file)
        scores: dict[str, float] = {"n_questions": float(len(questions))}
        failures: list[Failure] = []
        is_right = True
        for prompt in case.prompts:
            answers = read_answers(questions, observations[prompt.role].seen)
            if answers.problems:
                more = f" (and {len(answers.problems) - 1} more unreadable)" if len(answers.problems) > 1 else ""
                reason = f"image {prompt.role!r}: {answers.problems[0]}{more}"
                return Conclusion(outcome=Outcome.UNDECIDED, scores=scores, reason=reason)
            scored = score(questions, answers, prompt.role, prompt.formula, self._options.counts)
            if scored.faith is None or scored.dsg is None:
                reason = f"no question has an answer that prompt {prompt.role!r} settles"
                return Conclusion(outcome=Outcome.UNDECIDED, scores=scores, reason=reason)
            scores |= {f"faith_{prompt.role.upper()}": scored.faith, f"dsg_{prompt.role.upper()}": scored.dsg}
            if scored.dsg < self._options.min_faithfulness:
                is_right = False
                failures += image_failures(scored, prompt.role)
        if is_right:
            return Conclusion(outcome=Outcome.PASS, scores=scores)
        return Conclusion(outcome=Outcome.FAIL, failure_types=(WRONG_ANSWER,), failures=tuple(failures), scores=scores)
