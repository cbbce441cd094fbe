"""Detector: pocket, a small network in the wheel that finds the painter's entities, on one core.

It reports all entities, whatever the prompt says. Images go through one at a time, so that no observation depends on
its batch. training/ made the weights.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from salva.assets.files import asset_digest, read_asset
from salva.core.about import About, Habits
from salva.core.image import Picture
from salva.core.observation import Detection, Detections, Observation
from salva.core.options import option
from salva.core.protocols import ObserveRequest
from salva.detectors.boxes import FLOOR, MAX_BOXES, FloorOptions, strongest
from salva.errors import SalvaError
from salva.hardware.networks import open_network
from salva.observers.networks import observe_each, on_square

WEIGHTS = "pocket/detector.onnx"
CARD = "pocket/detector.json"
LABELS: tuple[str, ...] = tuple(json.loads(read_asset(CARD))["labels"])
"""The entities it can find."""
SIDE = 256
THRESHOLD = 0.4
UNIT = 8.0
"""The network gives the logarithms of a box's sides in units of this many cells."""
DOUBT = 0.5
"""None of the 5,391 boxes that count in 900 painter images with up to eleven entities had a score below 0.54."""
MAX_OVERLAP = 0.5
"""If two boxes overlap by more (intersection over union), the weaker is a duplicate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DetectorOptions(FloorOptions):
    """What can be set with --set detector.NAME=VALUE."""

    floor: float = option(FLOOR, "Boxes with a lower score are dropped.", least=0.001, most=THRESHOLD)


class PocketDetector:
    """The embedded detector."""

    version: ClassVar[str] = "1"
    about: ClassVar[About] = About(
        names=LABELS,
        domain=("painter", "pocket"),
        recall=0.99,
        floor="floor",
        made_for="Images by the painter and by pocket; no photographs.",
    )
    habits: ClassVar[Habits] = Habits(batch_size=8)
    Options: ClassVar[type[DetectorOptions]] = DetectorOptions

    def __init__(self, options: DetectorOptions) -> None:
        self._session = open_network(read_asset(WEIGHTS), threads=1)
        self._floor = options.floor

    @classmethod
    def labels(cls) -> tuple[str, ...]:
        """The entities it can find."""
        return LABELS

    @classmethod
    def weights(cls, options: DetectorOptions) -> str:  # noqa: ARG003  # no option chooses other weights
        """The digest of the trained file."""
        return asset_digest(WEIGHTS)[:16]

    def observe(self, requests: Sequence[ObserveRequest]) -> Sequence[Observation | SalvaError]:
        """The boxes of each image, strongest first."""
        return observe_each("the pocket detector", requests, lambda request: self._detect(request.picture))

    def _detect(self, picture: Picture) -> Detections:
        pixels, frame = to_input(picture)
        heat, box = self._session.run(None, {"picture": pixels})
        return Detections(
            boxes=find_boxes(heat[0], box[0], LABELS, self._floor, frame)[:MAX_BOXES],
            floor=self._floor,
            threshold=THRESHOLD,
            doubt=DOUBT,
        )


Frame = tuple[float, float, float, float]
"""The place of the image in the network's input: left, top, width and height as fractions of its side."""


def to_input(picture: Picture) -> tuple[NDArray[np.float32], Frame]:
    """The network's input for an image, and the image's place in it."""

    pixels, (left, top, width, height) = on_square(picture, SIDE, reducing_gap=1.0)
    planes = np.ascontiguousarray(pixels.transpose(2, 0, 1)).astype(np.float32)
    planes *= np.float32(1 / 255)
    return planes[None], (left / SIDE, top / SIDE, width / SIDE, height / SIDE)


def find_boxes(
    heat: NDArray[np.float32],
    box: NDArray[np.float32],
    labels: Sequence[str],
    floor: float,
    frame: Frame = (0.0, 0.0, 1.0, 1.0),
) -> tuple[Detection, ...]:
    """The peaks of the heat maps as boxes, without duplicates, strongest first."""

    cells = heat.shape[-1]
    edged = np.pad(heat, ((0, 0), (1, 1), (1, 1)), constant_values=-np.inf)
    which, rows, columns = np.nonzero(heat > math.log(floor / (1 - floor)))
    logits = heat[which, rows, columns]
    around = np.stack([edged[which, rows + dy, columns + dx] for dy in range(3) for dx in range(3)])
    keep = np.flatnonzero(logits >= around.max(axis=0))
    keep = keep[np.argsort(-logits[keep], kind="stable")]
    which, rows, columns, logits = which[keep], rows[keep], columns[keep], logits[keep]
    dx, dy, log_width, log_height = box[:, rows, columns].astype(np.float64)
    x, y = (columns + 0.5 + dx) / cells, (rows + 0.5 + dy) / cells
    half_width, half_height = np.exp(log_width) * UNIT / cells / 2, np.exp(log_height) * UNIT / cells / 2
    corners = np.stack((x - half_width, y - half_height, x + half_width, y + half_height), 1)
    kept = strongest(corners, MAX_OVERLAP)
    left, top, width, height = frame
    corners = (corners - (left, top, left, top)) / (width, height, width, height)
    corners = corners.clip(0, 1).round(4)
    # A box in the padding has no area in the image.
    has_area = (corners[:, 2] > corners[:, 0]) & (corners[:, 3] > corners[:, 1])
    scores = (1 / (1 + np.exp(-logits.astype(np.float64)))).round(4)
    return tuple(
        Detection(label=labels[which[i]], score=float(scores[i]), box=tuple(corners[i].tolist()))
        for i in kept
        if has_area[i]
    )
