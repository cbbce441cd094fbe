"""Detector: Mask2Former by transformers, with a mask for each box; GenEval's detector.

Scores, masks and boxes are made from the logits as mmdet does, since transformers' own post-processing gives each
pixel to one entity. The vocabulary is fixed: COCO's 80 names for the published weights, which
docs/how-to/choose-a-detector.md names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from salva.core.about import PUBLISHED_WEIGHTS, About, Naming
from salva.core.observation import Detections
from salva.core.protocols import ObserveRequest
from salva.detectors.boxes import ScoreScale
from salva.detectors.instance_masks import find, frame_of, to_input
from salva.detectors.own_labels import OwnLabelsDetector
from salva.errors import SalvaError
from salva.hardware.mmdet_names import UNREAD
from salva.hardware.origins import GENEVAL_SHA256, read_origin
from salva.observers.loading import CheckpointKind, CheckpointOptions


class Mask2Former(OwnLabelsDetector):
    """Detector: a Mask2Former with a fixed vocabulary; also gives masks."""

    about: ClassVar[About] = About(
        names=Naming.LOADED,
        floor="floor",
        made_for="Photographs of everyday scenes (COCO).",
        default_target="facebook/mask2former-swin-small-coco-instance",
    )
    name: ClassVar[str] = "mask2former"
    scale: ClassVar[ScoreScale] = ScoreScale(threshold=0.5, doubt=0.7)
    # As published: overlapping boxes stay, and six digits keep a score just above a threshold above it.
    box_rules: ClassVar[Mapping[str, Any]] = {"nms_iou": 1.0, "duplicate_iou": 1.0, "digits": 6}
    shortest: ClassVar[int] = 800
    longest: ClassVar[int] = 1333
    detail: ClassVar[str] = f"{shortest} {longest}"
    kind: ClassVar[CheckpointKind] = CheckpointKind(
        model_class="Mask2FormerForUniversalSegmentation", model_types=("mask2former",), unread=UNREAD
    )

    @classmethod
    def weights(cls, options: CheckpointOptions) -> str:
        """The commit or digest of the checkpoint, the table of names, and whether it is the published one."""
        origin = read_origin(Path(options.model).expanduser())
        published = PUBLISHED_WEIGHTS if origin and origin.sha256.startswith(GENEVAL_SHA256) else ""
        return f"{super().weights(options)} {published}".strip()

    def _detect(self, requests: Sequence[ObserveRequest], labels: tuple[str, ...]) -> Sequence[Detections | SalvaError]:
        import torch

        pictures = [request.picture for request in requests]
        frame = frame_of(pictures[0], self.shortest, self.longest)
        pixels = to_input(pictures, frame, self._loaded.device, self._loaded.dtype)
        with self._batches.on_device, torch.inference_mode():
            output = self._loaded.model(pixel_values=pixels)
            found = [
                find(classes, masks, frame, self._floor)
                for classes, masks in zip(output.class_queries_logits, output.masks_queries_logits, strict=True)
            ]
        height, width = frame.original
        return [
            self._rules.detections(
                one.corners / (width, height, width, height),
                one.scores,
                [self._labels[int(label)] for label in one.labels],
                mask_of=one.mask,
            )
            for one in found
        ]
