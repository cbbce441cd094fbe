"""Relation: two prompts that say the same thing should get pictures with the same answers.

Takes a judge's answers to one list of questions about both pictures, and vectors where an embedder is bound; compares
the answers and scores faithfulness and stability. Pure. A reply nobody can read makes a pair INCONCLUSIVE.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, NamedTuple

from salva.core.case import Case
from salva.core.options import option
from salva.core.protocols import Conclusion, Look, Sight
from salva.core.verdict import Failure, Outcome
from salva.errors import UsageError
from salva.logic.questions import KINDS
from salva.relations.answers import AnswerOptions, Asked, PairAnswers, answer_looks, asked_about, read_pair
from salva.relations.asking import AskingOptions, with_checks, with_notes
from salva.relations.question_files import QuestionFile, read_questions
from salva.relations.similarities import similarity_looks, similarity_scores

ANSWER_DIFFERS = "answer-differs"
FORMULA_DIFFERS = "formula-differs"
WRONG_ANSWER = "wrong-answer"


@dataclass(frozen=True, slots=True, kw_only=True)
class SameAnswersOptions(AnswerOptions):
    """How the answers about two pictures are compared."""

    compare: str = option(
        "answers",
        "answers: the share of questions with the same answer. faithfulness: 1 - the difference in faithfulness.",
        choices=("answers", "faithfulness"),
    )
    min_stability: float = option(1.0, "A pair with less agreement, or less stable faithfulness, is violated.")

    def __post_init__(self) -> None:
        AskingOptions.__post_init__(self)
        if not 0 <= self.min_stability <= 1:
            raise UsageError(f"relation.min_stability is {self.min_stability!r}; it must be from 0 to 1")


class _Difference(NamedTuple):
    error: str
    message: str
    answers: tuple[str, str]


class SameAnswers:
    """Relation: both pictures get the same answers, as far as the prompts settle them."""

    version: ClassVar[str] = "1"
    needs: ClassVar[tuple[str, ...]] = ("judge",)
    has_control: ClassVar[bool] = True
    errors: ClassVar[Mapping[str, str]] = {
        "presence-differs": "A thing was found in one picture and not in the other.",
        "count-differs": "Another number of something was counted in the two pictures.",
        "colour-differs": "Something has the asked colour in one picture and not in the other.",
        "place-differs": "Something is at the asked place in one picture and not in the other.",
        "size-differs": "Things compare in size as asked in one picture and not in the other.",
        "relation-differs": "Things stand as asked in one picture and not in the other.",
        FORMULA_DIFFERS: "By the answers one picture is right for its prompt and the other is not.",
        ANSWER_DIFFERS: "A question of a file is answered differently for the two pictures.",
        WRONG_ANSWER: "Named beside a violation: a picture gets another answer than its prompt calls for.",
    }
    Options = SameAnswersOptions

    def __init__(self, options: SameAnswersOptions) -> None:
        self._options = options
        self._file = question_file(options)

    @classmethod
    def weights(cls, options: SameAnswersOptions) -> str:
        """Pins the question file, if there is one."""
        return digest_of(options)

    def applies(self, case: Case) -> bool:
        """Whether this is a pair with something to ask about, not known to say two different things."""
        if len(case.prompts) != 2 or case.equivalent is False:
            return False
        return self._file is not None or all(prompt.formula is not None for prompt in case.prompts)

    def looks(self, case: Case, roles: Collection[str], sights: Mapping[str, Sight]) -> Sequence[Look]:
        """Questions for the judge, and vectors where there is an embedder."""
        return looks_at_pair(asked_about(case, self._options, self._file), case, roles, sights, self._options)

    def judge(self, case: Case, sights: Mapping[str, Sight]) -> Conclusion:
        """Compare the answers about the two pictures."""
        return with_notes(self._concluded(case, sights), sights, self._options)

    def _concluded(self, case: Case, sights: Mapping[str, Sight]) -> Conclusion:
        asked = asked_about(case, self._options, self._file)
        similar = similarity_scores(case, sights, self._options)
        if not asked:
            return Conclusion(outcome=Outcome.INCONCLUSIVE, scores=similar, reason=NO_QUESTIONS)
        pair = read_pair(case, asked, sights, self._options.reading)
        if isinstance(pair, str):
            return Conclusion(outcome=Outcome.INCONCLUSIVE, scores=similar, reason=pair)
        compared, differences = _compare(asked, pair)
        agreement = 1 - len(differences) / compared if compared else 1.0
        scores = {**pair.scores, "agreement": agreement, "n_compared_answers": float(compared), **similar}
        stability = agreement
        if self._options.compare == "faithfulness":
            if "faith_stability" not in scores:
                return Conclusion(
                    outcome=Outcome.INCONCLUSIVE, scores=scores, reason="no question has a settled answer"
                )
            stability = scores["faith_stability"]
        if stability >= self._options.min_stability:
            return Conclusion(outcome=Outcome.HOLDS, scores=scores)
        failures = [
            Failure(error=one.error, role="", message=one.message, expected=one.answers[0], seen=one.answers[1])
            for one in differences
        ]
        return Conclusion(
            outcome=Outcome.VIOLATED,
            errors=tuple(dict.fromkeys(failure.error for failure in failures)) or (WRONG_ANSWER,),
            failures=(*failures, *wrong_answers(pair)),
            scores=scores,
        )


NO_QUESTIONS = "there is no question about this pair"


def question_file(options: AnswerOptions) -> QuestionFile | None:
    """The question file that was asked for."""
    return read_questions(options.questions) if options.questions else None


def digest_of(options: AnswerOptions) -> str:
    """A hash of the question file: another content under the same name is another rule."""
    if not options.questions:
        return ""
    try:
        return hashlib.sha256(Path(options.questions).read_bytes()).hexdigest()[:16]
    except OSError as error:
        raise UsageError(f"relation.questions {options.questions!r} cannot be read: {error}") from error


def looks_at_pair(
    asked: Sequence[Asked],
    case: Case,
    roles: Collection[str],
    sights: Mapping[str, Sight],
    options: AnswerOptions,
) -> list[Look]:
    """Questions for the judge, and vectors where there is an embedder."""
    looks = answer_looks(asked, sights, options) + (similarity_looks(case) if "embedder" in roles else [])
    return with_checks(looks, case, roles, options)


def wrong_answers(pair: PairAnswers) -> list[Failure]:
    """Every answer that is not what the picture's prompt calls for."""
    return [
        Failure(
            error=WRONG_ANSWER,
            role=role,
            message=f"{one.question.text} {answer or 'no answer'}, and it should be {one.expected[role]}",
            expected=str(one.expected[role]),
            seen=answer,
        )
        for role, scored in zip(pair.roles, pair.scored, strict=True)
        for one, answer in scored.wrong
    ]


