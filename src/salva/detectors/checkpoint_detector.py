"""What detectors of transformers have in common: their options, loading a checkpoint, and its pin."""

from __future__ import annotations

from abc import ABC
from collections.abc import Collection
from dataclasses import dataclass
from typing import ClassVar

from salva.detectors.boxes import BoxRules, FloorOptions, ScoreScale, check_floor
from salva.observers.loading import Batches, CheckpointOptions, load, pin


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredOptions(FloorOptions, CheckpointOptions):
    """The options of every checkpoint that gives scores."""


class CheckpointDetector(ABC):
    """A model of transformers that finds entities; a subclass says which one and reads its output."""

    version: ClassVar[str] = "1"
    name: ClassVar[str]
    scale: ClassVar[ScoreScale]
    batch_limit: ClassVar[int] = 32
    detail: ClassVar[str] = ""
    """What else decides how many images fit at once."""
    model_class: ClassVar[str]
    processor_class: ClassVar[str] = "AutoProcessor"
    model_types: ClassVar[Collection[str] | str]
    purpose: ClassVar[str]
    unread: ClassVar[tuple[str, ...]] = ()

    def __init__(self, options: ScoredOptions, rules: BoxRules) -> None:
        self._floor, self._rules = options.floor, rules
        self._loaded = load(
            self.name,
            options,
            model_class=self.model_class,
            processor_class=self.processor_class,
            model_types=self.model_types,
            purpose=self.purpose,
            unread=self.unread,
        )
        self._batches = Batches(self.name, options, self._loaded, limit=self.batch_limit, detail=self.detail)
        self.habits = self._batches.habits

    @classmethod
    def weights(cls, options: ScoredOptions) -> str:
        """The commit or digest of the checkpoint."""
        check_floor(options.floor, cls.scale.threshold)
        return pin(cls.name, options)
