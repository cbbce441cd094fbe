"""Imported answers to verdicts, with the scores that the checks give."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from salva.checks.answers import NOTHING_SEEN, is_nothing_seen
from salva.core.case import Case
from salva.core.verdict import PAIR, Failure, Outcome, Verdict
from salva.english.contrasts import questions_of_contrast
from salva.logic.entailment import excludes
from salva.logic.notation import parse
from salva.stats.pair_scores import clip_divisor, mean, pair_scores

_OBSERVERS = ("imported",)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerRow:
    """One answer about one image."""

    question: str
    expected: str
    answer: str
    """In lower case; empty when the file has only whether it was right."""
    is_right: bool | None
    """None when there is no answer."""
    is_grounded: bool | None = None
    """Whether it is right and what it depends on holds; None where the file does not say."""

    @property
    def heard(self) -> str:
        """What is compared between two images."""
        return self.answer or ("right" if self.is_right else "wrong")


@dataclass(frozen=True, slots=True, kw_only=True)
class ClipRow:
    """The CLIP scores of a pair."""

    a: float
    b: float
    image_similarity: float | None = None


def verdict_of(
    case: Case, model: str, answers: Mapping[str, Sequence[AnswerRow]] | None, clip: ClipRow | None, clip_scale: str
) -> Verdict:
    """The verdict of a pair under one model."""
    scores: dict[str, float] = {}
    if clip is not None:
        scores |= pair_scores("clip", clip.a, clip.b, divide_by=clip_divisor(clip_scale, "scaled"))
        if clip.image_similarity is not None:
            scores["image_similarity"] = clip.image_similarity
    sides = {side: list((answers or {}).get(side, ())) for side in ("A", "B")}
    reason = _undecided(sides)
    failures: list[Failure] = []
    differing: list[Failure] = []
    compared: dict[str, Failure | None] = {}
    if not any(row.is_right is None for rows in sides.values() for row in rows) and all(sides.values()):
        faith = {side: mean(float(bool(row.is_right)) for row in rows) for side, rows in sides.items()}
        scores |= {f"n_counted_{side}": float(len(rows)) for side, rows in sides.items()}
        scores |= {**pair_scores("faith", faith["A"], faith["B"]), **_dsg(sides)}
    if not reason:
        compared = _compared(sides)
        differing = [failure for failure in compared.values() if failure]
        scores |= {"n_compared_answers": float(len(compared)), "agreement": 1 - len(differing) / len(compared)}
        failures = [*differing, *_wrong(sides)]
    is_contrast = case.check == "must-differ"
    if is_contrast and not reason:
        telling = _telling(case, sides)
        differing = [failure for question, failure in compared.items() if failure and question in telling]
        reason = "" if telling else "no common question distinguishes the prompts"
    heard = [row.heard for rows in sides.values() for row in rows]
    if not reason and not is_contrast and case.equivalent is None and is_nothing_seen(heard):
        reason = NOTHING_SEEN
    if is_contrast and not reason and not differing and not _excludes(case):
        reason = "equal answers, and some images are right for both prompts"
    is_fail = not reason and (not differing if is_contrast else bool(differing))
    if is_fail and is_contrast:
        same = Failure(failure_type="no-difference", role="", message="equal answers for both images")
        failures = [same, *failures]
    outcome = Outcome.UNDECIDED if reason else Outcome.FAIL if is_fail else Outcome.PASS
    return Verdict(
        case_id=case.case_id,
        repeat=0,
        arm=PAIR,
        model=model,
        check=case.check,
        observers=_OBSERVERS,
        outcome=outcome,
        failure_types=(failures[0].failure_type,) if is_fail else (),
        failures=tuple(failures) if is_fail else (),
        scores=scores,
        reason=reason,
    )


def _dsg(sides: Mapping[str, Sequence[AnswerRow]]) -> dict[str, float]:
    """The share of answers that are right and rest on right ones, where the files say that of every answer."""
    marks = {side: [row.is_grounded for row in rows] for side, rows in sides.items()}
    if any(mark is None for side in marks.values() for mark in side):
        return {}
    a, b = (mean(float(bool(mark)) for mark in marks[side]) for side in ("A", "B"))
    return {"dsg_A": a, "dsg_B": b, "dsg_mean": (a + b) / 2}


def _excludes(case: Case) -> bool:
    """Whether no image is right for both prompts."""
    a, b = (prompt.formula for prompt in case.prompts)
    return a is not None and b is not None and excludes(parse(a), parse(b))


def _telling(case: Case, sides: Mapping[str, Sequence[AnswerRow]]) -> Collection[str]:
    """The questions about both images that are about what the prompts say differently; all where nobody knows."""
    a, b = (prompt.formula for prompt in case.prompts)
    shared = {row.question for row in sides["A"]} & {row.question for row in sides["B"]}
    return questions_of_contrast(parse(a), parse(b), shared) if a is not None and b is not None else shared


def _undecided(sides: Mapping[str, Sequence[AnswerRow]]) -> str:
    """Why nobody can tell, or nothing."""
    empty = [side for side, rows in sides.items() if not rows]
    if len(empty) == 2:
        return "no answers about the images"
    if empty:
        return f"no answers about image {empty[0]}"
    for side, rows in sides.items():
        silent = [row.question for row in rows if row.is_right is None]
        if silent:
            return f"{len(silent)} of {len(rows)} questions about image {side} unanswered: {silent[0]!r}"
    if not {row.question for row in sides["A"]} & {row.question for row in sides["B"]}:
        return "no common question"
    return ""


def _compared(sides: Mapping[str, Sequence[AnswerRow]]) -> dict[str, Failure | None]:
    """The questions both images were asked, each with its failure where it was answered differently."""
    a, b = ({row.question: row for row in sides[side]} for side in ("A", "B"))
    return {question: _difference(question, a[question], b[question]) for question in a if question in b}


def _difference(question: str, a: AnswerRow, b: AnswerRow) -> Failure | None:
    if a.heard == b.heard:
        return None
    message = f"{question} {a.heard} in image 'a', {b.heard} in image 'b'"
    return Failure(failure_type="answer-differs", role="", message=message, expected=a.heard, seen=b.heard)


def _wrong(sides: Mapping[str, Sequence[AnswerRow]]) -> list[Failure]:
    return [
        Failure(
            failure_type="wrong-answer",
            role=side.lower(),
            message=f"{row.question} {row.heard}; expected {row.expected}",
            expected=row.expected,
            seen=row.heard,
        )
        for side, rows in sides.items()
        for row in rows
        if not row.is_right
    ]
