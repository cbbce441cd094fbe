"""Detector: Mask2Former by transformers, with a mask for each box: the network that GenEval looks with.

Scores, masks and boxes are made from the logits as mmdet makes them, not by the library's own post-processing, which
paints overlapping entities over each other. A fixed vocabulary, COCO's 80 names for the published weights, three of
them spelt as GenEval spells them. Which weights those are: docs/how-to/choose-a-detector.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from salva.core.about import PUBLISHED_WEIGHTS, About, Naming
from salva.core.observation import Detections
from salva.core.protocols import ObserveRequest
from salva.detectors.boxes import ScoreScale
from salva.detectors.checkpoint_detector import ScoredOptions
from salva.detectors.instance_masks import Found, find, frame_of, to_input
from salva.detectors.own_labels import OwnLabelsDetector
from salva.errors import SalvaError
from salva.hardware.mmdet_names import UNREAD
from salva.hardware.origins import GENEVAL_SHA256, read_origin

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
    # As published: no box is dropped because it overlaps another, and a score just above a threshold stays above it.
    box_rules: ClassVar[Mapping[str, Any]] = {"nms_iou": 1.0, "duplicate_iou": 1.0, "digits": 6}
    shortest: ClassVar[int] = 800
    longest: ClassVar[int] = 1333
    detail: ClassVar[str] = f"{shortest} {longest}"
    model_class: ClassVar[str] = "Mask2FormerForUniversalSegmentation"
    processor_class: ClassVar[str] = ""
    model_types: ClassVar[tuple[str, ...]] = ("mask2former",)
    purpose: ClassVar[str] = "a Mask2Former model"
    unread: ClassVar[tuple[str, ...]] = UNREAD

    @classmethod
    def weights(cls, options: ScoredOptions) -> str:
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
                find(classes, masks, frame, self._floor)
                for classes, masks in zip(output.class_queries_logits, output.masks_queries_logits, strict=True)
            ]
        height, width = frame.original
        return [self._detections(found, height, width) for found in by_picture]

    def _detections(self, found: Found, height: int, width: int) -> Detections | SalvaError:
        corners = found.corners / (width, height, width, height)
        labels = [self._labels[int(label)] for label in found.labels]
        return self._rules.detections(corners, found.scores, labels, mask_of=found.mask)
