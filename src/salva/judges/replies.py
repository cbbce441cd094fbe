"""What a judge replied, read strictly: exactly the asked numbers, by their names, in range; or why it cannot be read.

A query and a reply come in, text or scores or a problem go out. What leaves no doubt is read, however it is wrapped:
prose around the one JSON object, a number in quotes, a total that adds up. Nothing is guessed: of two candidates, a
range, a fraction of fifty or another alphabet's digits none is taken, and a problem is never a zero.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from salva.core.protocols import Query
from salva.core.score_rubric import HALVES, HIGHEST
from salva.english.words import number_of
from salva.judges.prompts import reason_name

_N_SHOWN = 80
_LONGEST_ANSWER = 200
_MOST_TRIES = 200
"""So many places where an object could begin are tried; a reply with more of them is no reply."""
_TOTAL = re.compile(r"(?:^|[^a-z0-9])(?:total|overall|sum)(?: score| rating| points)?\Z")
_BRACKETS = re.compile(r"\[\[(.*?)\]\]", re.DOTALL)
_NUMBER = re.compile(r"\d{1,4}(?:\.\d{1,6})?", re.ASCII)
_REASON = re.compile(r"^[\s*`-]*q(\d{1,3}) reason:[ \t]*(\S.*?)[ \t]*$", re.IGNORECASE | re.MULTILINE)
_NOTHING = ("0", "zero", "none")
_SCORES = {half.key: half.name for half in HALVES}


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedReply:
    """A reply as far as it could be read; either a problem, or one of the other two."""

    text: str = ""
    scores: Mapping[str, float] = field(default_factory=dict)
    problem: str = ""
    reasons: Mapping[str, str] = field(default_factory=dict)
    """Why each score was given, where that was asked; one that is missing is no problem."""


class _Unreadable(Exception):
    """Carries the problem to where it becomes a Read."""


def read_reply(query: Query, reply: str, *, is_bare: bool = False) -> ParsedReply:
    """What the reply says to the query; JSON is read as JSON, anything else in the form with double brackets.

    is_bare: the judge knows no form and replies with its answer alone, so that a free answer needs no brackets.
    """
    try:
        return _read(query, _spoken(reply), is_bare)
    except _Unreadable as problem:
        return ParsedReply(problem=str(problem))


def _spoken(reply: str) -> str:
    """The reply without what a thinking model wrote before it; some endpoints send that along, between tags."""
    _, _, spoken = reply.rpartition("</think>")
    if "<think>" in spoken:
        raise _Unreadable("the reply ends in the middle of its thoughts")
    return spoken.replace("\r\n", "\n").strip()


def _read(query: Query, reply: str, is_bare: bool) -> ParsedReply:
    if not reply:
        raise _Unreadable("the reply is empty")
    given = _object_in(reply, _asked(query))
    if given is not None:
        return _from_json(query, given)
    if query.kind == "answer":
        # One of the choices is known when it is seen; of a free answer only the form tells it from a refusal.
        return ParsedReply(text=_answer(query, _in_brackets(reply, is_needed=not (is_bare or query.choices))))
    names = _names(query)
    scores = _from_text(reply, names, _highest(query), has_total=query.kind == "score")
    said = {f"q{number}": reason for number, reason in _REASON.findall(reply)} if query.criteria else {}
    return ParsedReply(scores=scores, reasons={name: said[name] for name in names if name in said})


def _names(query: Query) -> dict[str, str]:
    """What is asked for, and how the judge was told to call it."""
    if query.kind == "score":
        return _SCORES
    return {f"q{i}": f"q{i}" for i in range(1, len(query.questions) + 1)}


def _asked(query: Query) -> set[str]:
    """The names of what is asked for, in JSON."""
    return {"answer"} if query.kind == "answer" else set(_names(query))


def _highest(query: Query) -> float:
    return float(HIGHEST) if query.kind == "score" else 1.0


def _object_in(reply: str, asked: set[str]) -> dict[str, object] | None:
    """The one JSON object of a reply that gives what is asked for, whatever stands around it; None where none does."""
    decoder = json.JSONDecoder(object_pairs_hook=_once_each)
    objects: list[dict[str, object]] = []
    around, at, n_tries, problem = "", 0, 0, ""
    while (start := reply.find("{", at)) >= 0:
        around += reply[at:start]
        n_tries += 1
        try:
            made, at = decoder.raw_decode(reply, start)
        except RecursionError:
            raise _Unreadable("the reply begins like JSON and nests too deeply") from None
        except ValueError as error:
            problem = problem or str(error)
            around, at = around + "{", start + 1
        else:
            objects.append(made)
        if n_tries > _MOST_TRIES:
            raise _Unreadable("the reply begins like JSON again and again and is none")
    around += reply[at:]
    given = [made for made in objects if not asked.isdisjoint(made)]
    if not given:
        if reply.lstrip("`jsonJSON \n\t").startswith("{"):
            told = (
                f"has {_listed(objects[0])} where {_listed(asked)} is asked for" if objects else f"is none: {problem}"
            )
            raise _Unreadable(f"the reply begins like JSON and {told}")
        return None
    if len(objects) > 1:
        raise _Unreadable(f"the reply holds {len(objects)} JSON objects, and one is asked for")
    if _BRACKETS.search(around) or re.search(rf'"(?:{"|".join(sorted(asked))})"\s*:', around):
        raise _Unreadable("the reply says it twice, in JSON and beside it")
    return given[0]


def _from_json(query: Query, reply: dict[str, object]) -> ParsedReply:
    asked = _asked(query)
    if not asked <= reply.keys():
        raise _Unreadable(f"the reply has {_listed(reply)} where {_listed(asked)} is asked for")
    if doubled := [name for name in reply if name not in asked and name.strip().casefold() in asked]:
        raise _Unreadable(f"the reply says one name twice: {_listed(doubled)}")
    given = {name: reply.get(reason_name(name), "") for name in _names(query)} if query.criteria else {}
    reasons = {name: reason for name, reason in given.items() if isinstance(reason, str) and reason}
    if query.kind == "answer":
        value = reply["answer"]
        if not isinstance(value, str):
            raise _Unreadable(f"the answer is {_shown(value)}, which is no text")
        return ParsedReply(text=_answer(query, value))
    scores = {name: _in_range(name, reply[name], _highest(query)) for name in _names(query)}
    for name, total in reply.items():
        if query.kind == "score" and _TOTAL.search(name.casefold()) and _is_amount(total):
            _check_total(scores, _in_range(name, total, 2 * _highest(query)))
    return ParsedReply(scores=scores, reasons=reasons)


def _once_each(pairs: list[tuple[str, object]]) -> dict[str, object]:
    by_name = dict(pairs)
    if len(by_name) < len(pairs):
        raise _Unreadable("the reply says one name twice")
    return by_name


def _check_total(scores: Mapping[str, float], total: float) -> None:
    if total != sum(scores.values()):
        raise _Unreadable(f"the reply's total is {total:g}, and its ratings come to {sum(scores.values()):g}")


def _is_amount(value: object) -> bool:
    if isinstance(value, str):
        return _NUMBER.fullmatch(value.strip()) is not None
    return isinstance(value, int | float) and not isinstance(value, bool)


def _in_range(name: str, value: object, highest: float) -> float:
    if isinstance(value, str) and _NUMBER.fullmatch(value.strip()):
        value = float(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise _Unreadable(f"{name} is {_shown(value)}, which is no number")
    if not 0 <= value <= highest:
        raise _Unreadable(f"{name} is {_shown(value)}; it must be from 0 to {highest:g}")
    return float(value)


def _from_text(reply: str, names: Mapping[str, str], highest: float, *, has_total: bool) -> dict[str, float]:
    """The number in double brackets after each name; every bracket must belong to a name, and each name have one.

    has_total: beside the names, their sum may be told, as long as it is their sum.
    """
    plain = re.sub(r"[*`]", "", reply)
    scores: dict[str, float] = {}
    total: float | None = None
    end = 0
    for bracket in _BRACKETS.finditer(plain):
        before, end = plain[end : bracket.start()], bracket.end()
        inside = bracket.group(1).strip()
        if has_total and total is None and _TOTAL.search(_label_of(before, 2 * highest)):
            total = _rated("the total", inside, 2 * highest)
            continue
        name = _named_by(before, names, highest)
        if name is None:
            raise _Unreadable(f"the rating {_shown(bracket.group(0))} stands after none of {_listed(names.values())}")
        if name in scores:
            raise _Unreadable(f"{names[name]} is rated twice")
        scores[name] = _rated(names[name], inside, highest)
    missing = [names[name] for name in names if name not in scores]
    if missing:
        raise _Unreadable(f"the reply has no rating in double brackets for {_listed(missing)}")
    if total is not None:
        _check_total(scores, total)
    return {name: scores[name] for name in names}


def _rated(name: str, inside: str, highest: float) -> float:
    if not _NUMBER.fullmatch(inside):
        raise _Unreadable(f"{name} is {_shown(inside)}, which is no number from 0 to {highest:g}")
    return _in_range(name, float(inside), highest)


def _label_of(before: str, highest: float) -> str:
    """The text right before a bracket, without the range and a colon of either width."""
    label = re.sub(r"\s*[:=：]?\s*\Z", "", before)
    label = re.sub(rf"\s*[(（]\s*0\s*(?:-|–|to)\s*{highest:g}(?:\s+points)?\s*[)）]\Z", "", label)
    return re.sub(r"\s*[:=：]?\s*\Z", "", label).casefold()


def _named_by(before: str, names: Mapping[str, str], highest: float) -> str | None:
    """The name that the text right before a bracket ends with."""
    label = _label_of(before, highest)
    for key, name in names.items():
        wanted = name.casefold()
        if label.endswith(wanted) and not label[: -len(wanted)][-1:].isalnum():
            return key
    return None


def _in_brackets(reply: str, *, is_needed: bool) -> str:
    """The one answer in double brackets; without any, the whole reply where that will do."""
    bracketed = _BRACKETS.findall(reply)
    if not bracketed and is_needed:
        raise _Unreadable(f"the reply {_shown(reply)} has no answer in double brackets")
    if len(bracketed) > 1:
        raise _Unreadable(f"the reply has {len(bracketed)} answers in double brackets, and one is asked for")
    return str(bracketed[0]) if bracketed else reply


def _answer(query: Query, given: str) -> str:
    """The choice the text is, as it is written; without choices the text itself in lower case."""
    text = given.strip().strip("\"'“”‘’*`").rstrip(".!").strip().strip("\"'“”‘’*`")
    if not query.choices:
        # The word "answer" is what the form says; whoever repeats it has not answered.
        if text.casefold() in ("", "answer") or "\n" in text or len(text) > _LONGEST_ANSWER:
            raise _Unreadable(f"the answer is {_shown(given)}, and a few words on one line are asked for")
        return text.lower()
    same = [choice for choice in query.choices if _plain(text) == _plain(choice)]
    if len(same) > 1:
        same = [choice for choice in same if text == choice]
    if len(same) != 1:
        raise _Unreadable(f"the answer is {_shown(given)}, which is none of {_listed(query.choices)}")
    return same[0]


def _plain(text: str) -> str:
    """The text in small letters; a number is its figure, however it is written."""
    text = text.casefold().rstrip(".!")
    number = 0 if text in _NOTHING else number_of(text)
    return text if number is None else str(number)


def _listed(names: Iterable[str]) -> str:
    text = " ".join(", ".join(sorted(names)).split())
    return text[: 2 * _N_SHOWN] or "nothing"


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _N_SHOWN else f"{text[: _N_SHOWN - 1]}…"
