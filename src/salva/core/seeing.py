"""From boxes to a scene: what a detector saw, as the logic sees it.

Used by relations that compare scenes and by the judge that reasons from them, so that both see the same things.
"""

from __future__ import annotations

from collections.abc import Collection

from salva.core.observation import Detection, Detections
from salva.core.scene import Box, Scene, Thing


def scene_of(detections: Detections, merge_iou: float, wanted: Collection[str] = ()) -> Scene:
    """The scene a detector saw, in the words that are wanted where it used one of them.

    Of two boxes with one label that overlap by more than merge_iou (intersection over union) the
    one with the higher score is kept: a detector that says "cat" twice about one cat saw one cat.
    """
    by_label: dict[str, list[Detection]] = {}
    for box in detections.boxes:
        by_label.setdefault(box.name_for(wanted), []).append(box)
    things = []
    for label, same in by_label.items():
        kept: list[Detection] = []
        for box in sorted(same, key=lambda one: (-one.score, one.box)) if len(same) > 1 else same:
            if all(overlap(box.box, other.box) <= merge_iou for other in kept):
                kept.append(box)
        things += [Thing(label=label, box=box.box, colour=box.colour) for box in kept]
    return Scene(things=tuple(things))


def untold_colours(scene: Scene, coloured: Collection[str]) -> tuple[str, ...]:
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
