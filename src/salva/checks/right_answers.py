"""Check: every image gets the answers that its own prompt calls for.

Takes a judge's answers to questions about each image of a case, one prompt or several; where the questions come
from (a file, formulas, the prompts themselves) answers.py knows. Pure. A reply nobody can read makes a case
UNDECIDED, and so does a prompt that nobody has a question about.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from salva.checks.answered_pairs import WRONG_ANSWER, AnswerCheck, answer_failures
from salva.checks.answers import AnswerOptions, ImageAnswers, PairQuestion, has_questions
from salva.core.about import About
from salva.core.case import Case
from salva.core.options import option
from salva.core.protocols import Conclusion
from salva.core.verdict import Outcome

RIGHT_ANSWERS = "right-answers"


@dataclass(frozen=True, slots=True, kw_only=True)
class RightAnswersOptions(AnswerOptions):
    """How many answers must be right."""

    min_faithfulness: float = option(1.0, "Least share of right answers.", least=0.01, most=1)


class RightAnswers(AnswerCheck[RightAnswersOptions]):
    """Check: a judge answers about every image as its prompt calls for."""

    version: ClassVar[str] = "3"
    about: ClassVar[About] = About(
        needs_roles=("judge",),
        failure_types={WRONG_ANSWER: "An answer differs from the expected one."},
    )
    Options = RightAnswersOptions

    def applies(self, case: Case) -> bool:
        """Whether there is something to ask about every prompt."""
        if not has_questions(case, self._file):
            return False
        questions = self._questions(case)
        return all(any(question.expected.get(prompt.role) for question in questions) for prompt in case.prompts)

    def _conclude(
        self,
        case: Case,
        questions: Sequence[PairQuestion],
        images: Sequence[ImageAnswers],
        beside: Mapping[str, float],
    ) -> Conclusion:
        scores = {"n_questions": float(len(questions)), **beside}
        wrong = []
        for image in images:
            scored, role = image.scored, image.role
            if scored.faith is None or scored.dsg is None:
                reason = f"prompt {role!r} settles no question"
                return Conclusion(outcome=Outcome.UNDECIDED, scores=scores, reason=reason)
            is_right = scored.dsg >= self._options.min_faithfulness
            scores |= {f"faith_{role.upper()}": scored.faith, f"dsg_{role.upper()}": scored.dsg}
            scores[f"right_{role}"] = float(is_right)
            wrong += [] if is_right else [image]
        if not wrong:
            return Conclusion(outcome=Outcome.PASS, scores=scores)
        failures = tuple(answer_failures(wrong))
        return Conclusion(outcome=Outcome.FAIL, failure_types=(WRONG_ANSWER,), failures=failures, scores=scores)
