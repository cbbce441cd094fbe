"""CF-World's files of evaluation questions: entries come in, questions of a group and level go out, odd ones named."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from salva.core.case import Finding
from salva.core.case_sets import slug
from salva.core.fingerprint import Json
from salva.core.question import Question
from salva.suites.cfworld.gaps import gap
from salva.suites.cfworld.groups import INTEGRITY, LOGIC, POINT, WEIGHTS

_KIND_WORDS = {
    **dict.fromkeys(("visual", "integrity"), INTEGRITY),
    **dict.fromkeys(("assessment", "point", "points"), POINT),
    **dict.fromkeys(("logic", "logical", "consistency"), LOGIC),
}
"""Words that tell a dimension, whatever else its name says: Counterfactual Logic, Logic Consistency."""
_RANGES = {INTEGRITY: (1.0, 3.0), POINT: (12.0, 16.0), LOGIC: (7.0, 9.0)}
"""The weights that the paper states."""
_STEP = re.compile(r"(?:(?<=\s)|\A)\(?(1(?:\.0+)?|0(?:\.\d+)?)\)?\s*(?:points?\s*)?[-–—=:]\s*")
_LEVEL = re.compile(r"(?:prompt|level)?[\W_]*l?[\W_]*([123])(?:\.0)?")


def read_question(entry: Mapping[str, Json], where: str) -> tuple[Question | None, list[Finding]]:
    """A question of the published form, or none where there is no text; and what is odd about it.

    where: discipline, group and level, for the findings.
    """
    text = str(entry.get("question") or "").strip()
    if not text:
        return None, [gap("no-questions", f"{where}: empty question")]
    findings: list[Finding] = []
    said = str(entry.get("question_type") or "").strip()
    kind = kind_of(said or "unnamed", None)
    if not kind:
        kind = slug(said, "unnamed")
        findings.append(gap("odd-kind", f"{where}: {said!r} weighs {entry.get('weight')!r}", said))
    given = number_of(entry.get("weight"))
    weight = given if given is not None and given > 0 else None
    low, high = _RANGES.get(kind, (0.0, math.inf))
    if weight is None or not low <= weight <= high:
        findings.append(gap("odd-weight", f"{where}: {kind} weighs {entry.get('weight')!r}", kind))
    criteria, odd = read_criteria(str(entry.get("evaluation_criteria") or ""), where)
    used = weight if weight is not None else WEIGHTS.get(kind, 1.0)
    return Question(kind=kind, text=text, criteria=criteria, weight=used), findings + odd


def kind_of(said: str, weight: float | None) -> str:
    """The dimension a question belongs to by the name of its kind, else by its weight; empty where neither tells."""
    kinds = {_KIND_WORDS[word] for word in re.findall(r"[a-z]+", said.lower()) if word in _KIND_WORDS}
    named = kinds.pop() if len(kinds) == 1 else ""
    by_weight = (kind for kind, (low, high) in _RANGES.items() if weight is not None and low <= weight <= high)
    return named or (next(by_weight, "") if not said else "")


def read_criteria(text: str, where: str) -> tuple[tuple[tuple[float, str], ...], list[Finding]]:
    """Scores with their sentences from a line such as "1.0 - all of it. 0.0 - nothing"."""
    text = " ".join(text.split())
    marks = list(_STEP.finditer(text))
    steps: dict[float, str] = {}
    ends = [*(mark.start() for mark in marks[1:]), len(text)]
    for mark, end in zip(marks, ends, strict=False):
        sentence = text[mark.end() : end].strip(" ;,")
        steps.setdefault(float(mark.group(1)), sentence)
    if not steps:
        return (((1.0, text),) if text else ()), [gap("unread-criteria", f"{where}: {text[:60]!r}")]
    return tuple(sorted(steps.items(), reverse=True)), []


def read_level(said: Json) -> str:
    """l1, l2 or l3 from "L2", "prompt_l2" or 2; else the text as it stands."""
    text = str(said).strip().lower()
    level = _LEVEL.fullmatch(text)
    return f"l{level.group(1)}" if level else text


def number_of(value: Json) -> float | None:
    """A number, also one that is written as text; None for anything else."""
    try:
        number = float(value) if isinstance(value, int | float | str) and not isinstance(value, bool) else math.nan
    except ValueError:
        return None
    return number if math.isfinite(number) else None
