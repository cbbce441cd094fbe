"""Parses questions from replies.

The JSON of a reply comes in; questions go out, or problems in words that the model can be told. Nothing is mended:
an answer that is none of its choices, a dependency on nothing or on itself, a question put twice all spoil a reply.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter

from salva.core.fingerprint import Json
from salva.english.questions import NO, YES
from salva.english.words import number_of

ELEMENT_TYPES = (
    *("object", "animal/human", "food", "location", "activity", "color", "material", "shape", "attribute"),
    *("counting", "spatial", "other"),
)
"""What an element can be, by the names in TIFA's files."""
CATEGORIES = ("entity", "attribute", "relation", "global", "other")
"""What a proposition can be about, by the names in DSG's files."""
MOST_QUESTIONS = 40
_LONGEST_QUESTION, _LONGEST_ANSWER = 300, 60
_MOST_CHOICES = 8
_MOST_WORDS = 3
"""A longer answer without choices would hardly be given to the letter."""
_NOTHING = ("0", "zero", "none")
# A judge's reply is read without these around it, so a choice with them could never be given.
_AROUND = "\"'“”‘’*`.!?,;: "
_OPEN = re.compile(r"(?:what|which|who|whom|whose|where|when|why|how)\b", re.IGNORECASE)
_N_SHOWN = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Element:
    """A question in the TIFA manner, about one element of a prompt."""

    element: str
    element_type: str
    question: str
    choices: tuple[str, ...]
    """Empty where any answer is allowed."""
    answer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposition:
    """A yes-or-no question in the DSG manner; yes is right."""

    number: int
    category: str
    detail: str
    parts: tuple[str, ...]
    question: str
    depends_on: tuple[int, ...]
    """Numbers of propositions without which this one means nothing."""


def read_elements(reply: Json) -> tuple[list[Element], list[str]]:
    """The questions of a reply in the TIFA manner, and what is wrong with it; usable only when nothing is."""
    problems: list[str] = []
    made = []
    for where, entry in _entries(reply, "questions", Element.__dataclass_fields__.keys(), problems):
        one = Element(
            element=_text(entry["element"], f"{where}: element", problems),
            element_type=_one_of(entry["element_type"], ELEMENT_TYPES, f"{where}: element_type", problems),
            question=_question(entry["question"], where, problems),
            choices=tuple(text.lower() for text in _texts(entry["choices"], f"{where}: choices", problems)),
            answer=_text(entry["answer"], f"{where}: answer", problems).lower(),
        )
        problems += [f"{where}: {problem}" for problem in _answer_problems(one)]
        made.append(one)
    problems += _repeated([question.question for question in made])
    if made and not problems and all(question.answer == YES for question in made):
        problems.append("every answer is yes, so that always saying yes would be enough")
    return made, problems


def read_propositions(reply: Json) -> tuple[list[Proposition], list[str]]:
    """The questions of a reply in the DSG manner, and what is wrong with it; usable only when nothing is."""
    problems: list[str] = []
    made = []
    keys = ("id", "category", "detail", "tuple", "question", "depends_on")
    for where, entry in _entries(reply, "propositions", keys, problems):
        question = _question(entry["question"], where, problems)
        if _OPEN.match(question):
            problems.append(f"{where}: {_shown(question)} cannot be answered with yes or no")
        made.append(
            Proposition(
                number=_number(entry["id"], f"{where}: id", problems),
                category=_one_of(entry["category"], CATEGORIES, f"{where}: category", problems),
                detail=_text(entry["detail"], f"{where}: detail", problems),
                parts=tuple(_texts(entry["tuple"], f"{where}: tuple", problems)),
                question=question,
                depends_on=_numbers(entry["depends_on"], f"{where}: depends_on", problems),
            )
        )
        if not made[-1].parts:
            problems.append(f"{where}: the tuple is empty")
    problems += _repeated([question.question for question in made])
    return made, problems + _dependency_problems(made)


