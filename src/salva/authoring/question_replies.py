"""Parses questions from replies.

The JSON of a reply comes in; questions go out, or problems in words that the model can be told. Nothing is mended:
an answer that is none of its choices, a dependency on nothing or on itself, a question put twice all spoil a reply.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import Annotated, Literal, get_args

from msgspec import Meta, Struct
from msgspec.structs import replace

from salva.core.decoding import converted
from salva.core.fingerprint import Json
from salva.english.questions import NO, YES
from salva.english.words import number_of
from salva.errors import UsageError

_ElementType = Literal[
    "object",
    "animal/human",
    "food",
    "location",
    "activity",
    "color",
    "material",
    "shape",
    "attribute",
    "counting",
    "spatial",
    "other",
]
_Category = Literal["entity", "attribute", "relation", "global", "other"]
ELEMENT_TYPES = get_args(_ElementType)
"""What an element can be, by the names in TIFA's files."""
CATEGORIES = get_args(_Category)
"""What a proposition can be about, by the names in DSG's files."""
_MAX_QUESTIONS = 40
_MAX_WORDS = 3
"""A longer answer without choices would hardly be given to the letter."""
_NOTHING = ("0", "zero", "none")
# A judge's reply is read without these around it, so a choice with them could never be given.
_AROUND = "\"'“”‘’*`.!?,;: "
_N_SHOWN = 80

_Phrase = Annotated[str, Meta(pattern=r"\S", max_length=60)]
# Whatever begins otherwise is no sentence, and a spreadsheet might run it.
_Sentence = Annotated[str, Meta(pattern=r"^\s*[^\W_].*\?\s*$", max_length=300)]
_ClosedSentence = Annotated[
    str, Meta(pattern=r"^\s*(?!(?i:what|which|who|whom|whose|where|when|why|how)\b)[^\W_].*\?\s*$", max_length=300)
]
_Number = Annotated[int, Meta(ge=1)]
"""From 1 up, since 0 stands for "no parent" in DSG's files."""


class Element(Struct, frozen=True, forbid_unknown_fields=True):
    """A question in the TIFA manner, about one element of a prompt."""

    element: _Phrase
    element_type: _ElementType
    question: _Sentence
    choices: Annotated[tuple[_Phrase, ...], Meta(max_length=8)]
    """Empty where any answer is allowed."""
    answer: _Phrase


class Proposition(Struct, frozen=True, forbid_unknown_fields=True):
    """A yes-or-no question in the DSG manner; yes is right."""

    id: _Number
    category: _Category
    detail: _Phrase
    tuple: Annotated[list[_Phrase], Meta(min_length=1)]
    question: _ClosedSentence
    depends_on: list[_Number]
    """Ids of propositions without which this one means nothing."""


class _Elements(Struct, frozen=True, forbid_unknown_fields=True):
    questions: Annotated[list[Element], Meta(min_length=1, max_length=_MAX_QUESTIONS)]


class _Propositions(Struct, frozen=True, forbid_unknown_fields=True):
    propositions: Annotated[list[Proposition], Meta(min_length=1, max_length=_MAX_QUESTIONS)]


def read_elements(reply: Json) -> tuple[list[Element], list[str]]:
    """The questions of a reply in the TIFA manner, and what is wrong with it; usable only when nothing is."""
    try:
        made = [_on_one_line(element) for element in converted(reply, _Elements).questions]
    except UsageError as error:
        return [], [str(error)]
    problems = [f"question {i}: {problem}" for i, one in enumerate(made, 1) for problem in _answer_problems(one)]
    problems += _repeated([one.question for one in made])
    if not problems and all(one.answer == YES for one in made):
        problems.append("every answer is yes, so that always saying yes would be enough")
    return made, problems


def read_propositions(reply: Json) -> tuple[list[Proposition], list[str]]:
    """The questions of a reply in the DSG manner, and what is wrong with it; usable only when nothing is."""
    try:
        read = converted(reply, _Propositions).propositions
    except UsageError as error:
        return [], [str(error)]
    made = [
        replace(one, detail=_line(one.detail), tuple=[_line(part) for part in one.tuple], question=_line(one.question))
        for one in read
    ]
    return made, [*_repeated([one.question for one in made]), *_dependency_problems(made)]


def _on_one_line(one: Element) -> Element:
    return replace(
        one,
        element=_line(one.element),
        question=_line(one.question),
        choices=tuple(_line(choice).lower() for choice in one.choices),
        answer=_line(one.answer).lower(),
    )


def _line(text: str) -> str:
    """The text with single spaces, and without what cannot be printed."""
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())


def _answer_problems(one: Element) -> Iterator[str]:
    """What is wrong with the choices and the answer, which a judge's reply must be able to equal."""
    if not one.choices:
        is_number = number_of(one.answer) is not None or one.answer in _NOTHING
        if is_number or one.answer in (YES, NO):
            yield f"the answer {_shown(one.answer)} can be written in several ways; give choices"
        elif one.answer != one.answer.strip(_AROUND) or len(one.answer.split()) > _MAX_WORDS:
            yield f"the answer {_shown(one.answer)} needs choices"
        return
    if len(one.choices) == 1:
        yield "one choice is no choice"
    for choice in one.choices:
        if choice != choice.strip(_AROUND) or ";" in choice:
            yield f"the choice {_shown(choice)} has punctuation"
    if len({_figure(choice) for choice in one.choices}) < len(one.choices):
        yield f"two of the choices {', '.join(one.choices)} are the same"
    if one.answer not in one.choices:
        yield f"the answer {_shown(one.answer)} is none of the choices {', '.join(one.choices)}"


def _figure(text: str) -> str:
    """A choice as judges' replies are compared: "two" and "2" are one answer."""
    number = 0 if text in _NOTHING else number_of(text)
    return text if number is None else str(number)


def _repeated(questions: Sequence[str]) -> Iterator[str]:
    seen: set[str] = set()
    for question in questions:
        if question.casefold() in seen:
            yield f"{_shown(question)} is asked twice"
        seen.add(question.casefold())


def _dependency_problems(made: Sequence[Proposition]) -> Iterator[str]:
    numbers = [one.id for one in made]
    if len(set(numbers)) < len(numbers):
        yield "an id is given twice"
    for one in made:
        for parent in {*one.depends_on} - {*numbers}:
            yield f"id {one.id} depends on {parent}, and there is no such id"
    try:
        TopologicalSorter({one.id: one.depends_on for one in made}).prepare()
    except CycleError as error:
        yield f"dependencies in a circle: {' on '.join(map(str, error.args[1][::-1]))}"


def _shown(text: str) -> str:
    return repr(text[:_N_SHOWN])
