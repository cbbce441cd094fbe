"""Strict parsing of a judge's reply: exactly the requested numbers, by name and in range, or a problem.

Unambiguous replies are read in any wrapping: prose around a single JSON object, a number in quotes, labels in a list or
a table, a fraction of the scale, a total that adds up. Nothing is guessed: two numbers for one label, a range, a
fraction of anything else or digits of another script are a problem, and a problem never becomes a zero.
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
from salva.judges.labelled_numbers import LABELS, SCORE, TOTAL, labelled_numbers
from salva.judges.prompts import reason_name

_N_SHOWN = 80
_LONGEST_ANSWER = 200
_MOST_TRIES = 200
"""Places in a reply where a JSON object could begin; with more the reply is refused."""
_TOTAL = re.compile(rf"(?:^|[^a-z0-9])(?:{LABELS[TOTAL]}) ?{SCORE}?\Z")
_BRACKETS = re.compile(r"\[\[(.*?)\]\]", re.DOTALL)
_NUMBER = re.compile(r"(\d{1,4}(?:\.\d{1,6})?)(?:\s*/\s*(\d{1,4}))?", re.ASCII)
"""A number, or a fraction of the scale."""
_REASON = re.compile(r"^[\s*`-]*q(\d{1,3}) reason:[ \t]*(\S.*?)[ \t]*$", re.IGNORECASE | re.MULTILINE)
_NOTHING = ("0", "zero", "none")
_SCORES = {half.key: half.name for half in HALVES}


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedReply:
    """A text, scores, or a problem."""

    text: str = ""
    scores: Mapping[str, float] = field(default_factory=dict)
    problem: str = ""
    reasons: Mapping[str, str] = field(default_factory=dict)
    """The reasons for the scores, if requested; a missing one is no problem."""


class _Unreadable(Exception):
    """Carries the problem of a ParsedReply."""


def read_reply(query: Query, reply: str, *, is_bare: bool = False) -> ParsedReply:
    """The parsed reply: JSON, or the form with double brackets.

    is_bare: the judge was given no form and replies with its answer alone, so a free answer needs no brackets.
    """
    try:
        return _read(query, _without_thoughts(reply), is_bare)
    except _Unreadable as problem:
        return ParsedReply(problem=str(problem))


def _without_thoughts(reply: str) -> str:
    """The reply without a model's thoughts, which some endpoints send between tags."""
    _, _, rest = reply.rpartition("</think>")
    if "<think>" in rest:
        raise _Unreadable("the reply ends in the middle of its thoughts")
    return rest.replace("\r\n", "\n").strip()


def _read(query: Query, reply: str, is_bare: bool) -> ParsedReply:
    if not reply:
        raise _Unreadable("the reply is empty")
    parsed, around = _find_object(reply, _json_names(query))
    if parsed is not None:
        read = _from_json(query, parsed)
        _check_no_others(around, read.scores, _highest(query))
        return read
    if query.kind == "answer":
        # A choice can be recognised; a free answer differs from a refusal only by the form.
        return ParsedReply(text=_answer(query, _in_brackets(reply, is_needed=not (is_bare or query.choices))))
    names = _names(query)
    reasons = {f"q{number}": reason for number, reason in _REASON.findall(reply)} if query.criteria else {}
    rated = _REASON.sub("", reply) if query.criteria else reply
    if _BRACKETS.search(reply):
        scores = _from_text(reply, names, _highest(query), has_total=query.kind == "score")
        _check_no_others(rated, scores, _highest(query))
    else:
        scores = _from_labels(rated, names, _highest(query), has_total=query.kind == "score")
    return ParsedReply(scores=scores, reasons={name: reasons[name] for name in names if name in reasons})


def _names(query: Query) -> dict[str, str]:
    """The keys of the requested numbers, and their names in the prompt."""
    if query.kind == "score":
        return _SCORES
    return {f"q{i}": f"q{i}" for i in range(1, len(query.questions) + 1)}


def _json_names(query: Query) -> set[str]:
    """The requested names in JSON."""
    return {"answer"} if query.kind == "answer" else set(_names(query))


def _highest(query: Query) -> float:
    return float(HIGHEST) if query.kind == "score" else 1.0


