"""Detector: DETR and its family (RT-DETR, D-FINE, Deformable and Conditional DETR, YOLOS), by transformers.

A fixed vocabulary, mostly the 80 names of COCO: what it was not trained on it cannot see. How logits become scores
(softmax or sigmoid) is left to the checkpoint's own processor, because the family does not agree on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from salva.core.about import About, Naming
from salva.core.observation import Detections
from salva.core.protocols import ObserveRequest
from salva.detectors.boxes import BoxRules, ScoredOptions
from salva.errors import MissingExtraError, SalvaError, UsageError
from salva.hardware.ahead import AHEAD
from salva.messages import message
from salva.observers.loading import Batches, CheckpointOptions, load, pin
from salva.observers.pixels import in_groups, settings_of, to_pixels

NAME = "detr"
LIMIT = 64
DOUBT = 0.7


@dataclass(frozen=True, slots=True, kw_only=True)
class DetrOptions(ScoredOptions, CheckpointOptions):
    """What can be set with --set detector.NAME=VALUE."""

    threshold: ClassVar[float] = 0.5

    def __post_init__(self) -> None:
        ScoredOptions.__post_init__(self)
        CheckpointOptions.__post_init__(self)


class Detr:
    """Detector: all that a detection transformer with a fixed vocabulary sees."""

    version: ClassVar[str] = "1"
    about: ClassVar[About] = About(
        names=Naming.LOADED,
        floor="floor",
        made_for="What its checkpoint was trained on; mostly photographs of everyday scenes.",
    )
    Options: ClassVar[type[DetrOptions]] = DetrOptions

    def __init__(self, options: DetrOptions) -> None:
        AHEAD.wait()
        try:
            from transformers.models.auto.modeling_auto import MODEL_FOR_OBJECT_DETECTION_MAPPING_NAMES
        except ImportError as error:
            raise MissingExtraError(NAME, "torch") from error

        loaded = load(
            NAME,
            options,
            model_class="AutoModelForObjectDetection",
            processor_class="AutoImageProcessor",
            model_types=MODEL_FOR_OBJECT_DETECTION_MAPPING_NAMES.keys(),
            purpose="an object detector with a fixed vocabulary",
        )
        self._options, self._loaded = options, loaded
        self._labels = _labels(loaded.model.config.id2label, options.model)
        self._pixels = settings_of(loaded.processor, NAME)
        self._rules = BoxRules(options, DOUBT)
        self._batches = Batches(NAME, options, loaded, limit=LIMIT)
        self.habits = replace(self._batches.habits, names=self._rules.names_of(self._labels.values()))

    @classmethod
    def weights(cls, options: DetrOptions) -> str:
        """The commit or digest of the checkpoint, and the table of names."""
        return f"{pin(NAME, options)} {options.pin()}".strip()

    def observe(self, requests: Sequence[ObserveRequest]) -> Sequence[Detections | SalvaError]:
        """The boxes of each picture, strongest first."""
        # One size at a time: then no picture is padded to its neighbour's sides.
        return in_groups(
            requests,
            lambda request: (request.picture.width, request.picture.height),
            lambda part: self._batches.run(self._look, part),
        )

    def _look(self, requests: Sequence[ObserveRequest]) -> list[Detections | SalvaError]:
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


def _labels(id2label: dict[int, str], model: str) -> dict[int, str]:
    """The checkpoint's vocabulary; one without names is of no use here."""
    labels = {int(i): str(label) for i, label in id2label.items()}
    if all(label.startswith("LABEL_") for label in labels.values()):
        why = "its config.json names no classes (id2label)"
        raise UsageError(message("checkpoint-invalid", component=NAME, model=model, why=why))
    return labels
