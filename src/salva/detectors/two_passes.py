"""Two looks at one image by a detector without scores, put together: what only one of them has is in doubt.

Boxes come in and go out; who looked, and how the two looks differ, plays no part.
"""

from __future__ import annotations

from dataclasses import replace

from salva.core.boxes import overlap
from salva.core.image import Picture
from salva.core.observation import Detection, Detections

SURE, HALF = 1.0, 0.5
"""The share of the looks that have a box, which is its score."""
SAME_IOU = 0.5
"""Boxes of one label that overlap by more than this are one entity seen twice."""


def agreed(first: Detections, second: Detections) -> Detections:
    """What either look has: as the first has it where both do."""
    others = list(second.boxes)
    boxes: list[Detection] = []
    for box in first.boxes:
        alike = [other for other in others if other.label == box.label and overlap(box.box, other.box) > SAME_IOU]
        if alike:
            others.remove(max(alike, key=lambda other: overlap(box.box, other.box)))
        boxes.append(replace(box, score=SURE if alike else HALF))
    boxes += [replace(box, score=HALF) for box in others]
    strongest_first = tuple(sorted(boxes, key=lambda box: -box.score))
    return Detections(boxes=strongest_first, floor=HALF, threshold=HALF, doubt=SURE)


def mirror(picture: Picture) -> Picture:
    """The image with left and right exchanged."""
    import numpy as np

    pixels = np.frombuffer(picture.rgb, np.uint8).reshape(picture.height, picture.width, 3)
    return Picture(rgb=pixels[:, ::-1].tobytes(), width=picture.width, height=picture.height)


def turned_back(seen: Detections) -> Detections:
    """Boxes of a mirrored image as boxes of the image."""
    boxes = tuple(
        replace(box, box=(round(1 - box.box[2], 4), box.box[1], round(1 - box.box[0], 4), box.box[3]))
        for box in seen.boxes
    )
    return replace(seen, boxes=boxes)
