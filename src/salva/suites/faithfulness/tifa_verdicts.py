"""Imported answers to verdicts, with the scores that the checks give."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from salva.checks.answered_pairs import WRONG_ANSWER
from salva.checks.answers import NOTHING_SEEN, is_nothing_seen
from salva.checks.must_differ import NO_DIFFERENCE
from salva.checks.right_answers import RIGHT_ANSWERS
from salva.checks.same_answers import ANSWER_DIFFERS
from salva.core.case import Case
from salva.core.verdict import PAIR, Failure, Outcome, Verdict
from salva.english.contrasts import questions_of_contrast
from salva.logic.entailment import excludes
from salva.logic.notation import parse
from salva.stats.pair_scores import clip_divisor, mean, pair_scores

SAME_ANSWERS, MUST_DIFFER = "same-answers", "must-differ"
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


Sides = Mapping[str, Sequence[AnswerRow]]
"""The answers about images A and B."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClipRow:
    """The CLIP scores of a pair."""

    a: float
    b: float
    image_similarity: float | None = None


def verdicts_of(
    case: Case, model: str, answers: Mapping[str, Sequence[AnswerRow]] | None, clip: ClipRow | None, clip_scale: str
) -> tuple[Verdict, Verdict]:
    """The verdicts of a pair under one model: each image by itself, and both compared."""
    sides = {side: list((answers or {}).get(side, ())) for side in ("A", "B")}
    return _each_image(case, model, sides), _compared_images(case, model, sides, _clip_scores(clip, clip_scale))


def _clip_scores(clip: ClipRow | None, scale: str) -> dict[str, float]:
    if clip is None:
        return {}
    likeness = {} if clip.image_similarity is None else {"image_similarity": clip.image_similarity}
    return {**pair_scores("clip", clip.a, clip.b, divide_by=clip_divisor(scale, "scaled")), **likeness}


def _each_image(case: Case, model: str, sides: Sides) -> Verdict:
    """Whether every answer about each image is right, and rests on right ones where the files say that."""
    if reason := _missing_answers(sides):
        return _verdict(case, model, RIGHT_ANSWERS, {}, reason)
    grounded = _dsg(sides)
    faith = {f"faith_{side}": _share_right(rows) for side, rows in sides.items()}
    wrong = {side: rows for side, rows in sides.items() if grounded.get(f"dsg_{side}", faith[f"faith_{side}"]) < 1}
    right = {f"right_{side.lower()}": float(side not in wrong) for side in sides}
    return _verdict(
        case,
        model,
        RIGHT_ANSWERS,
        {**faith, **grounded, **right},
        failures=_wrong(wrong),
        is_fail=bool(wrong),
        error=WRONG_ANSWER,
    )


def _share_right(rows: Sequence[AnswerRow]) -> float:
    return mean(float(bool(row.is_right)) for row in rows)


def _compared_images(case: Case, model: str, sides: Sides, scores: dict[str, float]) -> Verdict:
    """Whether the two images get the same answers; those of a contrast must not."""
    reason = _missing_answers(sides)
    if not reason:
        scores |= {f"n_counted_{side}": float(len(rows)) for side, rows in sides.items()}
        scores |= {**pair_scores("faith", _share_right(sides["A"]), _share_right(sides["B"])), **_dsg(sides)}
        reason = "" if _shared(sides) else "no common question"
    if MUST_DIFFER in case.named_checks:
        return _must_differ(case, model, sides, scores, reason)
    if reason:
        return _verdict(case, model, SAME_ANSWERS, scores, reason)
    compared = _compared(sides)
    differing = [failure for failure in compared.values() if failure]
    scores |= _agreement(compared)
    heard = [row.heard for rows in sides.values() for row in rows]
    if case.equivalent is None and is_nothing_seen(heard):
        return _verdict(case, model, SAME_ANSWERS, scores, NOTHING_SEEN)
    failures = [*differing, *_wrong(sides)]
    return _verdict(case, model, SAME_ANSWERS, scores, "", failures, is_fail=bool(differing), error=ANSWER_DIFFERS)


