"""What question-asking checks share: the questions, the answers, the scores.

Cases come in, queries go out; answers come in, scores and whatever could not be read go out. Every image of a case
is asked the same, so that any two of them can be compared. Pure, and knows nothing of how a verdict follows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

from salva.checks.asking import AskingOptions
from salva.checks.question_files import FileQuestion, QuestionFile
from salva.checks.similarities import SimilarityOptions
from salva.core.case import Case, Prompt
from salva.core.observation import Answer, Observation
from salva.core.options import option
from salva.core.protocols import ImageObservations, Need, Query
from salva.english.questions import NO, YES, ClosedQuestion, expected_answer, is_satisfied, questions_about
from salva.english.words import comparable
from salva.logic.formula import entities
from salva.logic.notation import parse
from salva.stats.pair_scores import mean, pair_scores

_NOTHING = frozenset((NO, "none", "nothing", "0", "zero", "neither", ""))
NOTHING_SEEN = "neither image shows anything that was asked about"


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerOptions(SimilarityOptions, AskingOptions):
    """What is asked."""

    counts: str = option("", "Whether two cats fail 'a cat'; unset: by suite.", choices=("", "exact", "at-least"))
    questions: str = option("", "A TIFA or DSG file.", reaches="file")


@dataclass(frozen=True, slots=True, kw_only=True)
class PairQuestion:
    """A question about the images of a case, with the answer each prompt calls for."""

    question: ClosedQuestion
    query: Query
    expected: Mapping[str, str | None]
    """By prompt role; None where right images differ."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """What a judge answered about one image."""

    said: Mapping[str, str]
    """Question text to answer; a child that was not asked because its parent fails is here as "no" where its formula
    is known, and missing where it is not."""
    unasked: frozenset[str] = frozenset()
    problems: tuple[str, ...] = ()
    """Replies nobody could read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageScore:
    """How faithful one image is to one prompt."""

    faith: float | None
    """Share of right answers; None when the prompt settles nothing."""
    dsg: float | None
    """The same, with a child counted as wrong where a parent was not answered with yes."""
    n: int
    """How many were counted."""
    is_satisfied: bool | None
    """Whether the answers describe a right image; None where the prompt has no formula."""
    wrong: tuple[tuple[PairQuestion, str], ...] = ()
    """Questions with a wrong answer, and the answer."""


def questions_for(case: Case, options: AnswerOptions, file: QuestionFile | None) -> tuple[PairQuestion, ...]:
    """Everything to ask about the images of a case."""
    if file is not None:
        return _from_file(case, file)
    notations = tuple(prompt.formula for prompt in case.prompts)
    given = tuple(notation for notation in notations if notation is not None)
    if len(given) < len(notations):
        return _of_prompts(case)
    roles = tuple(prompt.role for prompt in case.prompts)
    return _from_formulas(roles, given, case.read_counts(options.counts))


def has_questions(case: Case, file: QuestionFile | None) -> bool:
    """Whether there is anything to ask: a file, formulas, or questions that the prompts bring with them."""
    if file is not None or all(prompt.formula is not None for prompt in case.prompts):
        return True
    return all(any(question.answer for question in prompt.questions) for prompt in case.prompts)


def _of_prompts(case: Case) -> tuple[PairQuestion, ...]:
    """What the prompts bring with them; what one prompt asks for an equivalent one asks for too."""
    shared = case.equivalent is not False
    by_text: dict[str, PairQuestion] = {}
    for prompt in case.prompts:
        for own in prompt.questions:
            if not own.answer:
                continue
            question = ClosedQuestion(text=own.text, kind=own.kind, choices=(YES, NO), parents=own.parents)
            asked = by_text.setdefault(
                own.text, PairQuestion(question=question, query=_query(question, ()), expected={})
            )
            others = {other.role: own.answer for other in case.prompts if shared and other.role not in asked.expected}
            by_text[own.text] = replace(asked, expected={**others, **asked.expected, prompt.role: own.answer})
    roles = dict.fromkeys(prompt.role for prompt in case.prompts)
    return tuple(replace(asked, expected={**roles, **asked.expected}) for asked in by_text.values())


