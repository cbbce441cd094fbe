"""From a network's boxes to Detections: floor, duplicates and names, the same for every detector.

Keeps every box from the floor on. Which of them count is decided by the check, which has the threshold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from salva.core.masks import Mask
from salva.core.observation import Detection, Detections
from salva.core.options import option
from salva.detectors.label_names import KEYWORDS, Names, names_pin
from salva.errors import BackendError, invalid_option
from salva.messages import message

MAX_CANDIDATES = 1000
"""The strongest boxes of an image that are compared with one another."""
MAX_BOXES = 100
"""The strongest of these that are kept."""
FLOOR = 0.05
_SLACK = 1e-3
"""How far half precision may leave the range of scores."""


# No slots: a detector's options inherit from these and from those of its checkpoint, and only one base may have slots.
@dataclass(frozen=True, kw_only=True)
class FloorOptions:
    """The option of detectors with scores."""

    floor: float = option(FLOOR, "Boxes with a lower score are dropped; at most the threshold.", least=0, most=1)


@dataclass(frozen=True, kw_only=True)  # no slots, as above
class NameOptions:
    """The option of detectors with their own labels."""

    names: str = option(
        "table",
        "Whether kitten counts as cat: table, none, or a file of names.",
        reaches="file",
        keywords=KEYWORDS,
    )

    def __post_init__(self) -> None:
        if self.names not in KEYWORDS and not Path(self.names).expanduser().is_file():
            raise invalid_option("detector.names", self.names, f"{', '.join(KEYWORDS)} or a file of names")

    def pin(self) -> str:
        """Identifies the table of names, for the pin of the weights."""
        return names_pin(self.names)


def check_floor(floor: float, threshold: float) -> None:
    """Raise UsageError if the floor is above the threshold: boxes that count would be dropped."""
    if floor > max(threshold, FLOOR):
        raise invalid_option("detector.floor", floor, f"from 0 to the threshold, {threshold:g}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreScale:
    """What the scores of a detector mean."""

    threshold: float
    """The least score of a box that counts, unless check.threshold is set."""
    doubt: float
    """Below this score a box that counts is in doubt."""


class BoxRules:
    """How one detector turns boxes into detections."""

    def __init__(
        self,
        scale: ScoreScale | None = None,
        *,
        floor: float = 0.0,
        names: str = "none",
        nms_iou: float = 0.5,
        duplicate_iou: float = 0.85,
        digits: int = 4,
    ) -> None:
        """scale: None for a detector without scores. nms_iou: of two boxes with the same name that overlap by more, the
        weaker is dropped. duplicate_iou: the same for different names. digits: of stored scores and corners."""
        self._scale, self._digits = scale, digits
        self._floor = floor if scale else None
        self._nms_iou, self._duplicate_iou = nms_iou, duplicate_iou
        self._names = Names(names)

    def names_of(self, labels: Iterable[str]) -> tuple[str, ...]:
        """The detector's own labels and their everyday names, each once."""
        return tuple(dict.fromkeys(name for label in labels for name in (self._names.name(label), label)))

    def detections(
        self,
        corners: ArrayLike,
        scores: ArrayLike,
        labels: Sequence[str],
        *,
        mask_of: Callable[[int], Mask | None] = lambda _: None,
    ) -> Detections | BackendError:
        """Detections from corners (x0, y0, x1, y1 as fractions), scores and the detector's own labels.

        Strongest first; equal scores stay in order. mask_of: the mask of a box by its index, called for boxes that are
        kept. A score that is no number from 0 to 1 is an error of the network, because dropping its box would say that
        nothing is there.
        """

        boxes = np.asarray(corners, np.float64).reshape(-1, 4).clip(0, 1).round(self._digits)
        strength = np.asarray(scores, np.float64).reshape(-1)
        # Both are false for NaN.
        has_area = (boxes[:, 2] > boxes[:, 0]) & (boxes[:, 3] > boxes[:, 1])
        is_score = (strength >= -_SLACK) & (strength <= 1 + _SLACK)
        if not is_score.all():
            what = f"the score {strength[~is_score][0]}"
            return BackendError(message("numbers-invalid", component="the detector", what=what), is_retryable=False)
        strength = strength.clip(0, 1)
        keep = np.flatnonzero(has_area & (strength.round(self._digits) >= (self._floor or 0)))
        keep = keep[np.argsort(-strength[keep], kind="stable")][:MAX_CANDIDATES]
        own = [labels[int(i)] for i in keep]
        names = [self._names.name(label) for label in own]
        boxes, strength = boxes[keep], strength[keep]
        kept = strongest(boxes, self._nms_iou, names)
        kept = [kept[i] for i in strongest(boxes[kept], self._duplicate_iou)][:MAX_BOXES]
        edges, scored = boxes.tolist(), strength.tolist()
        return Detections(
            floor=self._floor,
            threshold=self._scale.threshold if self._scale else None,
            doubt=self._scale.doubt if self._scale else None,
            boxes=tuple(
                Detection(
                    label=names[i],
                    score=round(scored[i], self._digits),
                    box=tuple(edges[i]),
                    raw="" if names[i] == own[i] else own[i],
                    mask=mask_of(int(keep[i])),
                )
                for i in kept
            ),
        )


def strongest(boxes: NDArray[np.float64], max_overlap: float, names: Sequence[str] | None = None) -> list[int]:
    """The indices of boxes that stay if of any two that overlap by more than max_overlap only the first stays.

    Boxes come strongest first. names: only boxes with the same name are compared.
    """

    if max_overlap >= 1:
        return list(range(len(boxes)))
    is_same = overlaps(boxes[:, None], boxes) > max_overlap
    if names is not None:
        kinds = np.asarray([names.index(name) for name in names], int)
        is_same &= kinds[:, None] == kinds
    is_free = np.ones(len(boxes), bool)
    kept: list[int] = []
    for i in range(len(boxes)):
        if is_free[i]:
            kept.append(i)
            is_free &= ~is_same[i]
    return kept


def overlaps(one: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.float64]:
    """Intersection over union of boxes with others; their shapes are broadcast."""

    sides = (np.minimum(one[..., 2:], others[..., 2:]) - np.maximum(one[..., :2], others[..., :2])).clip(0)
    shared = sides[..., 0] * sides[..., 1]
    areas = [(boxes[..., 2] - boxes[..., 0]) * (boxes[..., 3] - boxes[..., 1]) for boxes in (one, others)]
    shares: NDArray[np.float64] = shared / np.maximum(areas[0] + areas[1] - shared, 1e-12)
    return shares


def from_centres(boxes: ArrayLike) -> NDArray[np.float64]:
    """Corners of boxes that are given as centre and sides."""

    given = np.asarray(boxes, np.float64).reshape(-1, 4)
    half = given[:, 2:] / 2
    return np.concatenate((given[:, :2] - half, given[:, :2] + half), 1)
