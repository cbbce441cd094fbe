"""Triples and scores made by hand: what a judge would say of three pictures, no pictures."""

from __future__ import annotations

from collections.abc import Mapping

from salva.core.case import Case, Prompt
from salva.core.image import ImageRef
from salva.core.observation import Answer, Observation
from salva.core.protocols import ImageObservations, Query
from salva.suites.semvar.effect import PAIRS
from salva.suites.semvar.semantic_effect import score_query

ROLES = ("a", "pv", "pi")
SPATIAL = ("left_of(cat, dog)", "left_of(dog, cat)", "right_of(dog, cat)")


def triple(
    formulas: tuple[str | None, ...] = (None, None, None),
    texts: tuple[str, ...] = ("A cat chases a dog", "A dog chases a cat", "A dog is chased by a cat"),
) -> Case:
    """A case of three prompts."""
    return Case(
        case_id="triple",
        suite="semvar",
        category="action",
        prompts=tuple(
            Prompt(role=role, text=text, formula=formula)
            for role, text, formula in zip(ROLES, texts, formulas, strict=True)
        ),
        checks=("semantic-effect",),
        labels={"category": "action", "aspect": "relation"},
    )


def answered(objects: float, relations: float) -> Answer:
    """A judge's score."""
    return Answer(text="", scores={"objects": objects, "relations": relations})


def scored(
    case: Case,
    halves: Mapping[tuple[str, str], tuple[float, float]],
    more: Mapping[str, Mapping[Query, Observation]] | None = None,
) -> dict[str, ImageObservations]:
    """What was seen when a judge gave these halves, by (text, image); the rest is full marks for meaning the same."""
    seen: dict[str, dict[Query, Observation]] = {role: dict((more or {}).get(role, {})) for role in ROLES}
    for text, image in PAIRS:
        fits = (text == "pv") == (image == "pv")
        seen[image][score_query(case.prompt(text))] = answered(*halves.get((text, image), (50, 50 if fits else 0)))
    return {
        role: ImageObservations(image=ImageRef(image_id=role, width=1, height=1), seen=seen[role]) for role in ROLES
    }
