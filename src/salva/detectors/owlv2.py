"""Detector: OWLv2, which finds what it is told to look for.

Each label is a query of its own ("a photo of a cat"), and a box belongs to the query it fits best. Pictures are
filled up to a square with grey, right and below, as its authors do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from salva.core.about import About, Naming
from salva.core.observation import Detections
from salva.core.options import option
from salva.core.protocols import ObserveRequest
from salva.detectors.boxes import BoxRules, ScoredOptions, from_centres
from salva.detectors.zero_shot import AskedOptions, asked_labels, size_and_labels
from salva.errors import BackendError, SalvaError
from salva.messages import message
from salva.observers.loading import Batches, CheckpointOptions, load, pin
from salva.observers.pixels import in_groups, settings_of, to_pixels

if TYPE_CHECKING:
    import torch

NAME = "owlv2"
LIMIT = 32
DOUBT = 0.3


@dataclass(frozen=True, slots=True, kw_only=True)
class Owlv2Options(AskedOptions, ScoredOptions, CheckpointOptions):
    """What can be set with --set detector.NAME=VALUE."""

    model: str = option(
        "google/owlv2-base-patch16-ensemble",
        "The checkpoint: a hub id, or a folder that save_pretrained wrote.",
        target=True,
    )
    threshold: ClassVar[float] = 0.2
    template: ClassVar[str] = "a photo of a {}"

    def __post_init__(self) -> None:
        ScoredOptions.__post_init__(self)
        CheckpointOptions.__post_init__(self)


class Owlv2:
    """Detector: finds what the case mentions."""

    version: ClassVar[str] = "1"
    about: ClassVar[About] = About(
        takes_labels=True, names=Naming.ASKED, floor="floor", made_for="Photographs of all kinds, from the web."
    )
    Options: ClassVar[type[Owlv2Options]] = Owlv2Options

    def __init__(self, options: Owlv2Options) -> None:
        loaded = load(
            NAME,
            options,
            model_class="Owlv2ForObjectDetection",
            processor_class="AutoProcessor",
            model_types=("owlv2",),
            purpose="an OWLv2 model",
        )
        self._options, self._loaded = options, loaded
        self._tokenizer = loaded.processor.tokenizer
        self._pixels = replace(settings_of(loaded.processor.image_processor, NAME), is_squared=True)
        self._rules = BoxRules(options, DOUBT)
        self._batches = Batches(NAME, options, loaded, limit=LIMIT)
        self.habits = self._batches.habits

    @classmethod
    def weights(cls, options: Owlv2Options) -> str:
        """The commit or digest of the checkpoint."""
        return pin(NAME, options)

    def observe(self, requests: Sequence[ObserveRequest]) -> Sequence[Detections | SalvaError]:
        """The boxes of what each picture's case mentions, strongest first."""
        alike = size_and_labels(NAME, self._options)
        return in_groups(requests, alike, lambda part: self._batches.run(self._look, part))

    def _look(self, requests: Sequence[ObserveRequest]) -> Sequence[Detections | SalvaError]:
        import numpy as np
        import torch

        labels = asked_labels(NAME, requests[0], self._options)
        try:
            words = self._words(labels, len(requests))
        except BackendError as error:
            return [error] * len(requests)  # raised, it would cost the pictures of other cases as well
        pixels = to_pixels([r.picture for r in requests], self._pixels, self._loaded.device, self._loaded.dtype)
        with self._batches.on_device, torch.inference_mode():
            output = self._loaded.model(pixel_values=pixels, **words)
            scores, which = output.logits.float().sigmoid().max(-1)
            boxes, scores, which = output.pred_boxes.float().cpu().numpy(), scores.cpu().numpy(), which.cpu().numpy()
        picture = requests[0].picture
        side = max(picture.width, picture.height)
        # From shares of the square to shares of the picture in its corner.
        stretch = np.array((side / picture.width, side / picture.height) * 2)
        return [
            self._rules.detections(
                from_centres(boxes[i]) * stretch, scores[i], [labels[int(k)] for k in which[i]], are_names=True
            )
            for i in range(len(requests))
        ]

    def _words(self, labels: tuple[str, ...], n: int) -> dict[str, torch.Tensor]:
        """The queries for n pictures, one after the other."""
        limit = int(self._loaded.model.config.text_config.max_position_embeddings)
        queries = [self._options.template.format(label) for label in labels]
        written = self._tokenizer(queries, padding="max_length", max_length=limit, return_tensors="pt")
        if written["input_ids"].shape[1] > limit:
            longest = max(queries, key=len)
            values = {"limit": limit, "text": repr(longest), "n": written["input_ids"].shape[1]}
            problem = message("too-many-tokens", component=NAME, **values, instead="Use a shorter label.")
            raise BackendError(problem, is_retryable=False)
        return {key: written[key].repeat(n, 1).to(self._loaded.device) for key in ("input_ids", "attention_mask")}
