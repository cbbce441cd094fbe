"""Relation: two prompts that cannot both be right should not get pictures with the same answers.

The contrast to same-answers: a model that paints the same for "a cat" and "no cat" looks perfectly stable. Takes the
same answers, and is content when they differ. Pure.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import ClassVar

from salva.core.about import About
from salva.core.case import Case
from salva.core.protocols import Conclusion, Look, Sight
from salva.core.verdict import Failure, Outcome
from salva.relations.answered_pairs import WRONG_ANSWER, AnsweredPairs, digest_of, wrong_answers
from salva.relations.answers import AnswerOptions
from salva.relations.asking import with_notes

NO_DIFFERENCE = "no-difference"


class MustDiffer:
    """Relation: the pictures of a contrast get different answers."""

    version: ClassVar[str] = "1"
    about: ClassVar[About] = About(
        needs=("judge",),
        errors={
            NO_DIFFERENCE: "Both pictures get the same answers although no picture is right for both prompts.",
            WRONG_ANSWER: "Named beside a violation: a picture gets another answer than its prompt calls for.",
        },
    )
    Options = AnswerOptions

    def __init__(self, options: AnswerOptions) -> None:
        self._options = options
        self._pairs = AnsweredPairs(options)

    @classmethod
    def weights(cls, options: AnswerOptions) -> str:
        """Pins the question file, if there is one."""
        return digest_of(options)

    def applies(self, case: Case) -> bool:
        """Whether the suite says that the pictures of this pair must differ."""
        return len(case.prompts) == 2 and case.relation == "must-differ"

    def looks(self, case: Case, roles: Collection[str], sights: Mapping[str, Sight]) -> Sequence[Look]:
        """Questions for the judge, and vectors where there is an embedder."""
        return self._pairs.looks(case, roles, sights)

    def judge(self, case: Case, sights: Mapping[str, Sight]) -> Conclusion:
        """Look for a difference; the same answers that are right for both prompts tell nothing."""
        return with_notes(self._concluded(case, sights), sights, self._options)

    def _concluded(self, case: Case, sights: Mapping[str, Sight]) -> Conclusion:
        heard = self._pairs.read(case, sights)
        if isinstance(heard, Conclusion):
            return heard
        _, pair, similar = heard
        scores = {**pair.scores, **similar}
        a, b = pair.answers
        if a.said != b.said:
            return Conclusion(outcome=Outcome.HOLDS, scores=scores)
        if all(scored.is_satisfied for scored in pair.scored):
            reason = "both pictures show the same, and it is right for both prompts"
            return Conclusion(outcome=Outcome.INCONCLUSIVE, scores=scores, reason=reason)
        message = "every question gets the same answer in both pictures: " + "; ".join(
            f"{text} {answer}" for text, answer in a.said.items()
        )
        failure = Failure(error=NO_DIFFERENCE, role="", message=message, expected="different answers", seen="the same")
        return Conclusion(
            outcome=Outcome.VIOLATED,
            errors=(NO_DIFFERENCE,),
            failures=(failure, *wrong_answers(pair)),
            scores=scores,
        )
