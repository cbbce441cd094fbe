"""What COCO's detectors can name.

Read by whoever loads such a detector or makes one.
"""

from __future__ import annotations

from collections.abc import Sequence

COCO = (
    *("person", "bicycle", "car", "motorcycle", "airplane", "bus", "train", "truck", "boat", "traffic light"),
    *("fire hydrant", "stop sign", "parking meter", "bench", "bird", "cat", "dog", "horse", "sheep", "cow", "elephant"),
    *("bear", "zebra", "giraffe", "backpack", "umbrella", "handbag", "tie", "suitcase", "frisbee", "skis", "snowboard"),
    *("sports ball", "kite", "baseball bat", "baseball glove", "skateboard", "surfboard", "tennis racket", "bottle"),
    *("wine glass", "cup", "fork", "knife", "spoon", "bowl", "banana", "apple", "sandwich", "orange", "broccoli"),
    *("carrot", "hot dog", "pizza", "donut", "cake", "chair", "couch", "potted plant", "bed", "dining table", "toilet"),
    *("tv", "laptop", "mouse", "remote", "keyboard", "cell phone", "microwave", "oven", "toaster", "sink"),
    *("refrigerator", "book", "clock", "vase", "scissors", "teddy bear", "hair drier", "toothbrush"),
)
"""The 80 names of COCO, in the order its detectors number them."""

IN_FULL = {"mouse": "computer mouse", "remote": "tv remote", "keyboard": "computer keyboard"}
"""Those that GenEval writes in full; a mouse alone may be an animal."""


def in_full(labels: Sequence[str]) -> tuple[str, ...]:
    """A detector's own labels, where they are COCO's, with those names in full; others as they are."""
    return tuple(IN_FULL.get(label, label) for label in labels) if IN_FULL.keys() <= {*labels} else tuple(labels)
