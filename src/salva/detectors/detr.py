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
from salva.detectors.boxes import BoxRules, ScoreScale
from salva.detectors.own_labels import OwnLabelsDetector, OwnLabelsOptions
from salva.errors import MissingExtraError, SalvaError
from salva.hardware.background_imports import BACKGROUND_IMPORTS
from salva.observers.loading import Batches, load
from salva.observers.pixels import settings_of, to_pixels

LIMIT = 64


class Detr(OwnLabelsDetector):
    """Detector: all that a detection transformer with a fixed vocabulary sees."""

    about: ClassVar[About] = About(
        names=Naming.LOADED,
        floor="floor",
        made_for="What its checkpoint was trained on; mostly photographs of everyday scenes.",
    )
    name: ClassVar[str] = "detr"
    scale: ClassVar[ScoreScale] = ScoreScale(threshold=0.5, doubt=0.7)

    def __init__(self, options: OwnLabelsOptions) -> None:
        BACKGROUND_IMPORTS.wait()
        try:
            from transformers.models.auto.modeling_auto import MODEL_FOR_OBJECT_DETECTION_MAPPING_NAMES
        except ImportError as error:
            raise MissingExtraError(self.name, "torch") from error

        loaded = load(
            self.name,
            options,
            model_class="AutoModelForObjectDetection",
            processor_class="AutoImageProcessor",
            model_types=MODEL_FOR_OBJECT_DETECTION_MAPPING_NAMES.keys(),
            purpose="an object detector with a fixed vocabulary",
        )
        self._pixels = settings_of(loaded.processor, self.name)
        rules = BoxRules(self.scale, floor=options.floor, names=options.names)
        self._set_up(options, loaded, Batches(self.name, options, loaded, limit=LIMIT), rules)

    def _detect(self, requests: Sequence[ObserveRequest]) -> Sequence[Detections | SalvaError]:
        import torch

        pixels = to_pixels([r.picture for r in requests], self._pixels, self._loaded.device, self._loaded.dtype)
        with self._batches.on_device, torch.inference_mode():
            by_picture = self._loaded.processor.post_process_object_detection(
                self._loaded.model(pixel_values=pixels), threshold=self._options.floor
            )
            by_picture = [{key: values.float().cpu().numpy() for key, values in seen.items()} for seen in by_picture]
        return [
            self._rules.detections(seen["boxes"], seen["scores"], [self._labels[int(i)] for i in seen["labels"]])
            for seen in by_picture
        ]
