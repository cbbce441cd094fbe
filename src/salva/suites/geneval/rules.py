"""Check: each image by a rule that others judge GenEval by: the published one, or one of the two for training.

Takes a detector's boxes and the source of colours: an embedder over the part of the image that a box cuts out, as
published, or the pixels where nobody named one; scores say which. Our own rule is truth, and then this one is silent.
Pure: no model, no disk, no clock.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from salva.checks.scenes import WRONG_COLOUR, mentioned
from salva.core.about import About
from salva.core.case import Case
from salva.core.image import ImageRef
from salva.core.masks import Mask, runs_of
from salva.core.observation import Detection, Detections, Vector
from salva.core.options import option
from salva.core.protocols import Conclusion, ImageObservations, Need, Query
from salva.core.verdict import (
    ENTITY_DUPLICATION,
    ENTITY_OMISSION,
    X_MISPOSITION,
    Y_MISPOSITION,
    Failure,
    Outcome,
)
from salva.suites.geneval.demands import demands_of
from salva.suites.geneval.published import (
    COLOUR,
    COLOURS,
    JUDGES,
    LEFT,
    MISSING,
    NO_TARGET,
    POSITION,
    RIGHT,
    RL_SCORE,
    RULES,
    TOO_MANY,
    Demand,
    Fault,
    Ruling,
    SeenBox,
)

OURS = "ours"
WITHOUT_TARGET = "no-target"
COLOURS_BY_EMBEDDER = "colours_by_embedder"
"""Score of a verdict that depends on colours: 1 where an embedder named them, 0 where the pixels did."""
NO_COLOURS = "no_colours"
"""Score of a verdict on boxes without colours about a prompt that asks for some: a FAIL or undecided, never a PASS."""
CREDIT = "credit_"
"""Score of a verdict by partial credit, with the prompt's role behind it."""
SIDE = 224
"""The side in pixels of what the published classifier sees."""
SAYS = re.compile(r" \(as [^()]+\)\Z")
"""What a message about colours ends with: their source."""
TEMPLATES = ("a photo of a {c} {name}", "a photo of a {c}-colored {name}", "a photo of a {c} object")
_ERROR_OF = {MISSING: ENTITY_OMISSION, TOO_MANY: ENTITY_DUPLICATION, COLOUR: WRONG_COLOUR, NO_TARGET: WITHOUT_TARGET}
_EMBEDDER = "embedder"


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleOptions:
    """By which rule GenEval's images are judged."""

    rule: str = option(
        OURS,
        "ours: truth. published: GenEval's rule. rl-strict: exact numbers, every box. rl-score: partial credit.",
        choices=(OURS, *RULES),
    )


class GenEvalRule:
    """Check: every image is right by the rule that check.rule names."""

    version: ClassVar[str] = "1"
    about: ClassVar[About] = About(
        needs_roles=("detector",),
        failure_types={
            ENTITY_OMISSION: "Fewer than the rule wants.",
            ENTITY_DUPLICATION: "More than the rule allows.",
            WRONG_COLOUR: "Another colour.",
            X_MISPOSITION: "Not far enough left or right of its target.",
            Y_MISPOSITION: "Not far enough above or below its target.",
            WITHOUT_TARGET: "The target is missing or wrong itself.",
        },
    )
    Options = RuleOptions

    def __init__(self, options: RuleOptions) -> None:
        self._rule = options.rule

    def applies(self, case: Case) -> bool:
        """Whether another rule than ours is asked for, and every prompt is one of GenEval's."""
        return self._rule != OURS and demands_of(case) is not None

    def needs(
        self, case: Case, roles: Collection[str], observations: Mapping[str, ImageObservations]
    ) -> Sequence[Need]:
        """Boxes; then the parts of the images whose colour the rule needs, or the colours by the pixels."""
        what = mentioned(case)
        needs = [Need(role=prompt.role, query=what.query) for prompt in case.prompts]
        if _EMBEDDER not in roles:
            asked = what.colour_query if what.colour_query and what.colour_query.role in roles else None
            return needs + ([Need(role=prompt.role, query=asked) for prompt in case.prompts] if asked else [])
        for prompt, demand in zip(case.prompts, demands_of(case) or (), strict=True):
            observed = observations.get(prompt.role)
            boxes = observed.seen.get(what.query) if observed else None
            if observed is not None and isinstance(boxes, Detections) and not _unusable(boxes, demand):
                reader = _ColourReader(observed, boxes, what.query)
                JUDGES[self._rule](demand, reader.boxes, reader.want)
                needs += [Need(role=prompt.role, query=query) for query in reader.wanted]
        return needs

    def judge(self, case: Case, observations: Mapping[str, ImageObservations]) -> Conclusion:
        """Each image by the rule; the scores say which were right, and what named the colours."""
        what = mentioned(case)
        failures: list[Failure] = []
        scores: dict[str, float] = {}
        for prompt, demand in zip(case.prompts, demands_of(case) or (), strict=True):
            observed = observations[prompt.role]
            boxes = observed.seen.get(what.query)
            if not isinstance(boxes, Detections):
                return _undecided(f"no detections for prompt {prompt.role!r}")
            if problem := _unusable(boxes, demand):
                return _undecided(problem)
            coloured = observed.seen.get(what.colour_query) if what.colour_query else None
            reader = _ColourReader(observed, coloured if isinstance(coloured, Detections) else boxes, what.query)
            ruling = JUDGES[self._rule](demand, reader.boxes, reader.colours_of)
            if reader.uncoloured:
                return _undecided(f"no colour for the {reader.uncoloured} in the image of {prompt.role!r}")
            failures += [failure_of(fault, prompt.role, reader.source) for fault in ruling.faults]
            scores |= _scores(prompt.role, ruling, reader, is_partial=self._rule == RL_SCORE)
        return Conclusion(
            outcome=Outcome.FAIL if failures else Outcome.PASS,
            failure_types=tuple(dict.fromkeys(failure.failure_type for failure in failures)),
            failures=tuple(failures),
            scores=scores,
        )


