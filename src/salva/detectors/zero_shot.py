"""What detectors that find given labels share.

A detector that is given only the label cat calls the most similar entity a cat. The option `also` adds labels that the
case does not mention, so that a dog can be called a dog.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from numpy.typing import NDArray

from salva.core.about import About, Naming
from salva.core.observation import Detections
from salva.core.options import option
from salva.core.protocols import ObserveRequest
from salva.detectors.boxes import BoxRules, from_centres
from salva.detectors.checkpoint_detector import ScoredDetector, ScoredOptions
from salva.errors import BackendError, SalvaError, UsageError
from salva.messages import message

if TYPE_CHECKING:
    import torch

ABOUT = About(takes_labels=True, names=Naming.ASKED, floor="floor", made_for="Photographs of all kinds, from the web.")


@dataclass(frozen=True, slots=True, kw_only=True)
class ZeroShotOptions(ScoredOptions):
    """What can be set with --set detector.NAME=VALUE."""

    also: tuple[str, ...] = option((), "Further labels, for entities that the case does not name.")


class ZeroShotDetector(ScoredDetector):
    """A checkpoint that finds given labels; a subclass says which one and reads its output."""

    about: ClassVar[About] = ABOUT
    Options: ClassVar[type[ZeroShotOptions]] = ZeroShotOptions

    def __init__(self, options: ZeroShotOptions) -> None:
        super().__init__(options, BoxRules(self.scale, floor=options.floor))
        self._also = options.also

    def _tokens(self, tokenizer: Any, texts: Sequence[str], n: int) -> dict[str, torch.Tensor]:
        """Padded tokens of the texts, repeated for n images; BackendError if a text is too long."""
        limit = int(self._loaded.model.config.text_config.max_position_embeddings)
        tokens = tokenizer(list(texts), padding="max_length", max_length=limit, return_tensors="pt")
        if (n_tokens := tokens["input_ids"].shape[1]) > limit:
            values = {"limit": limit, "text": repr(max(texts, key=len)), "n": n_tokens}
            problem = message("too-many-tokens", component=self.name, **values, instead="Use a shorter label.")
            raise BackendError(problem, is_retryable=False)
        return {key: tokens[key].repeat(n, 1).to(self._loaded.device) for key in ("input_ids", "attention_mask")}

    def _detections(
        self, boxes: NDArray[Any], scores: NDArray[Any], places: NDArray[Any], labels: Sequence[str]
    ) -> list[Detections | SalvaError]:
        """Detections of images, from centres and sides of boxes, scores, and the place of each box's label."""
        return [
            self._rules.detections(from_centres(box), score, [labels[int(i)] for i in place])
            for box, score, place in zip(boxes, scores, places, strict=True)
        ]

    def _labels_for(self, request: ObserveRequest) -> tuple[str, ...]:
        labels = tuple(dict.fromkeys((*request.query.labels, *self._also)))
        if not labels:
            instead = "Use --set detector.also=cat,dog or a detector with its own vocabulary."
            raise UsageError(message("labels-missing", detector=self.name, instead=instead))
        return labels
