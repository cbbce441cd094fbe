"""What detectors that find the labels they are given have in common: what to look for.

A detector that is asked only about cats calls the nearest entity a cat. Labels that the case does not mention give a
dog another label; they are stored like any others.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from salva.core.about import About, Naming
from salva.core.observation import Detections
from salva.core.options import option
from salva.core.protocols import ObserveRequest
from salva.detectors.boxes import BoxRules
from salva.detectors.checkpoint_detector import CheckpointDetector, ScoredOptions
from salva.errors import BackendError, SalvaError, UsageError
from salva.messages import message
from salva.observers.pixels import in_groups

if TYPE_CHECKING:
    import torch

ABOUT = About(takes_labels=True, names=Naming.ASKED, floor="floor", made_for="Photographs of all kinds, from the web.")


@dataclass(frozen=True, slots=True, kw_only=True)
class ZeroShotOptions(ScoredOptions):
    """What can be set with --set detector.NAME=VALUE."""

    also: tuple[str, ...] = option((), "Further labels to find, so that other entities are not taken for the case's.")


class ZeroShotDetector(CheckpointDetector):
    """A checkpoint that finds the labels it is given; a subclass says which one and reads its output."""

    about: ClassVar[About] = ABOUT
    Options: ClassVar[type[ZeroShotOptions]] = ZeroShotOptions

    def __init__(self, options: ZeroShotOptions) -> None:
        super().__init__(options, BoxRules(self.scale, floor=options.floor))
        self._also = options.also

    def observe(self, requests: Sequence[ObserveRequest]) -> Sequence[Detections | SalvaError]:
        """The boxes of what each image's case mentions, strongest first."""
        return in_groups(
            requests,
            lambda request: (request.picture.width, request.picture.height, self._labels(request)),
            lambda part: self._batches.run(self._batch, part),
        )

    def _batch(self, requests: Sequence[ObserveRequest]) -> Sequence[Detections | SalvaError]:
        try:
            return self._detect(requests, self._labels(requests[0]))
        except BackendError as error:
            return [error] * len(requests)  # raised, it would cost the images of other cases as well

    @abstractmethod
    def _detect(self, requests: Sequence[ObserveRequest], labels: tuple[str, ...]) -> Sequence[Detections | SalvaError]:
        """The boxes of these labels in images of one size."""

    def _tokens(self, tokenizer: Any, texts: Sequence[str], n: int) -> dict[str, torch.Tensor]:
        """Padded tokens of texts for n images, one after the other; BackendError where a text is too long."""
        limit = int(self._loaded.model.config.text_config.max_position_embeddings)
        tokens = tokenizer(list(texts), padding="max_length", max_length=limit, return_tensors="pt")
        if (n_tokens := tokens["input_ids"].shape[1]) > limit:
            values = {"limit": limit, "text": repr(max(texts, key=len)), "n": n_tokens}
            problem = message("too-many-tokens", component=self.name, **values, instead="Use a shorter label.")
            raise BackendError(problem, is_retryable=False)
        return {key: tokens[key].repeat(n, 1).to(self._loaded.device) for key in ("input_ids", "attention_mask")}

    def _labels(self, request: ObserveRequest) -> tuple[str, ...]:
        labels = tuple(dict.fromkeys((*request.query.labels, *self._also)))
        if not labels:
            instead = "List them with --set detector.also=cat,dog or use a detector with its own vocabulary."
            raise UsageError(message("labels-missing", detector=self.name, instead=instead))
        return labels
