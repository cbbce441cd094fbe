"""What detectors of transformers with a fixed vocabulary have in common: options, names, and how images are grouped."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from salva.core.observation import Detections
from salva.core.protocols import ObserveRequest
from salva.detectors.boxes import BoxRules, NameOptions
from salva.detectors.checkpoint_detector import CheckpointDetector, ScoredOptions
from salva.errors import SalvaError
from salva.hardware.checkpoints import invalid_checkpoint
from salva.observers.pixels import in_groups


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnLabelsOptions(NameOptions, ScoredOptions):
    """What can be set with --set detector.NAME=VALUE."""


class OwnLabelsDetector(CheckpointDetector):
    """A checkpoint that names what it was trained on; a subclass says which one and reads its output."""

    Options: ClassVar[type[OwnLabelsOptions]] = OwnLabelsOptions
    spelling: ClassVar[Mapping[str, str]] = {}
    """Other names for labels, used where the checkpoint has all of them."""
    box_rules: ClassVar[Mapping[str, Any]] = {}

    def __init__(self, options: OwnLabelsOptions) -> None:
        rules = BoxRules(self.scale, floor=options.floor, names=options.names, **self.box_rules)
        super().__init__(options, rules)
        labels = {int(i): str(label) for i, label in self._loaded.model.config.id2label.items()}
        if all(label.startswith("LABEL_") for label in labels.values()):
            raise invalid_checkpoint(self.name, options.model, "its config.json names no classes (id2label)")
        spelling = self.spelling if self.spelling.keys() <= set(labels.values()) else {}
        self._labels = {i: spelling.get(labels[i], labels[i]) for i in sorted(labels)}
        self.habits = replace(self.habits, names=rules.names_of(self._labels.values()))

    @classmethod
    def weights(cls, options: ScoredOptions) -> str:
        """The commit or digest of the checkpoint, and the table of names."""
        assert isinstance(options, OwnLabelsOptions)
        return f"{super().weights(options)} {options.pin()}".strip()

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
