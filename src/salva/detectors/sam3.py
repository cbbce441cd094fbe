"""Detector: SAM 3, which finds every instance of each given label.

The image is encoded once, then decoded for each label. SAM 3 scores apart how well a box fits, and whether the image
shows the label at all; the score here is the product. Masks are not used.
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
from salva.observers.pixels import PixelSettings

LICENCE = "its weights are under Meta's SAM License (among other terms, no military use), to be accepted on the hub"


class Sam3(ZeroShotDetector):
    """Detector: finds the entities that the case mentions; its score includes whether the image shows any."""

    about: ClassVar[About] = replace(ABOUT, licence=LICENCE, default_target="facebook/sam3")
    name: ClassVar[str] = "sam3"
    scale: ClassVar[ScoreScale] = ScoreScale(threshold=0.5, doubt=0.7)
    batch_limit: ClassVar[int] = 16
    # Only the tokenizer is used; the whole processor would need torchvision for masks.
    kind: ClassVar[CheckpointKind] = CheckpointKind(
        model_class="Sam3Model", processor_class="AutoTokenizer", model_types=("sam3", "sam3_video")
    )

    def __init__(self, options: ZeroShotOptions) -> None:
        super().__init__(options)
        side = int(self._loaded.model.config.vision_config.backbone_config.image_size)
        half = (0.5, 0.5, 0.5)
        self._pixels = PixelSettings(height=side, width=side, resampling="bilinear", mean=half, std=half)

    def _detect(self, requests: Sequence[ObserveRequest], labels: tuple[str, ...]) -> Sequence[Detections | SalvaError]:
        import torch

        n, model = len(requests), self._loaded.model
        words = [self._tokens(self._loaded.processor, [label], n) for label in labels]
        pixels = self._input(requests)
        boxes, scores = [], []
        with self._batches.on_device, torch.inference_mode():
            features = model.get_vision_features(pixel_values=pixels)
            for text in words:
                output = model(vision_embeds=features, **text)
                fits, presence = output.pred_logits.float().sigmoid(), output.presence_logits.float().sigmoid()
                boxes.append(output.pred_boxes.float().cpu().numpy())
                scores.append((fits * presence.reshape(n, 1)).cpu().numpy())
        corners, strength = np.concatenate(boxes, 1), np.concatenate(scores, 1)
        names = [label for label, part in zip(labels, boxes, strict=True) for _ in range(part.shape[1])]
        return [self._rules.detections(corners[i], strength[i], names) for i in range(n)]
