"""Detector: DETR and its family (RT-DETR, D-FINE, Deformable and Conditional DETR, YOLOS), by transformers.

A fixed vocabulary, mostly the 80 names of COCO: what it was not trained on it cannot see. How logits become scores
(softmax or sigmoid) is left to the checkpoint's own processor, because the family does not agree on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from salva.core.about import About, Naming
from salva.core.observation import Detections
from salva.core.protocols import ObserveRequest
from salva.detectors.boxes import ScoreScale
from salva.detectors.own_labels import OwnLabelsDetector, OwnLabelsOptions
from salva.errors import SalvaError
from salva.observers.pixels import settings_of, to_pixels


class Detr(OwnLabelsDetector):
    """Detector: all that a detection transformer with a fixed vocabulary sees."""

    about: ClassVar[About] = About(
        names=Naming.LOADED,
        floor="floor",
        made_for="What its checkpoint was trained on; mostly photographs of everyday scenes.",
    )
    name: ClassVar[str] = "detr"
    scale: ClassVar[ScoreScale] = ScoreScale(threshold=0.5, doubt=0.7)
    batch_limit: ClassVar[int] = 64
    model_class: ClassVar[str] = "AutoModelForObjectDetection"
    processor_class: ClassVar[str] = "AutoImageProcessor"
    model_types: ClassVar[str] = "MODEL_FOR_OBJECT_DETECTION_MAPPING_NAMES"
    purpose: ClassVar[str] = "an object detector with a fixed vocabulary"

    def __init__(self, options: OwnLabelsOptions) -> None:
        super().__init__(options)
        self._pixels = settings_of(self._loaded.processor, self.name)

    def _detect(self, requests: Sequence[ObserveRequest]) -> Sequence[Detections | SalvaError]:
        import torch

        pixels = to_pixels([r.picture for r in requests], self._pixels, self._loaded.device, self._loaded.dtype)
        with self._batches.on_device, torch.inference_mode():
            by_picture = self._loaded.processor.post_process_object_detection(
                self._loaded.model(pixel_values=pixels), threshold=self._floor
            )
            by_picture = [{key: values.float().cpu().numpy() for key, values in seen.items()} for seen in by_picture]
        return [
            self._rules.detections(seen["boxes"], seen["scores"], [self._labels[int(i)] for i in seen["labels"]])
            for seen in by_picture
        ]
