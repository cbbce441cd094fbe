"""What detectors of transformers with a fixed vocabulary have in common: options, names, and how images are grouped."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from salva.core.observation import Detections
from salva.core.protocols import ObserveRequest
from salva.detectors.boxes import BoxRules, FloorOptions, NameOptions, ScoreScale, check_floor
from salva.errors import SalvaError, UsageError
from salva.messages import message
from salva.observers.loading import Batches, CheckpointOptions, LoadedModel, pin
from salva.observers.pixels import in_groups


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnLabelsOptions(NameOptions, FloorOptions, CheckpointOptions):
    """What can be set with --set detector.NAME=VALUE."""

    def __post_init__(self) -> None:
        NameOptions.__post_init__(self)
        FloorOptions.__post_init__(self)
        CheckpointOptions.__post_init__(self)


class OwnLabelsDetector(ABC):
    """A checkpoint that names what it was trained on; a subclass loads it and reads its output."""

    version: ClassVar[str] = "1"
    Options: ClassVar[type[OwnLabelsOptions]] = OwnLabelsOptions
    name: ClassVar[str]
    scale: ClassVar[ScoreScale]
    spelling: ClassVar[Mapping[str, str]] = {}
    """Other names for labels, used where the checkpoint has all of them."""

    def _set_up(self, options: OwnLabelsOptions, loaded: LoadedModel, batches: Batches, rules: BoxRules) -> None:
        self._options, self._loaded, self._batches, self._rules = options, loaded, batches, rules
        labels = {int(i): str(label) for i, label in loaded.model.config.id2label.items()}
        if all(label.startswith("LABEL_") for label in labels.values()):
            why = "its config.json names no classes (id2label)"
            raise UsageError(message("checkpoint-invalid", component=self.name, model=options.model, why=why))
        spelling = self.spelling if self.spelling.keys() <= set(labels.values()) else {}
        self._labels = {i: spelling.get(labels[i], labels[i]) for i in sorted(labels)}
        self.habits = replace(batches.habits, names=rules.names_of(self._labels.values()))

    @classmethod
    def weights(cls, options: OwnLabelsOptions) -> str:
        """The commit or digest of the checkpoint, and the table of names."""
        check_floor(options.floor, cls.scale.threshold)
        return f"{pin(cls.name, options)} {options.pin()}".strip()

    def observe(self, requests: Sequence[ObserveRequest]) -> Sequence[Detections | SalvaError]:
        """The boxes of each image, strongest first."""
        # One size at a time: then no image is padded to its neighbour's sides.
        return in_groups(
            requests,
            lambda request: (request.picture.width, request.picture.height),
            lambda part: self._batches.run(self._detect, part),
        )

    @abstractmethod
    def _detect(self, requests: Sequence[ObserveRequest]) -> Sequence[Detections | SalvaError]:
        """The boxes in images of one size."""