def _compare(asked: Sequence[Asked], pair: PairAnswers) -> tuple[int, list[_Difference]]:
    """How many answers were compared, and those that differ.

    A question without a settled answer may be answered differently by two right pictures; of such a pair the formula
    as a whole is compared: whether each picture's answers make its own prompt true.
    """
    first, second = pair.answers
    role_a, role_b = pair.roles
    compared = 0
    differences = []
    for one in asked:
        if None in one.expected.values():
            continue
        compared += 1
        text, kind = one.question.text, one.question.kind
        a, b = first.said.get(text, ""), second.said.get(text, "")
        if a != b:
            message = f"{text} {a or 'no answer'} in image {role_a!r}, {b or 'no answer'} in image {role_b!r}"
            error = f"{kind}-differs" if kind in KINDS and one.question.formulas else ANSWER_DIFFERS
            differences.append(_Difference(error, message, (a, b)))
    right_a, right_b = (scored.is_satisfied for scored in pair.scored)
    if any(one.question.literal and None in one.expected.values() for one in asked):
        compared += 1
        if right_a != right_b:
            good, bad = (role_a, role_b) if right_a else (role_b, role_a)
            message = f"by the answers image {good!r} is right for its prompt and image {bad!r} is not"
            differences.append(_Difference(FORMULA_DIFFERS, message, (str(right_a), str(right_b))))
    return compared, differences
