"""What an observer reports: detections, text, an answer or a vector.

Each kind turns into JSON and back without loss, because that is how the store keeps it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple, TypeAlias

import msgspec

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


class SeenRelation(NamedTuple):
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


Observation: TypeAlias = Detections | Reading | Answer | Vector
_KINDS: Mapping[str, type[Observation]] = {
    "detections": Detections,
    "reading": Reading,
    "answer": Answer,
    "vector": Vector,
}
_ALWAYS_SAID = ("text", "scores", "reply", "problem", "usage", "snapshot")
"""Of an answer; of other observations what is empty is left out."""
_MASK = ("left", "top", "width", "height", "packed")


def observation_to_json(observation: Observation) -> dict[str, Json]:
    """The stored form of an observation."""
    always = _ALWAYS_SAID if isinstance(observation, Answer) else ()
    said = {field.name: getattr(observation, field.name) for field in fields(observation)}
    stored = {name: value for name, value in said.items() if name in always or value not in (None, "", {})}
    if isinstance(observation, Detections):
        stored["boxes"] = [_box_to_json(box) for box in observation.boxes]
    return {"kind": type(observation).__name__.lower(), **msgspec.to_builtins(stored)}


def _box_to_json(detection: Detection) -> dict[str, Json]:
    extras: dict[str, Json] = {"raw": detection.raw, "colour": detection.colour}
    if detection.mask is not None:
        extras["mask"] = [getattr(detection.mask, name) for name in _MASK]
    said = {name: value for name, value in extras.items() if value}
    return {"label": detection.label, "score": detection.score, "box": [*detection.box], **said}


def observation_from_json(stored: Mapping[str, Any]) -> Observation:
    """The observation a stored form stands for."""
    kind, said = _KINDS.get(stored["kind"]), {name: value for name, value in stored.items() if name != "kind"}
    if kind is None:
        raise ValueError(f"no observation of kind {stored['kind']!r}")
    if kind is Detections:
        said["boxes"] = [_with_mask(box) for box in stored["boxes"]]
    return msgspec.convert(said, kind)


def _with_mask(box: Mapping[str, Any]) -> Mapping[str, Any]:
    return {**box, "mask": dict(zip(_MASK, box["mask"], strict=True))} if "mask" in box else box
