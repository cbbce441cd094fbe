"""Detector: Mask2Former by transformers, with a mask for each box: the network that GenEval looks with.

Scores, masks and boxes are made from the logits as mmdet makes them, not by the library's own post-processing, which
paints overlapping entities over each other. A fixed vocabulary, COCO's 80 names for the published weights, three of
them spelt as GenEval spells them. Which weights those are: docs/how-to/choose-a-detector.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from salva.core.about import PUBLISHED_WEIGHTS, About, Naming
from salva.core.observation import Detections
from salva.core.protocols import ObserveRequest
from salva.detectors.boxes import BoxRules, ScoreScale
from salva.detectors.instance_masks import DIVISOR, Found, find, frame_of, to_input
from salva.detectors.own_labels import OwnLabelsDetector, OwnLabelsOptions
from salva.errors import SalvaError
from salva.hardware.mmdet_names import UNREAD
from salva.hardware.origins import GENEVAL_SHA256, read_origin
from salva.observers.loading import Batches, load

LIMIT = 32
DIGITS = 6
"""Published thresholds are strict, so a score just above one must stay above it."""
SMALLEST = 2 * DIVISOR
"""Its smallest map of an image of one cell cannot be normalised."""
SPELT = {"mouse": "computer mouse", "remote": "tv remote", "keyboard": "computer keyboard"}
"""COCO's names that GenEval's prompts spell out."""


class Mask2Former(OwnLabelsDetector):
    """Detector: all that a Mask2Former with a fixed vocabulary sees, with masks."""

    about: ClassVar[About] = About(
        names=Naming.LOADED,
        floor="floor",
        made_for="Photographs of everyday scenes (COCO).",
        default_target="facebook/mask2former-swin-small-coco-instance",
    )
    name: ClassVar[str] = "mask2former"
    scale: ClassVar[ScoreScale] = ScoreScale(threshold=0.5, doubt=0.7)
    spelling: ClassVar[Mapping[str, str]] = SPELT
    shortest: ClassVar[int] = 800
    longest: ClassVar[int] = 1333

    def __init__(self, options: OwnLabelsOptions) -> None:
        loaded = load(
            self.name,
            options,
            model_class="Mask2FormerForUniversalSegmentation",
            model_types=("mask2former",),
            purpose="a Mask2Former model",
            unread=UNREAD,
        )
        # As published: no box is dropped because it overlaps another.
        overlaps = {"nms_iou": 1.0, "duplicate_iou": 1.0}
        rules = BoxRules(self.scale, floor=options.floor, names=options.names, **overlaps, digits=DIGITS)
        detail = f"{self.shortest} {self.longest}"
        self._set_up(options, loaded, Batches(self.name, options, loaded, limit=LIMIT, detail=detail), rules)

    @classmethod
    def weights(cls, options: OwnLabelsOptions) -> str:
        """The commit or digest of the checkpoint, the table of names, and whether it is the published one."""
        origin = read_origin(Path(options.model).expanduser())
        published = PUBLISHED_WEIGHTS if origin and origin.sha256.startswith(GENEVAL_SHA256) else ""
        return f"{super().weights(options)} {published}".strip()

    def _detect(self, requests: Sequence[ObserveRequest]) -> Sequence[Detections | SalvaError]:
        import torch

        pictures = [request.picture for request in requests]
        frame = frame_of(pictures[0], self.shortest, self.longest)
        pixels = to_input(pictures, frame, self._loaded.device, self._loaded.dtype)
        with self._batches.on_device, torch.inference_mode():
            output = self._loaded.model(pixel_values=pixels)
            by_picture = [
                find(classes, masks, frame, self._options.floor)
                for classes, masks in zip(output.class_queries_logits, output.masks_queries_logits, strict=True)
            ]
        height, width = frame.original
        return [self._detections(found, height, width) for found in by_picture]

    def _detections(self, found: Found, height: int, width: int) -> Detections | SalvaError:
        corners = found.corners / (width, height, width, height)
        labels = [self._labels[int(label)] for label in found.labels]
        return self._rules.detections(corners, found.scores, labels, mask_of=found.mask)
