"""Detector: DETR and its family (RT-DETR, D-FINE, Deformable and Conditional DETR, YOLOS), by transformers.

The vocabulary is fixed, mostly the 80 names of COCO. The checkpoint's own processor turns logits into scores, because
some of the family use softmax and others sigmoid.
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
from salva.observers.loading import CheckpointKind
from salva.observers.pixels import settings_of


class Detr(OwnLabelsDetector):
    """Detector: a detection transformer with a fixed vocabulary."""

    about: ClassVar[About] = About(
        names=Naming.LOADED,
        floor="floor",
        made_for="Mostly photographs of everyday scenes.",
    )
    name: ClassVar[str] = "detr"
    scale: ClassVar[ScoreScale] = ScoreScale(threshold=0.5, doubt=0.7)
    batch_limit: ClassVar[int] = 64
    kind: ClassVar[CheckpointKind] = CheckpointKind(
        model_class="AutoModelForObjectDetection",
        processor_class="AutoImageProcessor",
        model_types="MODEL_FOR_OBJECT_DETECTION_MAPPING_NAMES",
    )

    def __init__(self, options: OwnLabelsOptions) -> None:
        super().__init__(options)
        self._pixels = settings_of(self._loaded.processor, self.name)

    def _detect(self, requests: Sequence[ObserveRequest], labels: tuple[str, ...]) -> Sequence[Detections | SalvaError]:
        import torch

        pixels = self._input(requests)
        with self._batches.on_device, torch.inference_mode():
            outputs = self._loaded.processor.post_process_object_detection(
                self._loaded.model(pixel_values=pixels), threshold=self._floor
            )
            outputs = [{key: values.float().cpu().numpy() for key, values in output.items()} for output in outputs]
        return [
            self._rules.detections(output["boxes"], output["scores"], [self._labels[int(i)] for i in output["labels"]])
            for output in outputs
        ]
