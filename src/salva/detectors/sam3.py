"""Detector: SAM 3, which finds every instance of what it is told to look for, one word or phrase after the other.

The image is seen once, then each label is asked for. The score of a box is how well it fits times the chance that
there is any such entity in the image, which SAM 3 judges apart: a low score can mean either. Masks are not used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from salva.core.about import About
from salva.core.observation import Detections
from salva.core.protocols import ObserveRequest
from salva.detectors.boxes import ScoreScale
from salva.detectors.zero_shot import ABOUT, ZeroShotDetector, ZeroShotOptions
from salva.errors import SalvaError
from salva.observers.pixels import PixelSettings, to_pixels

LICENCE = (
    "its weights are under Meta's SAM License, which is no open-source licence (among other terms no military use) and "
    "must be accepted on the hub; read it before you publish or ship what rests on them"
)


class Sam3(ZeroShotDetector):
    """Detector: finds what the case mentions; its score contains whether there is any."""

    about: ClassVar[About] = replace(ABOUT, licence=LICENCE, default_target="facebook/sam3")
    name: ClassVar[str] = "sam3"
    scale: ClassVar[ScoreScale] = ScoreScale(threshold=0.5, doubt=0.7)
    batch_limit: ClassVar[int] = 16
    model_class: ClassVar[str] = "Sam3Model"
    # The whole processor would need torchvision for its masks; the words are all that is wanted of it.
    processor_class: ClassVar[str] = "AutoTokenizer"
    model_types: ClassVar[tuple[str, ...]] = ("sam3", "sam3_video")
    purpose: ClassVar[str] = "a SAM 3 model"

    def __init__(self, options: ZeroShotOptions) -> None:
        super().__init__(options)
        side = int(self._loaded.model.config.vision_config.backbone_config.image_size)
        half = (0.5, 0.5, 0.5)
        self._pixels = PixelSettings(height=side, width=side, resampling="bilinear", mean=half, std=half)

    def _detect(self, requests: Sequence[ObserveRequest], labels: tuple[str, ...]) -> Sequence[Detections | SalvaError]:
        import numpy as np
        import torch

        n, model = len(requests), self._loaded.model
        words = [self._tokens(self._loaded.processor, [label], n) for label in labels]
        pixels = to_pixels([r.picture for r in requests], self._pixels, self._loaded.device, self._loaded.dtype)
        boxes, scores = [], []
        with self._batches.on_device, torch.inference_mode():
            sight = model.get_vision_features(pixel_values=pixels)
            for text in words:
                output = model(vision_embeds=sight, **text)
                fits, is_there = output.pred_logits.float().sigmoid(), output.presence_logits.float().sigmoid()
                boxes.append(output.pred_boxes.float().cpu().numpy())
                scores.append((fits * is_there.reshape(n, 1)).cpu().numpy())
        corners, strength = np.concatenate(boxes, 1), np.concatenate(scores, 1)
        said = [label for label, part in zip(labels, boxes, strict=True) for _ in range(part.shape[1])]
        return [self._rules.detections(corners[i], strength[i], said, are_names=True) for i in range(n)]
