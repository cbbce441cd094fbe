"""Check: two prompts with the same meaning should get images with the same answers.

Takes a judge's answers to one list of questions about both images, and vectors where an embedder is bound; compares
the answers and scores faithfulness and stability. Pure. A reply nobody can read makes a pair UNDECIDED.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from salva.checks.answered_pairs import WRONG_ANSWER, AnsweredPairCheck, answer_failures
from salva.checks.answers import (
    NOTHING_SEEN,
    AnswerOptions,
    ImageAnswers,
    PairQuestion,
    has_questions,
    is_nothing_seen,
    scores_of_pair,
)
from salva.core.about import About
from salva.core.case import Case
from salva.core.options import option
from salva.core.protocols import Conclusion
from salva.core.verdict import Failure, Outcome
from salva.english.questions import KINDS

ANSWER_DIFFERS = "answer-differs"
FORMULA_DIFFERS = "formula-differs"


@dataclass(frozen=True, slots=True, kw_only=True)
class SameAnswersOptions(AnswerOptions):
    """How the answers about two images are compared."""

    min_stability: float = option(1.0, "Least share of equal answers.", least=0, most=1)


class SameAnswers(AnsweredPairCheck[SameAnswersOptions]):
    """Check: both images get the same answers, as far as the prompts settle them."""

    about: ClassVar[About] = About(
        needs_roles=("judge",),
        compares=True,
        has_control=True,
        failure_types={
            "presence-differs": "An entity is in one image only.",
            "count-differs": "The images show different numbers.",
            "colour-differs": "A colour is right in one image only.",
            "place-differs": "A place is right in one image only.",
            "size-differs": "Sizes are right in one image only.",
            "relation-differs": "A relation holds in one image only.",
            FORMULA_DIFFERS: "One image alone fits its prompt.",
            ANSWER_DIFFERS: "A question gets different answers.",
            WRONG_ANSWER: "An answer differs from the expected one.",
        },
    )
    Options = SameAnswersOptions

    def applies(self, case: Case) -> bool:
        """Whether this is a pair with something to ask about, not known to have two meanings."""
        if len(case.prompts) != 2 or case.equivalent is False:
            return False
        return has_questions(case, self._file)

    def _conclude(
        self,
        case: Case,
        questions: Sequence[PairQuestion],
        images: Sequence[ImageAnswers],
        beside: Mapping[str, float],
    ) -> Conclusion:
        compared, failures = _compare(questions, images)
        agreement = 1 - len(failures) / compared if compared else 1.0
        scores = {**scores_of_pair(questions, images), "agreement": agreement, "n_compared_answers": float(compared)}
        scores |= beside
        # Where no formula says what there should be, two images of nothing agree on everything.
        has_formulas = all(prompt.formula is not None for prompt in case.prompts)
        if not has_formulas and is_nothing_seen(said for image in images for said in image.answers.said.values()):
            return Conclusion(outcome=Outcome.UNDECIDED, scores=scores, reason=NOTHING_SEEN)
        if agreement >= self._options.min_stability:
            return Conclusion(outcome=Outcome.PASS, scores=scores)
        return Conclusion(
            outcome=Outcome.FAIL,
            failure_types=tuple(dict.fromkeys(failure.failure_type for failure in failures)) or (WRONG_ANSWER,),
            failures=(*failures, *answer_failures(images)),
            scores=scores,
        )


def _compare(questions: Sequence[PairQuestion], images: Sequence[ImageAnswers]) -> tuple[int, list[Failure]]:
    """How many answers were compared, and those that differ.

    A question without a settled answer may be answered differently by two right images; of such a pair the formula
    as a whole is compared: whether each image's answers make its own prompt true.
    """
    first, second = images
    role_a, role_b = first.role, second.role
    compared = 0
    differences = []
    for asked in questions:
        if None in asked.expected.values():
            continue
        compared += 1
        text, kind = asked.question.text, asked.question.kind
        a, b = (image.answers.said.get(text, "") for image in images)
        if a != b:
            message = f"{text} {a or 'no answer'} in image {role_a!r}, {b or 'no answer'} in image {role_b!r}"
            error = f"{kind}-differs" if kind in KINDS and asked.question.formulas else ANSWER_DIFFERS
            differences.append(Failure(failure_type=error, role="", message=message, expected=a, seen=b))
    right_a, right_b = (image.scored.is_satisfied for image in images)
    if any(asked.question.literal and None in asked.expected.values() for asked in questions):
        compared += 1
        if right_a != right_b:
            good, bad = (role_a, role_b) if right_a else (role_b, role_a)
            message = f"image {good!r} fits its prompt, image {bad!r} does not"
            seen = {"expected": str(right_a), "seen": str(right_b)}
            differences.append(Failure(failure_type=FORMULA_DIFFERS, role="", message=message, **seen))
    return compared, differences
