"""What detectors of transformers with a fixed vocabulary share: options and names."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from salva.assets.coco_names import in_full
from salva.detectors.boxes import BoxRules, NameOptions
from salva.detectors.checkpoint_detector import ScoredDetector, ScoredOptions
from salva.files.infiles import file_text
from salva.hardware.checkpoints import config_here, invalid_checkpoint
from salva.observers.loading import CheckpointOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnLabelsOptions(NameOptions, ScoredOptions):
    """What can be set with --set detector.NAME=VALUE."""


class OwnLabelsDetector(ScoredDetector):
    """A checkpoint with its own labels; a subclass says which one and reads its output."""

    Options: ClassVar[type[OwnLabelsOptions]] = OwnLabelsOptions
    box_rules: ClassVar[Mapping[str, Any]] = {}

    def __init__(self, options: OwnLabelsOptions) -> None:
        rules = BoxRules(self.scale, floor=options.floor, names=options.names, **self.box_rules)
        super().__init__(options, rules)
        self._labels = _own_labels(self._loaded.model.config.id2label)
        if not self._labels:
            raise invalid_checkpoint(self.name, options.model, "its config.json names no classes (id2label)")
        self.habits = replace(self.habits, names=rules.names_of(self._labels.values()))

    @classmethod
    def weights(cls, options: CheckpointOptions) -> str:
        """The commit or digest of the checkpoint, and the table of names."""
        assert isinstance(options, OwnLabelsOptions)
        return f"{super().weights(options)} {options.pin()}".strip()

    @classmethod
    def names_at_hand(cls, options: OwnLabelsOptions) -> Sequence[str]:
        """What it can name, for a dry run: by a config.json that is here already; nothing where it is not."""
        file = config_here(options.model)
        labels = _own_labels(json.loads(file_text(file)).get("id2label") or {}) if file else {}
        return BoxRules(names=options.names).names_of(labels.values())


def _own_labels(by_number: Mapping[Any, Any]) -> dict[int, str]:
    """Class number to label; empty where a checkpoint numbers its classes and names none."""
    labels = {int(number): str(label) for number, label in by_number.items()}
    if all(label.startswith("LABEL_") for label in labels.values()):
        return {}
    numbers = sorted(labels)
    return dict(zip(numbers, in_full([labels[number] for number in numbers]), strict=True))