@lru_cache(maxsize=4096)
def _from_formulas(roles: tuple[str, ...], notations: tuple[str, ...], counts: str) -> tuple[PairQuestion, ...]:
    # The same labels as every other check gives, so that a detector is asked once.
    labels = tuple(sorted({name for notation in notations for name in entities(parse(notation))}))
    return tuple(
        PairQuestion(
            question=question,
            query=_query(question, labels),
            expected={
                role: expected_answer(question, notation, counts)
                for role, notation in zip(roles, notations, strict=True)
            },
        )
        for question in questions_about(notations, counts)
    )


def _from_file(case: Case, file: QuestionFile) -> tuple[PairQuestion, ...]:
    """The questions about both prompts; what one prompt asks for an equivalent one asks for too."""
    pair_id, item_id = (case.labels.get(label, "") for label in ("pair_id", "item_id"))
    own = {
        prompt.role: {
            question.question.text: question
            for question in file.about(prompt.text, f"{pair_id}_{prompt.role.upper()}", pair_id, item_id)
        }
        for prompt in case.prompts
    }
    by_text: dict[str, FileQuestion] = {}
    for questions in own.values():
        for text, question in questions.items():
            by_text.setdefault(text, question)
    # Each prompt's own answer first: two prompts of a contrast may expect different answers to one question.
    shared = case.equivalent is not False
    return tuple(
        PairQuestion(
            question=question.question,
            query=_query(question.question, ()),
            expected={
                role: questions[text].expected if text in questions else question.expected if shared else None
                for role, questions in own.items()
            },
        )
        for text, question in by_text.items()
    )


def _query(question: ClosedQuestion, labels: tuple[str, ...]) -> Query:
    return Query(
        role="judge",
        kind="answer",
        text=question.text,
        choices=question.choices,
        formulas=question.formulas,
        labels=labels,
    )


def answer_needs(questions: Sequence[PairQuestion], observations: Mapping[str, ImageObservations]) -> list[Need]:
    """What can be asked now: children wait for their parents' answers and are not asked where one is no."""
    by_text = {asked.question.text: asked for asked in questions}
    needs = []
    for role, sight in observations.items():
        for asked in questions:
            parents = [by_text[text] for text in asked.question.parents if text in by_text]
            if all(_answer(parent, sight) == YES for parent in parents):
                needs.append(Need(role=role, query=asked.query))
    return needs


def _answer(asked: PairQuestion, sight: ImageObservations) -> str:
    """The readable answer to a question, or nothing."""
    answer = sight.seen.get(asked.query)
    return answer.text if isinstance(answer, Answer) and not problem_of(asked, answer) else ""


def problem_of(asked: PairQuestion, answer: Answer) -> str:
    """Why an answer cannot be used, or nothing."""
    if answer.problem:
        return f"{asked.question.text!r}: {answer.problem}"
    if not answer.text:
        return f"{asked.question.text!r} was answered with nothing"
    if asked.question.choices and answer.text not in asked.question.choices:
        return f"{asked.question.text!r} was answered with {answer.text!r}, none of {', '.join(asked.question.choices)}"
    return ""


def read_answers(questions: Sequence[PairQuestion], seen: Mapping[Query, Observation]) -> Answers:
    """The answers about one image."""
    said: dict[str, str] = {}
    unasked: set[str] = set()
    problems: list[str] = []
    for asked in questions:
        text = asked.question.text
        answer = seen.get(asked.query)
        if not isinstance(answer, Answer):
            unasked.add(text)
            if asked.question.literal:
                # An entity that is not there has no colour and stands nowhere.
                said[text] = NO
        elif problem := problem_of(asked, answer):
            problems.append(problem)
        else:
            said[text] = answer.text if asked.question.choices else comparable(answer.text)
    return Answers(said=said, unasked=frozenset(unasked), problems=tuple(problems))


def is_nothing_seen(answers: Iterable[str]) -> bool:
    """Whether all that was answered is that nothing is there."""
    return all(comparable(answer) in _NOTHING for answer in answers)