def _find_object(reply: str, names: set[str]) -> tuple[dict[str, object] | None, str]:
    """The only JSON object of a reply that has the requested names, or None; and the text around it."""
    decoder = json.JSONDecoder(object_pairs_hook=_without_duplicates)
    objects: list[dict[str, object]] = []
    around, at, n_tries, problem = "", 0, 0, ""
    while (start := reply.find("{", at)) >= 0:
        around += reply[at:start]
        n_tries += 1
        try:
            parsed, at = decoder.raw_decode(reply, start)
        except RecursionError:
            raise _Unreadable("the reply begins like JSON and nests too deeply") from None
        except ValueError as error:
            problem = problem or str(error)
            around, at = around + "{", start + 1
        else:
            objects.append(parsed)
        if n_tries > _MOST_TRIES:
            raise _Unreadable(f"the reply has {n_tries} opening braces")
    around += reply[at:]
    matches = [parsed for parsed in objects if not names.isdisjoint(parsed)]
    if not matches:
        if not reply.lstrip("`jsonJSON \n\t").startswith("{"):
            return None, reply
        why = f"has {_list_names(objects[0])} instead of {_list_names(names)}" if objects else f"is invalid: {problem}"
        raise _Unreadable(f"the reply begins like JSON and {why}")
    if len(objects) > 1:
        raise _Unreadable(f"the reply has {len(objects)} JSON objects instead of one")
    if _BRACKETS.search(around) or re.search(rf'"(?:{"|".join(sorted(names))})"\s*:', around):
        raise _Unreadable("the reply has values in JSON and outside of it")
    return matches[0], around


def _from_json(query: Query, reply: dict[str, object]) -> ParsedReply:
    names = _json_names(query)
    if not names <= reply.keys():
        raise _Unreadable(f"the reply has {_list_names(reply)} instead of {_list_names(names)}")
    if duplicates := [name for name in reply if name not in names and name.strip().casefold() in names]:
        raise _Unreadable(f"the reply has a name twice: {_list_names(duplicates)}")
    if query.kind == "answer":
        value = reply["answer"]
        if not isinstance(value, str):
            raise _Unreadable(f"the answer is {_excerpt(value)}, which is no text")
        return ParsedReply(text=_answer(query, value))
    reasons = {}
    for name in _names(query) if query.criteria else ():
        reason = reply.get(reason_name(name))
        if isinstance(reason, str) and reason:
            reasons[name] = reason
    scores = {name: _in_range(name, reply[name], _highest(query)) for name in _names(query)}
    for name, total in reply.items():
        if query.kind == "score" and _TOTAL.search(name.casefold()) and _is_amount(total):
            _check_total(scores, _in_range(name, total, 2 * _highest(query)))
    return ParsedReply(scores=scores, reasons=reasons)


def _without_duplicates(pairs: list[tuple[str, object]]) -> dict[str, object]:
    by_name = dict(pairs)
    if len(by_name) < len(pairs):
        raise _Unreadable("the reply has a name twice")
    return by_name


def _check_total(scores: Mapping[str, float], total: float) -> None:
    if total != sum(scores.values()):
        raise _Unreadable(f"the total is {total:g}, but the ratings add up to {sum(scores.values()):g}")


def _check_no_others(text: str, scores: Mapping[str, float], highest: float) -> None:
    """Refuse a reply whose text gives another number for a label than its form does."""
    found = labelled_numbers(text, dict.fromkeys(scores, highest)).numbers if scores else {}
    if others := [name for name, numbers in found.items() if numbers != {scores[name]}]:
        raise _Unreadable(f"the reply has two numbers for {_list_names(others)}")


def _from_labels(reply: str, names: Mapping[str, str], highest: float, *, has_total: bool) -> dict[str, float]:
    """The only number after each name in a reply without the form, such as `Relevance: 30/50` or a row of a table."""
    scales = dict.fromkeys(names, highest) | ({TOTAL: 2 * highest} if has_total else {})
    found = labelled_numbers(reply, scales)
    if missing := [name for key, name in names.items() if key not in found.numbers]:
        raise _Unreadable(f"the reply has no rating in double brackets for {_list_names(missing)}")
    if not found.is_certain or any(len(numbers) > 1 for numbers in found.numbers.values()):
        raise _Unreadable("the reply has other numbers beside its ratings")
    given = {key: _in_range(names.get(key, key), number, scales[key]) for key, (number,) in found.numbers.items()}
    if TOTAL in given:
        _check_total({key: given[key] for key in names}, given[TOTAL])
    return {key: given[key] for key in names}


def _fraction(text: str, highest: float) -> float | None:
    """The number of a text that holds nothing else, or a fraction of the scale; None for any other text."""
    found = _NUMBER.fullmatch(text.strip())
    return float(found[1]) if found and float(found[2] or highest) == highest else None


def _is_amount(value: object) -> bool:
    if isinstance(value, str):
        return _NUMBER.fullmatch(value.strip()) is not None
    return isinstance(value, int | float) and not isinstance(value, bool)


