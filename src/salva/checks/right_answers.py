"""Check: every image gets the answers that its own prompt calls for.

Takes a judge's answers to questions about each image of a case, one prompt or several; where the questions come
from (a file, formulas, the prompts themselves) answers.py knows. Pure. A reply nobody can read makes a case
UNDECIDED, and so does a prompt that nobody has a question about.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from salva.checks.answered_pairs import WRONG_ANSWER, AnswerCheck, image_failures
from salva.checks.answers import AnswerOptions, has_questions, read_answers, score
from salva.core.about import About
from salva.core.case import Case
from salva.core.options import option
from salva.core.protocols import Conclusion, ImageObservations
from salva.core.verdict import Failure, Outcome

RIGHT_ANSWERS = "right-answers"


@dataclass(frozen=True, slots=True, kw_only=True)
class RightAnswersOptions(AnswerOptions):
    """How many answers must be right."""

    min_faithfulness: float = option(1.0, "Least share of right answers of a PASS.", least=0.01, most=1)


class RightAnswers(AnswerCheck):
    """Check: a judge answers about every image as its prompt calls for."""

    version: ClassVar[str] = "3"
    about: ClassVar[About] = About(
        needs_roles=("judge",),
        failure_types={WRONG_ANSWER: "An image gets another answer than its prompt calls for."},
    )
    Options = RightAnswersOptions

    def __init__(self, options: RightAnswersOptions) -> None:
        super().__init__(options)
        self._options = options

    def applies(self, case: Case) -> bool:
        """Whether there is something to ask about every prompt."""
        if not has_questions(case, self._file):
            return False
        questions = self._questions(case)
        return all(any(question.expected.get(prompt.role) for question in questions) for prompt in case.prompts)

    def _concluded(self, case: Case, observations: Mapping[str, ImageObservations]) -> Conclusion:
        questions = self._questions(case)
        scores: dict[str, float] = {"n_questions": float(len(questions))}
        failures: list[Failure] = []
        for prompt in case.prompts:
            answers = read_answers(questions, observations[prompt.role].seen)
            if answers.problems:
                more = f" (and {len(answers.problems) - 1} more unreadable)" if len(answers.problems) > 1 else ""
                reason = f"image {prompt.role!r}: {answers.problems[0]}{more}"
                return Conclusion(outcome=Outcome.UNDECIDED, scores=scores, reason=reason)
            scored = score(questions, answers, prompt.role, prompt.formula, case.read_counts(self._options.counts))
            if scored.faith is None or scored.dsg is None:
                reason = f"no question has an answer that prompt {prompt.role!r} settles"
                return Conclusion(outcome=Outcome.UNDECIDED, scores=scores, reason=reason)
            scores |= {f"faith_{prompt.role.upper()}": scored.faith, f"dsg_{prompt.role.upper()}": scored.dsg}
            is_right = scored.dsg >= self._options.min_faithfulness
            scores[f"right_{prompt.role}"] = float(is_right)
            failures += [] if is_right else image_failures(scored, prompt.role)
        if all(scores[f"right_{prompt.role}"] for prompt in case.prompts):
            return Conclusion(outcome=Outcome.PASS, scores=scores)
        return Conclusion(outcome=Outcome.FAIL, failure_types=(WRONG_ANSWER,), failures=tuple(failures), scores=scores)
