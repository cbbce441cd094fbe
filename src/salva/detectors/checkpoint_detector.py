"""What detectors of transformers share: options, loading a checkpoint, its pin, and grouping the images."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from salva.core.observation import Detections
from salva.core.protocols import ObserveRequest
from salva.detectors.boxes import BoxRules, FloorOptions, ScoreScale, check_floor
from salva.errors import BackendError, SalvaError
from salva.observers.loading import Batches, CheckpointKind, CheckpointOptions, load, pin
from salva.observers.pixels import PixelSettings, in_groups, to_pixels

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredOptions(FloorOptions, CheckpointOptions):
    """The options of every checkpoint that gives scores."""


class CheckpointDetector(ABC):
    """A model of transformers that finds entities; a subclass says which one and reads its output."""

    version: ClassVar[str] = "1"
    name: ClassVar[str]
    scale: ClassVar[ScoreScale]
    kind: ClassVar[CheckpointKind]
    batch_limit: ClassVar[int] = 32
    detail: ClassVar[str] = ""
    """What else decides how many images fit at once."""
    _pixels: PixelSettings

    def __init__(self, options: ScoredOptions, rules: BoxRules) -> None:
        self._floor, self._rules = options.floor, rules
        self._loaded = load(self.name, options, self.kind)
        self._batches = Batches(self.name, options, self._loaded, limit=self.batch_limit, detail=self.detail)
        self.habits = self._batches.habits

    @classmethod
    def weights(cls, options: ScoredOptions) -> str:
        """The commit or digest of the checkpoint."""
        check_floor(options.floor, cls.scale.threshold)
        return pin(cls.name, options)

    def observe(self, requests: Sequence[ObserveRequest]) -> Sequence[Detections | SalvaError]:
        """The boxes of each image, strongest first."""
        # One size at a time, so that no image is padded to the size of another.
        return in_groups(
            requests,
            lambda request: (request.picture.width, request.picture.height, self._labels_for(request)),
            lambda group: self._batches.run(self._observe_batch, group),
        )

    def _labels_for(self, request: ObserveRequest) -> tuple[str, ...]:
        """The labels to find; empty for a detector with its own."""
        return ()

    def _observe_batch(self, requests: Sequence[ObserveRequest]) -> Sequence[Detections | SalvaError]:
        try:
            return self._detect(requests, self._labels_for(requests[0]))
        except BackendError as error:
            return [error] * len(requests)  # If it were raised, other cases would lose their images too.

    @abstractmethod
    def _detect(self, requests: Sequence[ObserveRequest], labels: tuple[str, ...]) -> Sequence[Detections | SalvaError]:
        """The boxes in images of one size."""

    def _input(self, requests: Sequence[ObserveRequest]) -> torch.Tensor:
        pictures = [request.picture for request in requests]
        return to_pixels(pictures, self._pixels, self._loaded.device, self._loaded.dtype)