def _in_range(name: str, value: object, highest: float) -> float:
    if isinstance(value, str) and (number := _fraction(value, highest)) is not None:
        value = number
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise _Unreadable(f"{name} is {_excerpt(value)}, which is no number")
    if not 0 <= value <= highest:
        raise _Unreadable(f"{name} is {_excerpt(value)}; it must be from 0 to {highest:g}")
    return float(value)


def _from_text(reply: str, names: Mapping[str, str], highest: float, *, has_total: bool) -> dict[str, float]:
    """The number in double brackets after each name; brackets and names must match one to one.

    has_total: the reply may also give the sum of the numbers.
    """
    plain = re.sub(r"[*`]", "", reply)
    scores: dict[str, float] = {}
    total: float | None = None
    end = 0
    for bracket in _BRACKETS.finditer(plain):
        before, end = plain[end : bracket.start()], bracket.end()
        inside = bracket.group(1).strip()
        if has_total and total is None and _TOTAL.search(_label_of(before, 2 * highest)):
            total = _rating("the total", inside, 2 * highest)
            continue
        name = _name_before(before, names, highest)
        if name is None:
            raise _Unreadable(
                f"the rating {_excerpt(bracket.group(0))} comes after none of {_list_names(names.values())}"
            )
        if name in scores:
            raise _Unreadable(f"{names[name]} is rated twice")
        scores[name] = _rating(names[name], inside, highest)
    missing = [names[name] for name in names if name not in scores]
    if missing:
        raise _Unreadable(f"the reply has no rating in double brackets for {_list_names(missing)}")
    if total is not None:
        _check_total(scores, total)
    return {name: scores[name] for name in names}


def _rating(name: str, inside: str, highest: float) -> float:
    number = _fraction(inside, highest)
    if number is None:
        raise _Unreadable(f"{name} is {_excerpt(inside)}, which is no number from 0 to {highest:g}")
    return _in_range(name, number, highest)


def _label_of(before: str, highest: float) -> str:
    """The text before a bracket, without the range and a colon of either width."""
    label = re.sub(r"\s*[:=：]?\s*\Z", "", before)
    label = re.sub(rf"\s*[(（]\s*0\s*(?:-|–|to)\s*{highest:g}(?:\s+points|\s*分)?\s*[)）]\Z", "", label)
    return re.sub(r"\s*[:=：]?\s*\Z", "", label).casefold()


def _name_before(before: str, names: Mapping[str, str], highest: float) -> str | None:
    """The name at the end of the text before a bracket."""
    label = _label_of(before, highest)
    for key, name in names.items():
        wanted = LABELS.get(key, re.escape(name.casefold()))
        if re.search(rf"(?<![^\W_])(?:{wanted}) ?{SCORE}?\Z", label):
            return key
    return None


def _in_brackets(reply: str, *, is_needed: bool) -> str:
    """The only answer in double brackets; without brackets the whole reply, unless they are needed."""
    bracketed = _BRACKETS.findall(reply)
    if not bracketed and is_needed:
        raise _Unreadable(f"the reply {_excerpt(reply)} has no answer in double brackets")
    if len(bracketed) > 1:
        raise _Unreadable(f"the reply has {len(bracketed)} answers in double brackets instead of one")
    return str(bracketed[0]) if bracketed else reply


def _answer(query: Query, given: str) -> str:
    """The choice that the text names; without choices the text itself in lower case."""
    text = given.strip().strip("\"'“”‘’*`").rstrip(".!").strip().strip("\"'“”‘’*`")
    if not query.choices:
        # The word "answer" only repeats the form.
        if text.casefold() in ("", "answer") or "\n" in text or len(text) > _LONGEST_ANSWER:
            raise _Unreadable(f"the answer is {_excerpt(given)} instead of a few words on one line")
        return text.lower()
    same = [choice for choice in query.choices if _plain(text) == _plain(choice)]
    if len(same) > 1:
        same = [choice for choice in same if text == choice]
    if len(same) != 1:
        raise _Unreadable(f"the answer is {_excerpt(given)}, which is none of {_list_names(query.choices)}")
    return same[0]


def _plain(text: str) -> str:
    """The text in lower case, a number in digits."""
    text = text.casefold().rstrip(".!")
    number = 0 if text in _NOTHING else number_of(text)
    return text if number is None else str(number)


def _list_names(names: Iterable[str]) -> str:
    text = " ".join(", ".join(sorted(names)).split())
    return text[: 2 * _N_SHOWN] or "nothing"


def _excerpt(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _N_SHOWN else f"{text[: _N_SHOWN - 1]}…"
