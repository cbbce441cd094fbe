"""Detector: OWLv2, which finds given labels.

Each label is a query ("a photo of a cat"), and a box gets the label of the query that it fits best. Images are padded
to a square with grey, right and below, as its authors do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np

from salva.core.about import About
from salva.core.observation import Detections
from salva.core.protocols import ObserveRequest
from salva.detectors.boxes import ScoreScale
from salva.detectors.zero_shot import ABOUT, ZeroShotDetector, ZeroShotOptions
from salva.errors import SalvaError
from salva.observers.loading import CheckpointKind
from salva.observers.pixels import settings_of

TEMPLATE = "a photo of a {}"


class Owlv2(ZeroShotDetector):
    """Detector: finds the entities that the case mentions."""

    about: ClassVar[About] = replace(ABOUT, default_target="google/owlv2-base-patch16-ensemble")
    name: ClassVar[str] = "owlv2"
    scale: ClassVar[ScoreScale] = ScoreScale(threshold=0.2, doubt=0.3)
    kind: ClassVar[CheckpointKind] = CheckpointKind(
        model_class="Owlv2ForObjectDetection", processor_class="AutoProcessor", model_types=("owlv2",)
    )

    def __init__(self, options: ZeroShotOptions) -> None:
        super().__init__(options)
        self._tokenizer = self._loaded.processor.tokenizer
        self._pixels = replace(settings_of(self._loaded.processor.image_processor, self.name), is_squared=True)

    def _detect(self, requests: Sequence[ObserveRequest], labels: tuple[str, ...]) -> Sequence[Detections | SalvaError]:
        import torch

        words = self._tokens(self._tokenizer, [TEMPLATE.format(label) for label in labels], len(requests))
        pixels = self._input(requests)
        with self._batches.on_device, torch.inference_mode():
            output = self._loaded.model(pixel_values=pixels, **words)
            scores, places = output.logits.float().sigmoid().max(-1)
            boxes = output.pred_boxes.float().cpu().numpy()
        picture = requests[0].picture
        side = max(picture.width, picture.height)
        # Boxes are fractions of the square; the image is in its corner.
        stretch = np.array((side / picture.width, side / picture.height) * 2)
        return self._detections(boxes * stretch, scores.cpu().numpy(), places.cpu().numpy(), labels)