def _must_differ(case: Case, model: str, sides: Sides, scores: dict[str, float], reason: str) -> Verdict:
    if reason:
        return _verdict(case, model, MUST_DIFFER, scores, reason)
    compared, telling = _compared(sides), _telling(case, sides)
    scores |= _agreement(compared)
    differing = [failure for question, failure in compared.items() if failure and question in telling]
    if not telling:
        reason = "no common question distinguishes the prompts"
    elif not differing and not _excludes(case):
        reason = "equal answers, and some images are right for both prompts"
    same = Failure(failure_type=NO_DIFFERENCE, role="", message="equal answers for both images")
    failures = [same, *(failure for failure in compared.values() if failure), *_wrong(sides)]
    is_fail = not reason and not differing
    return _verdict(case, model, MUST_DIFFER, scores, reason, failures, is_fail=is_fail, error=NO_DIFFERENCE)


def _verdict(
    case: Case,
    model: str,
    check: str,
    scores: Mapping[str, float],
    reason: str = "",
    failures: Sequence[Failure] = (),
    *,
    is_fail: bool = False,
    error: str = "",
) -> Verdict:
    return Verdict(
        case_id=case.case_id,
        repeat=0,
        arm=PAIR,
        model=model,
        check=check,
        observers=_OBSERVERS,
        outcome=Outcome.UNDECIDED if reason else Outcome.FAIL if is_fail else Outcome.PASS,
        failure_types=(error,) if is_fail else (),
        failures=tuple(failures) if is_fail else (),
        scores=scores,
        reason=reason,
    )


def _agreement(compared: Mapping[str, Failure | None]) -> dict[str, float]:
    n_differing = sum(failure is not None for failure in compared.values())
    return {"n_compared_answers": float(len(compared)), "agreement": 1 - n_differing / len(compared)}


def _dsg(sides: Sides) -> dict[str, float]:
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


def _telling(case: Case, sides: Sides) -> Collection[str]:
    """The questions about both images that are about what the prompts say differently; all where nobody knows."""
    a, b = (prompt.formula for prompt in case.prompts)
    shared = _shared(sides)
    return questions_of_contrast(parse(a), parse(b), shared) if a is not None and b is not None else shared


def _shared(sides: Sides) -> set[str]:
    return {row.question for row in sides["A"]} & {row.question for row in sides["B"]}


def _missing_answers(sides: Sides) -> str:
    """Why an image cannot be judged; empty where every question about both was answered."""
    empty = [side for side, rows in sides.items() if not rows]
    if len(empty) == 2:
        return "no answers about the images"
    if empty:
        return f"no answers about image {empty[0]}"
    for side, rows in sides.items():
        silent = [row.question for row in rows if row.is_right is None]
        if silent:
            return f"{len(silent)} of {len(rows)} questions about image {side} unanswered: {silent[0]!r}"
    return ""


def _compared(sides: Sides) -> dict[str, Failure | None]:
    """The questions both images were asked, each with its failure where it was answered differently."""
    a, b = ({row.question: row for row in sides[side]} for side in ("A", "B"))
    return {question: _difference(question, a[question], b[question]) for question in a if question in b}


def _difference(question: str, a: AnswerRow, b: AnswerRow) -> Failure | None:
    if a.heard == b.heard:
        return None
    message = f"{question} {a.heard} in image 'a', {b.heard} in image 'b'"
    return Failure(failure_type=ANSWER_DIFFERS, role="", message=message, expected=a.heard, seen=b.heard)


def _wrong(sides: Sides) -> list[Failure]:
    return [
        Failure(
            failure_type=WRONG_ANSWER,
            role=side.lower(),
            message=f"{row.question} {row.heard}; expected {row.expected}",
            expected=row.expected,
            seen=row.heard,
        )
        for side, rows in sides.items()
        for row in rows
        if not row.is_right
    ]
