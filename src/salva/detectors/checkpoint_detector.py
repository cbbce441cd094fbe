"""What detectors of transformers share: grouping the images, rules for boxes, and scores."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from salva.core.observation import Detections
from salva.core.protocols import ObserveRequest
from salva.detectors.boxes import BoxRules, FloorOptions, ScoreScale, check_floor
from salva.errors import BackendError, SalvaError
from salva.observers.checkpoint_observer import CheckpointObserver
from salva.observers.loading import CheckpointOptions
from salva.observers.pixels import in_groups


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredOptions(FloorOptions, CheckpointOptions):
    """The options of every checkpoint that gives scores."""


class CheckpointDetector(CheckpointObserver, ABC):
    """A model of transformers that finds entities; a subclass says which one and reads its output."""

    _rules: BoxRules

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


class ScoredDetector(CheckpointDetector):
    """A detector with scores."""

    scale: ClassVar[ScoreScale]
    detail: ClassVar[str] = ""

    def __init__(self, options: ScoredOptions, rules: BoxRules) -> None:
        super().__init__(options, detail=self.detail)
        self._floor, self._rules = options.floor, rules

    @classmethod
    def weights(cls, options: CheckpointOptions) -> str:
        """The commit or digest of the checkpoint."""
        assert isinstance(options, ScoredOptions)
        check_floor(options.floor, cls.scale.threshold)
        return super().weights(options)
