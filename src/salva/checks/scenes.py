"""What the checks over scenes share: from observations to scenes, counts and text.

Detections and readings come in; scenes, counts by label and unrequested text go out. Pure, and
knows nothing of how a verdict follows from them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from salva.core.boxes import placed_entities
from salva.core.case import Case
from salva.core.observation import Detections, Reading
from salva.core.options import option
from salva.core.protocols import ImageObservations, Need, Query
from salva.core.scene import Box, Scene
from salva.core.verdict import (
    ENTITY_DUPLICATION,
    ENTITY_FORBIDDEN,
    ENTITY_OMISSION,
    OPTICAL_CHARACTER,
    X_MISPOSITION,
    Y_MISPOSITION,
    Failure,
)
from salva.english.describe import describe_discrepancy
from salva.english.nouns import plural
from salva.english.wordlists import words
from salva.errors import UsageError
from salva.logic.comparing import Comparable, comparable, shows_same
from salva.logic.formula import Atom, Formula, atoms
from salva.logic.notation import parse
from salva.logic.orders import AXIS_OF_RELATION
from salva.logic.satisfaction import COLOUR, EXTRA, FORBIDDEN, MISSING, X_MISPLACED, Y_MISPLACED, Discrepancy
from salva.messages import message

WRONG_COLOUR = "wrong-colour"
WRONG_RELATION = "wrong-relation"

MISPOSITION = {"x": X_MISPOSITION, "y": Y_MISPOSITION}
READER = Query(role="reader")

_ERROR_OF = {
    MISSING: ENTITY_OMISSION,
    EXTRA: ENTITY_DUPLICATION,
    FORBIDDEN: ENTITY_FORBIDDEN,
    X_MISPLACED: X_MISPOSITION,
    Y_MISPLACED: Y_MISPOSITION,
    COLOUR: WRONG_COLOUR,
}
CARRIES_TEXT = words("words", "carries_text")
"""Entities that have text on them: text in the box of one is no fault of the image."""
_QUOTED = re.compile(r'"([^"]*)"|“([^”]*)”|«([^»]*)»')
_MIN_LETTERS = 2
_LONGEST_QUOTE = 80
_MIN_TEXT_SCORE = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class BoxOptions:
    """Which boxes count, and which decide."""

    threshold: float | None = option(None, "Least score that counts; unset: the detector's.", least=0, most=1)
    doubt: float | None = option(None, "Least score that decides; unset: the detector's; 0: none.", least=0, most=1)

    def __post_init__(self) -> None:
        if self.threshold and self.doubt and self.doubt < self.threshold:
            wanted = f"at least check.threshold ({self.threshold:g}), or 0"
            raise UsageError(message("option-invalid", name="check.doubt", value=self.doubt, wanted=wanted))


@dataclass(frozen=True, slots=True, kw_only=True)
class SceneOptions(BoxOptions):
    """How an image becomes a scene and is held against a formula."""

    counts: str = option("", "Whether two cats fail 'a cat'; unset: by suite.", choices=("", "exact", "at-least"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Mentioned:
    """What the formulas of a case talk about."""

    formulas: tuple[Formula | None, ...]
    compared: Comparable
    """What of their images is compared."""
    coloured: tuple[frozenset[str], ...]
    """For each formula, the entities whose colour it speaks of."""
    query: Query
    """What the detector is asked."""
    colour_query: Query | None
    """What the colour_reader is asked; None where no formula speaks of a colour."""

    @property
    def entities(self) -> tuple[str, ...]:
        """All entities that the formulas name, sorted."""
        return self.compared.entities


def mentioned(case: Case) -> Mentioned:
    """What the prompts of a case talk about; parsed once for every case with the same formulas."""
    return _mentioned(tuple(prompt.formula for prompt in case.prompts))


@lru_cache(maxsize=4096)
def _mentioned(notations: tuple[str | None, ...]) -> Mentioned:
    formulas = tuple(None if notation is None else parse(notation) for notation in notations)
    compared = comparable([formula for formula in formulas if formula is not None])
    names = compared.entities
    coloured = tuple(_coloured(formula) for formula in formulas)
    return Mentioned(
        formulas=formulas,
        compared=compared,
        coloured=coloured,
        query=Query(role="detector", labels=names),
        # In the detector's words, so that the colour reader gets the boxes the detector found.
        colour_query=Query(role="colour_reader", labels=names) if any(coloured) else None,
    )


def _coloured(formula: Formula | None) -> frozenset[str]:
    leaves = atoms(formula) if formula is not None else ()
    return frozenset(leaf.entity for leaf in leaves if isinstance(leaf, Atom) and leaf.colour)


def scene_needs(case: Case, roles: Iterable[str]) -> list[Need]:
    """Boxes of what the case mentions, and text where somebody can read it, for every prompt's image."""
    queries = [mentioned(case).query] + ([READER] if "reader" in roles else [])
    return [Need(role=prompt.role, query=query) for prompt in case.prompts for query in queries]


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageScene:
    """What was seen of one prompt's image, as far as a check asks."""

    role: str
    scene: Scene
    text: tuple[str, ...]
    """Unrequested text; empty when there is none or nobody read."""
    scores: tuple[float, ...] = ()
    """Those of the scene's entities."""
    has_scores: bool = False
    """Whether the detector says what its scores are worth, or the check does."""
    threshold: float | None = None
    doubt: float | None = None
    """Below which score an entity is in doubt; 0 or None for none."""


