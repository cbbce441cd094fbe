"""Cases and observations made by hand: things at places, no pictures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from salva.core.case import Case, Prompt
from salva.core.image import ImageRef
from salva.core.observation import Detection, Detections, Observation, Reading, TextSpan
from salva.core.protocols import Conclusion, ImageObservations, Query

At = tuple[str, float, float]
"""A label and the centre of its box."""

SIDE = 0.1


def pair(
    formula_a: str | None,
    formula_b: str | None = None,
    *,
    determinate: bool | None = True,
    equivalent: bool | None = True,
    check: str = "same-scene",
    texts: tuple[str, str] = ("prompt a", "prompt b"),
) -> Case:
    """A case of two prompts; the second formula is the first unless given."""
    formulas = (formula_a, formula_a if formula_b is None else formula_b)
    return Case(
        case_id="planted",
        suite="planted",
        category="planted",
        prompts=tuple(
            Prompt(role=role, text=text, formula=formula)
            for role, text, formula in zip("ab", texts, formulas, strict=True)
        ),
        checks=(check,),
        equivalent=equivalent,
        determinate=determinate,
    )


def box_at(x: float, y: float, side: float = SIDE) -> tuple[float, float, float, float]:
    """A square box around a centre."""
    return (x - side / 2, y - side / 2, x + side / 2, y + side / 2)


def things(*at: At) -> Detections:
    """What a detector sees when these things are there."""
    return Detections(boxes=tuple(Detection(label=label, score=0.9, box=box_at(x, y)) for label, x, y in at))


def row(*labels: str) -> Detections:
    """Things side by side, from left to right, a little lower each."""
    n = len(labels)
    return things(*((label, (i + 0.5) / n, 0.3 + 0.4 * (i + 0.5) / n) for i, label in enumerate(labels)))


def text(*spans: str, score: float = 0.95) -> Reading:
    """What a reader sees."""
    return Reading(spans=tuple(TextSpan(text=span, score=score, box=(0.1, 0.1, 0.4, 0.2)) for span in spans))


def painted(*things_of_a_colour: tuple[str, str | None]) -> Detections:
    """Things side by side with their colours; None where nobody can tell."""
    boxes = row(*(label for label, _ in things_of_a_colour)).boxes
    colours = [colour for _, colour in things_of_a_colour]
    return Detections(boxes=tuple(replace(box, colour=c) for box, c in zip(boxes, colours, strict=True)))


def observations(
    check: Any, case: Case, seen: Mapping[str, tuple[Observation, ...]], *more_roles: str
) -> dict[str, ImageObservations]:
    """Answers to the looks the check asked for, so that a query nobody asked is never answered."""
    roles = {"detector", *more_roles, *(["reader"] if any(len(observed) > 1 for observed in seen.values()) else [])}
    found: dict[str, dict[Query, Observation]] = {role: {} for role in seen}
    for look in check.needs(case, roles, {}):
        if look.role in seen:
            observed = seen[look.role]
            found[look.role][look.query] = observed[1] if look.query.role == "reader" else observed[0]
    image = ImageRef(image_id="0" * 40, width=256, height=256)
    return {role: ImageObservations(image=image, seen=answers) for role, answers in found.items()}


def judge(
    check: Any,
    case: Case,
    a: Detections,
    b: Detections,
    *,
    reads: tuple[Reading, Reading] | None = None,
) -> Conclusion:
    """The check's conclusion about two planted images."""
    seen: dict[str, tuple[Observation, ...]] = {"a": (a,), "b": (b,)}
    if reads:
        seen = {"a": (a, reads[0]), "b": (b, reads[1])}
    concluded: Conclusion = check.judge(case, observations(check, case, seen))
    return concluded
