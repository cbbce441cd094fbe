"""The preflight of observers.

A judge is asked about a thing that is in a drawing and about one that is not; a detector observes noise and plain
grey, where nothing is. Pure: observations in, a finding out or none.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import cycle
from typing import Protocol

from salva.assets.files import read_asset
from salva.core.boxes import boxes_above
from salva.core.image import Picture
from salva.core.observation import Answer, Detections, Observation
from salva.core.protocols import Query
from salva.imaging.files import decode_picture

KINDS = ("answer", "score", "grade")
"""What a judge can be asked for; one that a plugin asks something else is not tried."""
_THERE, _NOT_THERE = "a cat", "an airplane"
_SIDE = 256
_N_SHOWN = 3
_HIGHEST = {"score": 50.0, "grade": 1.0}
"""What a judge can give at most, by what it is asked for; the least is 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialQuestion:
    """A query about an image of ours."""

    picture: Picture
    query: Query


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialProblem:
    """What is wrong with an observer, as the rest of a sentence that begins with its name."""

    problem: str
    advice: str = ""
    """What to do besides naming another one."""
    stops: bool = True
    """Whether a run must not go on with it; else it is only told."""


class Trial(Protocol):
    """Questions, and what to make of the answers."""

    def questions(self) -> tuple[TrialQuestion, ...]:
        """What is asked."""

    def finding(self, seen: Sequence[Observation]) -> TrialProblem | None:
        """What is wrong; seen: one observation for each question."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeTrial:
    """A true and a false question of one kind."""

    kind: str
    relies_on_others: bool = False
    """Whether it judges what a detector saw, and cannot help it where that one sees nothing in a drawing."""

    def questions(self) -> tuple[TrialQuestion, ...]:
        """About the thing that is there, and about the one that is not."""
        labels = tuple(_noun(thing) for thing in (_THERE, _NOT_THERE))
        return tuple(
            TrialQuestion(picture=drawing(), query=_judge_query(self.kind, thing, labels))
            for thing in (_THERE, _NOT_THERE)
        )

    def finding(self, seen: Sequence[Observation]) -> TrialProblem | None:
        """A judge must say more for what is there than for what is not; one reply alone tells nothing apart."""
        there, absent = (_worth(self.kind, answer) for answer in seen)
        readable = [value for value in (there, absent) if value is not None]
        if len(readable) == 2 and readable[0] > readable[1]:
            return None
        replies = "; ".join(
            f"{question.query.text or question.query.questions[0]}: {_replied(self.kind, answer)}"
            for question, answer in zip(self.questions(), seen, strict=True)
        )
        is_blind = self.relies_on_others and readable == [0, 0]
        why = ", and cannot help it if its detector sees nothing in a drawing" if is_blind else ""
        return TrialProblem(
            problem=f"was shown a drawing of {_THERE} and did not tell true from false{why} ({replies})",
            stops=not is_blind,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class DetectorTrial:
    """Images of nothing."""

    queries: tuple[Query, ...] = (Query(role="detector"),)
    """As the run asks: one that takes words may see in noise what it is asked for."""
    thresholds: tuple[float | None, ...] = ()
    """The scores from which the run's checks count a box; None for the detector's own."""

    def questions(self) -> tuple[TrialQuestion, ...]:
        """What is in noise, and what in plain grey."""
        return tuple(
            TrialQuestion(picture=picture, query=query) for query in self.queries for picture in _nothings().values()
        )

    def finding(self, seen: Sequence[Observation]) -> TrialProblem | None:
        """Nothing may count in either; without scores nobody can draw a line, so that is only told."""
        made_up = []
        has_scores = True
        for where, detections in zip(cycle(_nothings()), seen, strict=False):
            assert isinstance(detections, Detections), "the seam takes nothing else from a detector"
            has_scores = has_scores and detections.threshold is not None
            for box in boxes_above(detections, self._least(detections)):
                score = f" ({box.score:.2f})" if has_scores else ""
                made_up.append(f"{box.label}{score} in {where}")
        if not made_up:
            return None
        more = f" and {len(made_up) - _N_SHOWN} more" if len(made_up) > _N_SHOWN else ""
        problem = f"sees what is not there: {', '.join(made_up[:_N_SHOWN])}{more}"
        if has_scores:
            return TrialProblem(problem=problem, advice="raise check.threshold")
        return TrialProblem(
            problem=f"{problem}. It gives no scores to tell these from what it does see; one with scores can be held "
            "to a threshold",
            stops=False,
        )

    def _least(self, detections: Detections) -> float | None:
        stated = [detections.threshold if threshold is None else threshold for threshold in self.thresholds]
        return min((threshold for threshold in stated if threshold is not None), default=None)


@cache
def drawing() -> Picture:
    """A cat, and nothing else; made by training/make_preflight.py."""
    return decode_picture(read_asset("preflight/cat.webp"), formats=("WEBP",))


@cache
def _nothings() -> Mapping[str, Picture]:
    n_bytes = 3 * _SIDE * _SIDE
    # The same bytes on every machine: another image would have another key, and be observed again.
    noise = hashlib.shake_256(b"salva preflight").digest(n_bytes)
    return {
        name: Picture(rgb=rgb, width=_SIDE, height=_SIDE)
        for name, rgb in (("noise", noise), ("plain grey", b"\x80" * n_bytes))
    }


def _judge_query(kind: str, thing: str, labels: tuple[str, ...]) -> Query:
    """A query of a kind about a thing, with its formula for judges that reason from those."""
    noun, question = _noun(thing), f"Is there {thing} in the picture?"
    if kind == "score":
        return Query(role="judge", kind=kind, text=thing, formulas=(noun,), labels=labels)
    if kind == "grade":
        return Query(role="judge", kind=kind, questions=(question,), formulas=(noun,), labels=labels)
    return Query(
        role="judge", kind=kind, text=question, choices=("yes", "no"), formulas=(noun, f"!{noun}"), labels=labels
    )


def _noun(thing: str) -> str:
    return thing.split()[-1]


def _worth(kind: str, answer: Observation) -> float | None:
    """How far a judge says that the thing is there; None where nobody can read that."""
    if not isinstance(answer, Answer) or answer.problem:
        return None
    if kind == "answer":
        return {"yes": 1.0, "no": 0.0}.get(answer.text)
    value = answer.scores.get("objects" if kind == "score" else "q1")
    return value if value is not None and 0 <= value <= _HIGHEST[kind] else None


def _replied(kind: str, answer: Observation) -> str:
    """What a judge said, for people."""
    if not isinstance(answer, Answer):
        return f"no answer but {type(answer).__name__}"
    if answer.problem:
        return f"unreadable, {answer.problem}"
    reply = answer.text or ", ".join(f"{name} {value:g}" for name, value in answer.scores.items()) or "nothing"
    if kind in _HIGHEST and _worth(kind, answer) is None:
        return f"{reply}, where a number from 0 to {_HIGHEST[kind]:g} was asked for"
    return reply
