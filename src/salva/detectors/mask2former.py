"""Detector: Mask2Former by transformers, with a mask for each box: the network that GenEval looks with.

Scores, masks and boxes are made from the logits as mmdet makes them, not by the library's own post-processing, which
paints overlapping things over each other. A fixed vocabulary, COCO's 80 names for the published weights, three of
them spelt as GenEval spells them. Which weights those are: docs/how-to/choose-a-detector.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from salva.core.about import PUBLISHED_WEIGHTS, About, Naming
from salva.core.observation import Detections
from salva.core.options import option
from salva.core.protocols import ObserveRequest
from salva.detectors.boxes import BoxRules, ScoredOptions
from salva.detectors.instance_masks import DIVISOR, Found, find, frame_of, to_input
from salva.errors import SalvaError, UsageError
from salva.hardware.mmdet_names import UNREAD
from salva.hardware.origins import GENEVAL_SHA256, origin_of
from salva.messages import message
from salva.observers.loading import Batches, CheckpointOptions, load, pin
from salva.observers.pixels import in_groups

NAME = "mask2former"
LIMIT = 32
DOUBT = 0.7
DIGITS = 6
"""Published thresholds are strict, so a score just above one must stay above it."""
SMALLEST = 2 * DIVISOR
"""Its smallest map of a picture of one cell cannot be normalised."""
SPELT = {"mouse": "computer mouse", "remote": "tv remote", "keyboard": "computer keyboard"}
"""COCO's names that GenEval's prompts spell out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mask2FormerOptions(ScoredOptions, CheckpointOptions):
    """What can be set with --set detector.NAME=VALUE."""

    model: str = option(
        "facebook/mask2former-swin-small-coco-instance",
        "The checkpoint: a hub id, or a folder that save_pretrained or `python -m salva.cli.geneval_weights` wrote.",
        target=True,
    )
    threshold: ClassVar[float] = 0.5
    nms_iou: ClassVar[float] = 1.0
    duplicate_iou: ClassVar[float] = 1.0
    shortest: ClassVar[int] = 800
    longest: ClassVar[int] = 1333

    def __post_init__(self) -> None:
        ScoredOptions.__post_init__(self)
        CheckpointOptions.__post_init__(self)


class Mask2Former:
    """Detector: all that a Mask2Former with a fixed vocabulary sees, with masks."""

    version: ClassVar[str] = "1"
    about: ClassVar[About] = About(
        names=Naming.LOADED,
        floor="floor",
        made_for="Photographs of everyday scenes (COCO).",
    )
    Options: ClassVar[type[Mask2FormerOptions]] = Mask2FormerOptions

    def __init__(self, options: Mask2FormerOptions) -> None:
        loaded = load(
            NAME,
            options,
            model_class="Mask2FormerForUniversalSegmentation",
            model_types=("mask2former",),
            purpose="a Mask2Former model",
            unread=UNREAD,
        )
        self._options, self._loaded = options, loaded
        self._labels = _labels(loaded.model.config.id2label, options.model)
        self._rules = BoxRules(options, DOUBT, DIGITS)
        detail = f"{options.shortest} {options.longest}"
        self._batches = Batches(NAME, options, loaded, limit=LIMIT, detail=detail)
        self.habits = replace(self._batches.habits, names=self._rules.names_of(self._labels))

    @classmethod
    def weights(cls, options: Mask2FormerOptions) -> str:
        """The commit or digest of the checkpoint, the table of names, and whether it is the published one."""
        origin = origin_of(Path(options.model).expanduser())
        published = PUBLISHED_WEIGHTS if origin and origin.sha256.startswith(GENEVAL_SHA256) else ""
        return " ".join(part for part in (pin(NAME, options), options.pin(), published) if part)

    def observe(self, requests: Sequence[ObserveRequest]) -> Sequence[Detections | SalvaError]:
        """The boxes of each picture with their masks, strongest first."""
        # One size at a time: then all have one frame, and no picture is padded to its neighbour's sides.
        return in_groups(
            requests,
            lambda request: (request.picture.width, request.picture.height),
            lambda part: self._batches.run(self._look, part),
        )

    def _look(self, requests: Sequence[ObserveRequest]) -> list[Detections | SalvaError]:
        import torch

        options, pictures = self._options, [request.picture for request in requests]
        frame = frame_of(pictures[0], options.shortest, options.longest)
        pixels = to_input(pictures, frame, self._loaded.device, self._loaded.dtype)
        with self._batches.on_device, torch.inference_mode():
            output = self._loaded.model(pixel_values=pixels)
            by_picture = [
                find(classes, masks, frame, options.floor)
                for classes, masks in zip(output.class_queries_logits, output.masks_queries_logits, strict=True)
            ]
        height, width = frame.original
        return [self._detections(found, height, width) for found in by_picture]

    def _detections(self, found: Found, height: int, width: int) -> Detections | SalvaError:
        corners = found.corners / (width, height, width, height)
        labels = [self._labels[int(label)] for label in found.labels]
        return self._rules.detections(corners, found.scores, labels, mask_of=found.mask)


def _labels(id2label: Mapping[int, str], model: str) -> tuple[str, ...]:
    """The checkpoint's vocabulary in the order of its classes; one without names is of no use here."""
    labels = tuple(str(id2label[i]) for i in sorted(id2label))
    if all(label.startswith("LABEL_") for label in labels):
        why = "its config.json names no classes (id2label)"
        raise UsageError(message("checkpoint-invalid", component=NAME, model=model, why=why))
    return tuple(SPELT.get(label, label) for label in labels) if SPELT.keys() <= set(labels) else labels