class AnswerMark(NamedTuple):
    """An answer held against what a prompt calls for."""

    asked: PairQuestion
    expected: str
    answer: str
    is_right: bool
    is_grounded: bool
    """Whether it is right, and every question that it depends on is answered with yes."""


def marks(questions: Sequence[PairQuestion], answers: Answers, role: str) -> Iterator[AnswerMark]:
    """The questions whose answer the prompt of a role settles, each with how it was answered."""
    for asked in questions:
        expected = asked.expected.get(role)
        if expected is None:
            continue
        answer = answers.said.get(asked.question.text, "")
        holds = all(answers.said.get(text) == YES for text in asked.question.parents)
        yield AnswerMark(asked, expected, answer, answer == expected, answer == expected and holds)


def leaves_open(questions: Sequence[PairQuestion], role: str) -> bool:
    """Whether right images of a role's prompt differ in something that was asked."""
    return any(asked.question.literal and asked.expected.get(role) is None for asked in questions)


def score(questions: Sequence[PairQuestion], answers: Answers, prompt: Prompt, counts: str) -> ImageScore:
    """How faithful an image is to its prompt.

    Questions with a settled answer count one each. Where the formula leaves something open (a cat or a dog), whether
    the answers make the formula true counts as one more.
    """
    formula, marked = prompt.formula, list(marks(questions, answers, prompt.role))
    right, grounded = [mark.is_right for mark in marked], [mark.is_grounded for mark in marked]
    is_from_formula = formula is not None and all(asked.question.formulas for asked in questions)
    satisfied = None
    if formula is not None and is_from_formula:
        satisfied = is_satisfied(formula, [asked.question for asked in questions], answers.said, counts)
        if leaves_open(questions, prompt.role):
            right.append(satisfied)
            grounded.append(satisfied)
    if not right:
        return ImageScore(faith=None, dsg=None, n=0, is_satisfied=satisfied)
    return ImageScore(
        faith=mean(map(float, right)),
        dsg=mean(map(float, grounded)),
        n=len(right),
        is_satisfied=satisfied,
        wrong=tuple((mark.asked, mark.answer) for mark in marked if not mark.is_right),
    )


class ImageAnswers(NamedTuple):
    """One image, answered and scored."""

    role: str
    answers: Answers
    scored: ImageScore


def read_images(
    case: Case, questions: Sequence[PairQuestion], observations: Mapping[str, ImageObservations], counts: str
) -> tuple[ImageAnswers, ...] | str:
    """The answers about every image with their score, or why nobody can tell."""
    read = [(prompt, read_answers(questions, observations[prompt.role].seen)) for prompt in case.prompts]
    problems = [f"image {prompt.role!r}: {problem}" for prompt, answers in read for problem in answers.problems]
    if problems:
        return problems[0] + (f" (and {len(problems) - 1} more unreadable)" if len(problems) > 1 else "")
    return tuple(
        ImageAnswers(prompt.role, answers, score(questions, answers, prompt, counts)) for prompt, answers in read
    )


def scores_of_pair(questions: Sequence[PairQuestion], images: Sequence[ImageAnswers]) -> dict[str, float]:
    """What was asked and answered of both images, and how faithful they are."""
    scores = {"n_questions": float(len(questions))}
    for role, answers, scored in images:
        scores[f"n_counted_{role.upper()}"] = float(scored.n)
        scores[f"n_asked_{role.upper()}"] = float(len(questions) - len(answers.unasked))
        if scored.is_satisfied is not None:
            scores[f"satisfied_{role.upper()}"] = float(scored.is_satisfied)
        wanted = [asked.question for asked in questions if asked.question.literal and asked.expected.get(role) != NO]
        if wanted:
            scores[f"named_{role}"] = float(sum(answers.said.get(question.text) == YES for question in wanted))
    a, b = (image.scored for image in images)
    if a.faith is not None and b.faith is not None:
        scores |= pair_scores("faith", a.faith, b.faith)
    if a.dsg is not None and b.dsg is not None:
        scores |= {"dsg_A": a.dsg, "dsg_B": b.dsg, "dsg_mean": (a.dsg + b.dsg) / 2}
    return scores