def see(
    case: Case, observations: Mapping[str, ImageObservations], options: SceneOptions
) -> tuple[ImageScene, ...] | str:
    """What was seen of every image, or the reason why nobody can tell."""
    what = mentioned(case)
    query = what.query
    seen = []
    for prompt in case.prompts:
        sight = observations.get(prompt.role)
        boxes = sight.seen.get(query) if sight else None
        if sight is None or not isinstance(boxes, Detections):
            return f"no detections of the image of prompt {prompt.role!r}"
        reading = sight.seen.get(READER)
        if isinstance(reading, Reading) and reading.problem:
            return f"the text in the image of prompt {prompt.role!r}: {reading.problem}"
        if problem := unusable(boxes, options.threshold):
            return f"the image of prompt {prompt.role!r}: {problem}"
        coloured = sight.seen.get(what.colour_query) if what.colour_query else None
        told = coloured if isinstance(coloured, Detections) else boxes
        things = placed_entities(told, query.labels, options.threshold)
        carriers = [entity.thing.box for entity in things if entity.thing.label in CARRIES_TEXT]
        text = unrequested_text(reading, prompt.text, carriers) if isinstance(reading, Reading) else ()
        threshold = boxes.threshold if options.threshold is None else options.threshold
        seen.append(
            ImageScene(
                role=prompt.role,
                scene=Scene(things=tuple(placed_entity.thing for placed_entity in things)),
                text=text,
                scores=tuple(placed_entity.score for placed_entity in things),
                has_scores=boxes.threshold is not None or bool(options.doubt),
                threshold=threshold,
                doubt=boxes.doubt if options.doubt is None else options.doubt,
            )
        )
    return tuple(seen)


def unusable(detections: Detections, threshold: float | None) -> str:
    """Why these scores say nothing at this threshold; empty where they do."""
    least = detections.threshold if threshold is None else threshold
    odd = next((box for box in detections.boxes if not 0 <= box.score <= 1), None)
    if odd is not None and least is not None:
        return f"the detector gave {odd.label} the score {odd.score}, which is none from 0 to 1"
    if least is not None and detections.floor is not None and least < detections.floor:
        return f"boxes below {detections.floor:g} were not kept, and the threshold is {least:g}"
    return ""


def unrequested_text(reading: Reading, prompt: str, carriers: Sequence[Box] = ()) -> tuple[str, ...]:
    """The texts in the image that the prompt does not ask for.

    A text counts from two letters or digits on: single strokes are read off drawings. A prompt asks
    for text by quoting it, and a part of what was quoted is what was asked for. carriers: boxes of entities that have
    text on them.
    """
    if not reading.spans:
        return ()
    asked = [letters_of("".join(groups)) for groups in _QUOTED.findall(prompt)]
    return tuple(
        span.text
        for span in reading.spans
        if span.score >= _MIN_TEXT_SCORE
        and len(letters := letters_of(span.text)) >= _MIN_LETTERS
        and not any(letters in quoted for quoted in asked)
        and not any(_has_centre_of(span.box, carrier) for carrier in carriers)
    )


def _has_centre_of(box: Box, outer: Box) -> bool:
    x, y = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
    return outer[0] <= x <= outer[2] and outer[1] <= y <= outer[3]


def letters_of(text: str) -> str:
    """Its letters and digits, in small letters and without spaces."""
    return "".join(c for c in text.casefold() if c.isalnum())


def is_alike(a: ImageScene, b: ImageScene, what: Mentioned, *, counts: str) -> bool:
    """Whether two images show the same of what the prompts mention, and both or neither show text.

    Colours count for the entities whose colour a prompt speaks of.
    """
    if bool(a.text) != bool(b.text):
        return False
    coloured = frozenset().union(*what.coloured)
    colours_a, colours_b = (
        Counter((thing.label, thing.colour) for thing in seen.scene.things if thing.label in coloured)
        for seen in (a, b)
    )
    if colours_a != colours_b and (counts == "exact" or colours_a.keys() != colours_b.keys()):
        return False
    return shows_same(a.scene, b.scene, what.compared, counts=counts)


def failure_of(discrepancy: Discrepancy, role: str, *, has_choice: bool = False) -> Failure:
    """A discrepancy between an image and its prompt as a registered error.

    has_choice: whether other images would be right as well, so that this is only the shortest way to one.
    """
    message = describe_discrepancy(discrepancy)
    if discrepancy.kind in (MISSING, EXTRA, FORBIDDEN):
        asked = "none" if discrepancy.expected == "0" else discrepancy.expected
        wanted = "in the nearest right image" if has_choice else "expected"
        message = f"{_number_of(discrepancy.entity, discrepancy.seen)}, {asked} {wanted}"
    return Failure(
        failure_type=_error_of(discrepancy),
        role=role,
        message=message,
        entity=discrepancy.entity,
        expected=discrepancy.expected,
        seen=discrepancy.seen,
    )


def _error_of(discrepancy: Discrepancy) -> str:
    if discrepancy.relation is None:
        return _ERROR_OF[discrepancy.kind]
    return MISPOSITION.get(AXIS_OF_RELATION.get(discrepancy.relation.relation, ""), WRONG_RELATION)


def _number_of(entity: str, n: str) -> str:
    return {"0": f"no {entity}", "1": f"1 {entity}"}.get(n, f"{n} {plural(entity)}")


def text_failure(role: str, texts: Sequence[str]) -> Failure:
    """The failure of an image that shows text nobody asked for."""
    text = " ".join(texts)
    shown = text if len(text) <= _LONGEST_QUOTE else f"{text[: _LONGEST_QUOTE - 1]}…"
    return Failure(
        failure_type=OPTICAL_CHARACTER,
        role=role,
        message=f"unrequested text {shown!r}",
        expected="no text",
        seen=shown,
    )
