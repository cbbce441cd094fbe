"""What an observer reports: detections, text, an answer or a vector.

Each kind turns into JSON and back without loss, because that is how the store keeps it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias, cast

from salva.core.fingerprint import Json
from salva.core.masks import Mask
from salva.core.scene import Box


@dataclass(frozen=True, slots=True, kw_only=True)
class Detection:
    """A labelled box."""

    label: str
    score: float
    box: Box
    raw: str = ""
    """What the detector itself called it, where another name was put in its place."""
    colour: str | None = None
    """What the colour_reader called it; None where nobody asked or nobody can tell."""
    mask: Mask | None = None
    """Which pixels it covers, by a detector that says so."""

    def name_for(self, wanted: Collection[str]) -> str:
        """The detector's own name where just that was asked for, else the everyday one: a man is a person unless
        somebody asks for a man."""
        return self.raw if self.raw in wanted and self.label not in wanted else self.label


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenRelation:
    """How one box stands to another, by a detector that says so itself."""

    subject: int
    """Which of the boxes, counted from 0."""
    predicate: str
    object: int
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TextSpan:
    """A run of text read in the image."""

    text: str
    score: float
    box: Box


@dataclass(frozen=True, slots=True, kw_only=True)
class Detections:
    """What a detector saw, and what its scores are worth; which boxes count is decided in core/boxes.py.

    The three numbers are None for a detector without scores.
    """

    boxes: tuple[Detection, ...] = ()
    """Every box from the floor on, the strongest first."""
    floor: float | None = None
    """Boxes with a lower score were not kept."""
    threshold: float | None = None
    """The score from which a box counts unless the relation says another."""
    doubt: float | None = None
    """A box that counts and has a lower score than this is in doubt."""
    relations: tuple[SeenRelation, ...] | None = None
    """How boxes stand to each other, the strongest first; None for a detector that says nothing of that."""

    def __post_init__(self) -> None:
        for seen in self.relations or ():
            if not (0 <= seen.subject < len(self.boxes) and 0 <= seen.object < len(self.boxes)):
                raise ValueError(f"{seen} is about boxes that are not there; there are {len(self.boxes)}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What a reader saw."""

    spans: tuple[TextSpan, ...] = ()
    reply: str = ""
    """What a reader that replies in words said, to the letter."""
    problem: str = ""
    """Why that could not be read; spans are then empty, and whether there is text nobody knows."""
    usage: Mapping[str, float] = field(default_factory=dict)
    """What it cost, as in Answer."""
    snapshot: str = ""
    """The model that read, as its endpoint names it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a judge answered, with the reply it was read from."""

    text: str
    """The answer to a question, in lower case or as its choice is written; empty for scores and grades."""
    scores: Mapping[str, float]
    """score: objects and relations, 0 to 50 each. grade: q1, q2, ..., 0 to 1 each. answer: empty."""
    reply: str = ""
    """What the judge said, to the letter."""
    problem: str = ""
    """Why the reply could not be read; text and scores are then empty, and whatever rests on them is inconclusive."""
    usage: Mapping[str, float] = field(default_factory=dict)
    """What it cost: n_calls, input_tokens, output_tokens, cost_usd, as far as known."""
    snapshot: str = ""
    """The model that answered, as its endpoint names it."""
    reasons: Mapping[str, str] = field(default_factory=dict)
    """grade with criteria: why each score was given, as far as the judge said so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Vector:
    """What an embedder made of an image or a text."""

    values: tuple[float, ...]


_WORTH = ("floor", "threshold", "doubt")

Observation: TypeAlias = Detections | Reading | Answer | Vector


def observation_to_json(observation: Observation) -> dict[str, Json]:
    """The stored form of an observation."""
    match observation:
        case Detections(boxes=boxes):
            numbers = {name: getattr(observation, name) for name in _WORTH}
            stated = {name: value for name, value in numbers.items() if value is not None}
            stored: dict[str, Json] = {"kind": "detections", "boxes": [_box_to_json(box) for box in boxes], **stated}
            if observation.relations is not None:
                stored["relations"] = [[r.subject, r.predicate, r.object, r.score] for r in observation.relations]
            return stored
        case Reading(spans=spans):
            extras: dict[str, Json] = {
                "reply": observation.reply,
                "problem": observation.problem,
                "usage": dict(observation.usage),
                "snapshot": observation.snapshot,
            }
            read: list[Json] = [{"text": s.text, "score": s.score, "box": [*s.box]} for s in spans]
            return {"kind": "reading", "spans": read, **{name: value for name, value in extras.items() if value}}
        case Answer():
            answered: dict[str, Json] = {
                "kind": "answer",
                "text": observation.text,
                "scores": dict(observation.scores),
                "reply": observation.reply,
                "problem": observation.problem,
                "usage": dict(observation.usage),
                "snapshot": observation.snapshot,
            }
            return {**answered, "reasons": dict(observation.reasons)} if observation.reasons else answered
        case Vector(values=values):
            return {"kind": "vector", "values": [*values]}


def _box_to_json(detection: Detection) -> dict[str, Json]:
    extras: dict[str, Json] = {"raw": detection.raw, "colour": detection.colour}
    if (mask := detection.mask) is not None:
        extras["mask"] = [mask.left, mask.top, mask.width, mask.height, mask.packed]
    said = {name: value for name, value in extras.items() if value}
    return {"label": detection.label, "score": detection.score, "box": [*detection.box], **said}


def observation_from_json(stored: Mapping[str, Json]) -> Observation:
    """The observation a stored form stands for."""
    fields = cast(dict[str, list[dict[str, object]]], stored)
    match stored["kind"]:
        case "detections":
            return Detections(
                boxes=tuple(Detection(**_with_mask(_with_box(box))) for box in fields["boxes"]),  # type: ignore[arg-type]  # JSON has no field types
                **{name: cast(float, stored[name]) for name in _WORTH if name in stored},
                relations=_relations(stored),
            )
        case "reading":
            return Reading(
                spans=tuple(TextSpan(**_with_box(span)) for span in fields["spans"]),  # type: ignore[arg-type]  # as above
                reply=str(stored.get("reply", "")),
                problem=str(stored.get("problem", "")),
                usage=cast(dict[str, float], stored.get("usage", {})),
                snapshot=str(stored.get("snapshot", "")),
            )
        case "answer":
            return Answer(
                text=str(stored["text"]),
                scores=cast(dict[str, float], stored["scores"]),
                reply=str(stored["reply"]),
                problem=str(stored["problem"]),
                usage=cast(dict[str, float], stored["usage"]),
                snapshot=str(stored["snapshot"]),
                reasons=cast(dict[str, str], stored.get("reasons", {})),
            )
        case "vector":
            return Vector(values=tuple(cast(list[float], stored["values"])))
        case other:
            raise ValueError(f"no observation of kind {other!r}")


def _relations(stored: Mapping[str, Json]) -> tuple[SeenRelation, ...] | None:
    if "relations" not in stored:
        return None
    rows = cast(list[tuple[int, str, int, float]], stored["relations"])
    return tuple(SeenRelation(subject=s, predicate=p, object=o, score=score) for s, p, o, score in rows)


def _with_box(fields: dict[str, object]) -> dict[str, object]:
    return {**fields, "box": tuple(cast(list[float], fields["box"]))}


def _with_mask(fields: dict[str, object]) -> dict[str, object]:
    if "mask" not in fields:
        return fields
    left, top, width, height, packed = cast(tuple[int, int, int, int, str], fields["mask"])
    return {**fields, "mask": Mask(left=left, top=top, width=width, height=height, packed=packed)}