def _entries(
    reply: Json, name: str, keys: Collection[str], problems: list[str]
) -> Iterator[tuple[str, Mapping[str, Json]]]:
    """The objects of the list a reply must be, with where each stands."""
    if not isinstance(reply, dict) or reply.keys() != {name}:
        problems.append(f"the reply is {_shown(reply)}; expected an object with the one key {name!r}")
        return
    listed = reply[name]
    if not isinstance(listed, list) or not 1 <= len(listed) <= MOST_QUESTIONS:
        problems.append(f"{name!r} is {_shown(listed)}; expected a list of 1 to {MOST_QUESTIONS} objects")
        return
    for i, entry in enumerate(listed, 1):
        if not isinstance(entry, dict) or entry.keys() != set(keys):
            problems.append(f"question {i} is {_shown(entry)}; expected an object with exactly {', '.join(keys)}")
        else:
            yield f"question {i}", entry


def _text(value: Json, where: str, problems: list[str], longest: int = _LONGEST_ANSWER) -> str:
    """A text on one line, with single spaces."""
    text = " ".join(value.split()) if isinstance(value, str) else ""
    if not text:
        problems.append(f"{where} is {_shown(value)}; expected words")
    elif len(text) > longest or not text.isprintable():
        problems.append(f"{where} is {_shown(value)}; expected at most {longest} printable characters")
    return text


def _texts(value: Json, where: str, problems: list[str]) -> list[str]:
    if not isinstance(value, list):
        problems.append(f"{where} is {_shown(value)}; expected a list")
        return []
    return [_text(element, where, problems) for element in value]


def _question(value: Json, where: str, problems: list[str]) -> str:
    text = _text(value, f"{where}: question", problems, _LONGEST_QUESTION)
    # Whatever begins otherwise is no sentence, and a spreadsheet might run it.
    if text and (not text[0].isalnum() or not text.endswith("?")):
        problems.append(f"{where}: {_shown(text)} is no question; it begins with a word and ends with ?")
    return text


def _one_of(value: Json, known: Sequence[str], where: str, problems: list[str]) -> str:
    if not isinstance(value, str) or value not in known:
        problems.append(f"{where} is {_shown(value)}; expected one of {', '.join(known)}")
        return ""
    return value


def _number(value: Json, where: str, problems: list[str]) -> int:
    # 0 stands for "no parent" in DSG's files.
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        problems.append(f"{where} is {_shown(value)}; expected a whole number from 1 up")
        return 0
    return value


def _numbers(value: Json, where: str, problems: list[str]) -> tuple[int, ...]:
    if not isinstance(value, list):
        problems.append(f"{where} is {_shown(value)}; expected a list of ids")
        return ()
    return tuple(_number(element, where, problems) for element in value)


def _answer_problems(one: Element) -> Iterator[str]:
    """What is wrong with the choices and the answer, which a judge's reply must be able to equal."""
    if not one.choices:
        is_number = number_of(one.answer) is not None or one.answer in _NOTHING
        if is_number or one.answer in (YES, NO):
            yield f"the answer {_shown(one.answer)} can be written in several ways; give choices"
        elif one.answer != one.answer.strip(_AROUND) or len(one.answer.split()) > _MOST_WORDS:
            yield f"the answer {_shown(one.answer)} needs choices; without them it is 1 to {_MOST_WORDS} plain words"
        return
    if not 2 <= len(one.choices) <= _MOST_CHOICES:
        yield f"{len(one.choices)} choices; expected 2 to {_MOST_CHOICES}, or an empty list"
    for choice in one.choices:
        if choice != choice.strip(_AROUND) or ";" in choice:
            yield f"the choice {_shown(choice)} has punctuation around it or a semicolon in it"
    if len({_figure(choice) for choice in one.choices}) < len(one.choices):
        yield f"two of the choices {', '.join(one.choices)} are the same"
    if one.answer and one.answer not in one.choices:
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


def _dependency_problems(made: Sequence[Proposition]) -> list[str]:
    numbers = [question.number for question in made]
    problems = [f"the id {n} is given twice" for n in sorted({n for n in numbers if n and numbers.count(n) > 1})]
    problems += [
        f"id {question.number} depends on {parent}, and there is no such id"
        for question in made
        for parent in question.depends_on
        if parent and parent not in numbers
    ]
    try:
        TopologicalSorter({question.number: question.depends_on for question in made}).prepare()
    except CycleError as error:
        around = " on ".join(str(number) for number in error.args[1][::-1])
        problems.append(f"the dependencies go round in a circle: {around}")
    return problems


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _N_SHOWN else f"{text[: _N_SHOWN - 1]}…"