class _ColourReader:
    """The boxes of one image in pixels, and their colours, by the embedder or the pixels."""

    def __init__(self, observed: ImageObservations, detections: Detections, query: Query) -> None:
        self.boxes = boxes_in_pixels(detections, observed.image.width, observed.image.height, query.labels)
        # By identity: a detector may say one and the same box twice, and the rule counts it twice.
        self._seen = {id(box): seen for box, seen in zip(self.boxes, detections.boxes, strict=True)}
        self._sight, self._image = observed, observed.image
        self.names = frozenset(query.labels)
        self.wanted: list[Query] = []
        self.by_embedder: bool | None = None
        """Whether an embedder named the colours; None while none were needed."""
        self.uncoloured = ""
        """The entity whose colour is unknown."""

    @property
    def source(self) -> str:
        """The source of colours, for a sentence."""
        return "as the embedder says" if self.by_embedder else "as the pixels say"

    def want(self, boxes: Sequence[SeenBox]) -> list[str]:
        """Note which parts of the image must be observed."""
        self.wanted += [part_query(self._seen[id(box)], box.name, self._image) for box in boxes]
        return [""] * len(boxes)

    def colours_of(self, boxes: Sequence[SeenBox]) -> list[str]:
        """What colour each of the boxes has."""
        return [self._colour(box) for box in boxes]

    def _colour(self, box: SeenBox) -> str:
        detection = self._seen[id(box)]
        vector = self._sight.seen.get(part_query(detection, box.name, self._image))
        self.by_embedder = isinstance(vector, Vector)
        if isinstance(vector, Vector):
            return max(zip(vector.values, COLOURS, strict=True), key=lambda pair: pair[0])[1]
        if detection.colour is None:
            self.uncoloured = box.name
        return detection.colour or ""


def part_query(detection: Detection, name: str, image: ImageRef) -> Query:
    """What an embedder is asked about the part of an image in a box: the published classifier's question."""
    mask = detection.mask
    cut = mask is not None and mask.fits(image.width, image.height) and _is_whole(mask)
    return Query(
        role=_EMBEDDER,
        choices=tuple("\n".join(line.format(c=colour, name=name) for line in TEMPLATES) for colour in COLOURS),
        side=SIDE,
        box=detection.box,
        mask=(mask.left, mask.top, mask.width, mask.height, mask.packed) if mask is not None and cut else (),
    )


def _is_whole(mask: Mask) -> bool:
    try:
        return sum(runs_of(mask)) > 0
    except ValueError:
        return False


def boxes_in_pixels(detections: Detections, width: int, height: int, wanted: Collection[str]) -> tuple[SeenBox, ...]:
    """What a detector saw as the rules take it, in the words that are wanted; in its order."""
    # A detector without scores is taken at its word, as everywhere.
    has_scores = detections.threshold is not None or detections.floor is not None
    return tuple(
        SeenBox(
            name=box.name_for(wanted),
            score=box.score if has_scores else 1.0,
            box=(box.box[0] * width, box.box[1] * height, box.box[2] * width, box.box[3] * height),
        )
        for box in detections.boxes
    )


def _unusable(detections: Detections, demand: Demand) -> str:
    """Why these boxes say nothing by a rule that counts from its own score on; empty where they do."""
    if detections.floor is not None and detections.floor > demand.threshold:
        return f"the detector kept no boxes below {detections.floor:g}; this rule counts from {demand.threshold:g} on"
    return ""


def _undecided(reason: str) -> Conclusion:
    return Conclusion(outcome=Outcome.UNDECIDED, reason=reason)


def _scores(role: str, ruling: Ruling, reader: _ColourReader, *, is_partial: bool) -> dict[str, float]:
    scores = {
        f"right_{role}": float(ruling.is_right),
        f"named_{role}": float(sum(box.name in reader.names for box in reader.boxes)),
    }
    if is_partial:
        scores[f"{CREDIT}{role}"] = ruling.score
    if reader.by_embedder is not None:
        scores[COLOURS_BY_EMBEDDER] = float(reader.by_embedder)
    return scores


def failure_of(fault: Fault, role: str, source: str) -> Failure:
    """A fault as a registered error; source: of colours, for the message."""
    on_x = fault.expected in (LEFT, RIGHT)
    error = (X_MISPOSITION if on_x else Y_MISPOSITION) if fault.kind == POSITION else _ERROR_OF[fault.kind]
    message = f"{fault.message} ({source})" if fault.kind == COLOUR else fault.message
    return Failure(
        failure_type=error, role=role, message=message, entity=fault.name, expected=fault.expected, seen=fault.seen
    )
