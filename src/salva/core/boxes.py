"""From boxes to a scene: which boxes count, which of them are one thing, and what a detector saw as the logic sees it.

Used by whoever compares, judges or shows what was seen, so that all see the same things. A detector keeps more boxes
than it believes in; those that count have the threshold's score at least.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from salva.core.grouping import group_by
from salva.core.observation import Detection, Detections
from salva.core.scene import Box, Scene, Thing

MERGE_IOU = 0.7


class PlacedEntity(NamedTuple):
    """A thing and the score it was seen with."""

    thing: Thing
    score: float


def boxes_above(detections: Detections, threshold: float | None = None) -> tuple[Detection, ...]:
    """The boxes that count: all from a threshold on, the detector's own unless another is given.

    Of a detector without scores, and of a look that kept nothing below its threshold, that is every box.
    """
    least = detections.threshold if threshold is None else threshold
    # Not "score >= least": what is no number is neither above nor below, and the judge must hear of it.
    return detections.boxes if least is None else tuple(box for box in detections.boxes if not box.score < least)


def scene_of(
    detections: Detections,
    wanted: Collection[str] = (),
    threshold: float | None = None,
) -> Scene:
    """The scene a detector saw, in the words that are wanted where it used one of them."""
    return Scene(things=tuple(placed_entity.thing for placed_entity in placed_entities(detections, wanted, threshold)))


def placed_entities(
    detections: Detections,
    wanted: Collection[str] = (),
    threshold: float | None = None,
) -> tuple[PlacedEntity, ...]:
    """The things of that scene with their scores.

    Of two boxes with one label that overlap by more than MERGE_IOU (intersection over union) the
    one with the higher score is kept: a detector that says "cat" twice about one cat saw one cat.
    """
    seen = []
    for label, same in group_by(boxes_above(detections, threshold), lambda box: box.name_for(wanted)).items():
        kept: list[Detection] = []
        for box in sorted(same, key=lambda one: (-one.score, one.box)) if len(same) > 1 else same:
            if all(overlap(box.box, other.box) <= MERGE_IOU for other in kept):
                kept.append(box)
        seen += [PlacedEntity(Thing(label=label, box=box.box, colour=box.colour), box.score) for box in kept]
    return tuple(seen)


def labels_without_colour(scene: Scene, coloured: Collection[str]) -> tuple[str, ...]:
    """The names among some whose things are there without a colour, sorted: of those nobody can say what is asked."""
    return tuple(sorted({thing.label for thing in scene.things if thing.colour is None and thing.label in coloured}))


def overlap(one: Box, other: Box) -> float:
    """Intersection over union of two boxes."""
    width = min(one[2], other[2]) - max(one[0], other[0])
    height = min(one[3], other[3]) - max(one[1], other[1])
    if width <= 0 or height <= 0:
        return 0.0
    shared = width * height
    union = (one[2] - one[0]) * (one[3] - one[1]) + (other[2] - other[0]) * (other[3] - other[1]) - shared
    return shared / union
