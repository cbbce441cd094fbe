"""Check: two prompts that cannot both be right should not get images with the same answers.

The contrast to same-answers: a model that generates the same for "a cat" and "no cat" looks perfectly stable. Takes the
same answers, and is content when they differ in what tells the prompts apart: of questions that somebody wrote those
about anything else (the floor, the lighting) decide nothing. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from salva.checks.answered_pairs import WRONG_ANSWER, AnsweredPairCheck, answer_failures
from salva.checks.answers import AnswerOptions, ImageAnswers, PairQuestion, scores_of_pair
from salva.core.about import About
from salva.core.case import Case
from salva.core.protocols import Conclusion
from salva.core.verdict import Failure, Outcome
from salva.english.contrasts import questions_of_contrast
from salva.logic.notation import parse

NO_DIFFERENCE = "no-difference"


class MustDiffer(AnsweredPairCheck[AnswerOptions]):
    """Check: the images of a contrast get different answers."""

    about: ClassVar[About] = About(
        needs_roles=("judge",),
        compares=True,
        failure_types={
            NO_DIFFERENCE: "Both images get the same answers.",
            WRONG_ANSWER: "An answer differs from the expected one.",
        },
    )
    Options = AnswerOptions

    def applies(self, case: Case) -> bool:
        """Whether the suite says that the images of this pair must differ."""
        return len(case.prompts) == 2 and "must-differ" in case.named_checks

    def _conclude(
        self,
        case: Case,
        questions: Sequence[PairQuestion],
        images: Sequence[ImageAnswers],
        beside: Mapping[str, float],
    ) -> Conclusion:
        scores = {**scores_of_pair(questions, images), **beside}
        a, b = (image.answers for image in images)
        telling = _decisive(case, [asked.question.text for asked in questions if not asked.question.formulas])
        if not any(asked.question.formulas for asked in questions) and not telling:
            reason = "no question tells the prompts apart"
            return Conclusion(outcome=Outcome.UNDECIDED, scores=scores, reason=reason)
        telling += [asked.question.text for asked in questions if asked.question.formulas]
        if any(a.said.get(text) != b.said.get(text) for text in telling):
            return Conclusion(outcome=Outcome.PASS, scores=scores)
        if all(image.scored.is_satisfied for image in images):
            reason = "both images show the same, right for both prompts"
            return Conclusion(outcome=Outcome.UNDECIDED, scores=scores, reason=reason)
        what = "every question" if len(telling) == len(a.said) else "every question about what tells the prompts apart"
        message = f"{what} gets the same answer in both images: " + "; ".join(
            f"{text} {answer}" for text, answer in a.said.items() if text in telling
        )
        failure = Failure(
            failure_type=NO_DIFFERENCE, role="", message=message, expected="different answers", seen="the same"
        )
        return Conclusion(
            outcome=Outcome.FAIL,
            failure_types=(NO_DIFFERENCE,),
            failures=(failure, *answer_failures(images)),
            scores=scores,
        )


def _decisive(case: Case, written: Sequence[str]) -> list[str]:
    """Of the questions that somebody wrote, those about what the prompts say differently; all where nobody knows."""
    a, b = (prompt.formula for prompt in case.prompts)
    if a is None or b is None:
        return list(written)
    return questions_of_contrast(parse(a), parse(b), written)
