"""Detector: OWLv2, which finds what it is told to look for.

Each label is a query of its own ("a photo of a cat"), and a box belongs to the query it fits best. Images are
filled up to a square with grey, right and below, as its authors do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from salva.core.about import About
from salva.core.observation import Detections
from salva.core.protocols import ObserveRequest
from salva.detectors.boxes import ScoreScale, from_centres
from salva.detectors.zero_shot import ABOUT, ZeroShotDetector, ZeroShotOptions
from salva.errors import SalvaError
from salva.observers.pixels import settings_of, to_pixels

TEMPLATE = "a photo of a {}"


class Owlv2(ZeroShotDetector):
    """Detector: finds what the case mentions."""

    about: ClassVar[About] = replace(ABOUT, default_target="google/owlv2-base-patch16-ensemble")
    name: ClassVar[str] = "owlv2"
    scale: ClassVar[ScoreScale] = ScoreScale(threshold=0.2, doubt=0.3)
    model_class: ClassVar[str] = "Owlv2ForObjectDetection"
    model_types: ClassVar[tuple[str, ...]] = ("owlv2",)
    purpose: ClassVar[str] = "an OWLv2 model"

    def __init__(self, options: ZeroShotOptions) -> None:
        super().__init__(options)
        self._tokenizer = self._loaded.processor.tokenizer
        self._pixels = replace(settings_of(self._loaded.processor.image_processor, self.name), is_squared=True)

    def _detect(self, requests: Sequence[ObserveRequest], labels: tuple[str, ...]) -> Sequence[Detections | SalvaError]:
        import numpy as np
        import torch

        words = self._tokens(self._tokenizer, [TEMPLATE.format(label) for label in labels], len(requests))
        pixels = to_pixels([r.picture for r in requests], self._pixels, self._loaded.device, self._loaded.dtype)
        with self._batches.on_device, torch.inference_mode():
            output = self._loaded.model(pixel_values=pixels, **words)
            scores, which = output.logits.float().sigmoid().max(-1)
            boxes, scores, which = output.pred_boxes.float().cpu().numpy(), scores.cpu().numpy(), which.cpu().numpy()
        picture = requests[0].picture
        side = max(picture.width, picture.height)
        # From shares of the square to shares of the image in its corner.
        stretch = np.array((side / picture.width, side / picture.height) * 2)
        return [
            self._rules.detections(
                from_centres(boxes[i]) * stretch, scores[i], [labels[int(k)] for k in which[i]], are_names=True
            )
            for i in range(len(requests))
        ]
