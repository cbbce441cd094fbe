"""Detectors: Grounding DINO, MM Grounding DINO and LLMDet, which find given labels.

The labels are written as one text ("cat. dog."). A box gets the label with the word that it fits best, and that word's
score. Unlike the usual decoding, this never combines words of several labels into a phrase.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from salva.core.about import About
from salva.core.observation import Detections
from salva.core.protocols import ObserveRequest
from salva.detectors.boxes import ScoreScale
from salva.detectors.zero_shot import ABOUT, ZeroShotDetector, ZeroShotOptions
from salva.errors import BackendError, SalvaError
from salva.messages import message
from salva.observers.loading import CheckpointKind
from salva.observers.pixels import settings_of

if TYPE_CHECKING:
    import torch


class GroundingDino(ZeroShotDetector):
    """Detector: finds the entities that the case mentions."""

    about: ClassVar[About] = replace(ABOUT, default_target="IDEA-Research/grounding-dino-base")
    name: ClassVar[str] = "grounding-dino"
    scale: ClassVar[ScoreScale] = ScoreScale(threshold=0.35, doubt=0.45)
    kind: ClassVar[CheckpointKind] = CheckpointKind(
        model_class="AutoModelForZeroShotObjectDetection",
        processor_class="AutoProcessor",
        model_types=("grounding-dino", "mm-grounding-dino"),
    )

    def __init__(self, options: ZeroShotOptions) -> None:
        super().__init__(options)
        self._tokenizer = self._loaded.processor.tokenizer
        self._pixels = settings_of(self._loaded.processor.image_processor, self.name)

    def _detect(self, requests: Sequence[ObserveRequest], labels: tuple[str, ...]) -> Sequence[Detections | SalvaError]:
        import torch

        words, spans = self._words(labels, len(requests))
        pixels = self._input(requests)
        with self._batches.on_device, torch.inference_mode():
            output = self._loaded.model(pixel_values=pixels, **words)
            fits = output.logits.float().sigmoid()
            scores, places = torch.stack([fits[..., span].amax(-1) for span in spans], -1).max(-1)
            boxes = output.pred_boxes.float().cpu().numpy()
            return self._detections(boxes, scores.cpu().numpy(), places.cpu().numpy(), labels)

    def _words(self, labels: tuple[str, ...], n: int) -> tuple[dict[str, torch.Tensor], list[list[int]]]:
        """The text of all labels, as tokens for n images, and the places of each label's tokens."""
        text, ends = "", []
        for label in labels:
            text += f"{label.casefold()}. "
            ends.append(len(text))
        written = self._tokenizer(text.strip(), return_offsets_mapping=True, return_tensors="pt")
        n_tokens, limit = written["input_ids"].shape[1], int(self._loaded.model.config.max_text_len)
        if n_tokens > limit:
            values = {"limit": limit, "text": f"a text of {len(labels)} labels", "n": n_tokens}
            problem = message("too-many-tokens", component=self.name, **values, instead="Give fewer labels.")
            raise BackendError(problem, is_retryable=False)
        offsets = written.pop("offset_mapping")[0].tolist()
        # The full stop and the space after a label are no part of it.
        spans = [
            [i for i, (a, b) in enumerate(offsets) if a < b and begin <= a and b <= end - 2]
            for begin, end in itertools.pairwise([0, *ends])
        ]
        if not all(spans):
            problem = message("label-unusable", detector=self.name, label=labels[spans.index([])])
            raise BackendError(problem, is_retryable=False)
        return {key: value.expand(n, -1).to(self._loaded.device) for key, value in written.items()}, spans


class MmGroundingDino(GroundingDino):
    """Detector: Grounding DINO's network, trained openly on more data."""

    about: ClassVar[About] = replace(ABOUT, default_target="openmmlab-community/mm_grounding_dino_base_all")
    name: ClassVar[str] = "mm-grounding-dino"
    scale: ClassVar[ScoreScale] = ScoreScale(threshold=0.4, doubt=0.5)


class LlmDet(MmGroundingDino):
    """Detector: MM Grounding DINO's network, trained together with a language model."""

    about: ClassVar[About] = replace(ABOUT, default_target="iSEE-Laboratory/llmdet_base")
    name: ClassVar[str] = "llmdet"
