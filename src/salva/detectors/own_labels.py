"""What detectors of transformers with a fixed vocabulary share: options and names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from salva.detectors.boxes import BoxRules, NameOptions
from salva.detectors.checkpoint_detector import ScoredDetector, ScoredOptions
from salva.hardware.checkpoints import invalid_checkpoint
from salva.observers.loading import CheckpointOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnLabelsOptions(NameOptions, ScoredOptions):
    """What can be set with --set detector.NAME=VALUE."""


class OwnLabelsDetector(ScoredDetector):
    """A checkpoint with its own labels; a subclass says which one and reads its output."""

    Options: ClassVar[type[OwnLabelsOptions]] = OwnLabelsOptions
    spelling: ClassVar[Mapping[str, str]] = {}
    """Other spellings of labels, used if the checkpoint has all of these labels."""
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
    def weights(cls, options: CheckpointOptions) -> str:
        """The commit or digest of the checkpoint, and the table of names."""
        assert isinstance(options, OwnLabelsOptions)
        return f"{super().weights(options)} {options.pin()}".strip()
