"""Embedder: CLIP and SigLIP, from images and texts to vectors of length 1 in one space.

A query without a text embeds the image, else the text. A text that is too long is an error, because half a prompt has
another meaning; truncate=true embeds its beginning.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from salva.core.about import About
from salva.core.observation import Observation, Vector
from salva.core.options import option
from salva.core.protocols import ObserveRequest
from salva.embedders.choosing import EmbeddingChooser
from salva.errors import BackendError, SalvaError
from salva.messages import message
from salva.observers.checkpoint_observer import CheckpointObserver
from salva.observers.loading import CheckpointKind, CheckpointOptions
from salva.observers.pixels import in_groups, settings_of

if TYPE_CHECKING:
    import torch

DIGITS = 7
"""Decimal places kept: further ones differ between machines."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClipOptions(CheckpointOptions):
    """What can be set with --set embedder.NAME=VALUE."""

    truncate: bool = option(False, "Embed the beginning of longer texts.")


class Clip(CheckpointObserver):
    """Embedder: a CLIP model."""

    about: ClassVar[About] = About(default_target="openai/clip-vit-large-patch14")
    Options: ClassVar[type[ClipOptions]] = ClipOptions
    name: ClassVar[str] = "clip"
    kind: ClassVar[CheckpointKind] = CheckpointKind(
        model_class="AutoModel", processor_class="AutoProcessor", model_types=("clip",)
    )
    batch_limit: ClassVar[int] = 256
    word_inputs: ClassVar[tuple[str, ...]] = ("input_ids", "attention_mask")

    def __init__(self, options: ClipOptions) -> None:
        super().__init__(options)
        self._options = options
        self._tokenizer = self._loaded.processor.tokenizer
        self._n_tokens = int(self._loaded.model.config.text_config.max_position_embeddings)
        self._pixels = settings_of(self._loaded.processor.image_processor, self.name)
        self._choosing = EmbeddingChooser(self._embed)

    def observe(self, requests: Sequence[ObserveRequest]) -> Sequence[Observation | SalvaError]:
        """The vector of each image or text, or the cosines to its choices."""
        return self._choosing.observe(requests)

    def _embed(self, requests: Sequence[ObserveRequest]) -> Sequence[Vector | SalvaError]:
        return in_groups(requests, self._group_of, self._embed_group)

    def _group_of(self, request: ObserveRequest) -> str | tuple[int, int]:
        """A text, a text that is too long, or the size of an image."""
        if not request.query.text:
            return request.picture.width, request.picture.height
        is_cut = self._length(request.query.text) > self._n_tokens
        return "too long" if is_cut and not self._options.truncate else "text"

    def _embed_group(self, requests: Sequence[ObserveRequest]) -> Sequence[Vector | SalvaError]:
        group = self._group_of(requests[0])
        if group == "too long":
            return [self._too_long(request.query.text) for request in requests]
        return self._batches.run(self._embed_texts if group == "text" else self._embed_images, requests)

    def _length(self, text: str) -> int:
        return len(self._tokenizer(text, verbose=False)["input_ids"])

    def _too_long(self, text: str) -> SalvaError:
        values = {"limit": self._n_tokens, "text": f"{text[:60]!r}...", "n": self._length(text)}
        instead = "--set embedder.truncate=true embeds its beginning."
        problem = message("too-many-tokens", component=self.name, **values, instead=instead)
        return BackendError(problem, is_retryable=False)

    def _embed_images(self, requests: Sequence[ObserveRequest]) -> list[Vector | SalvaError]:
        import torch

        pixels = self._input(requests)
        with self._batches.on_device, torch.inference_mode():
            return _vectors(self._loaded.model.get_image_features(pixel_values=pixels).pooler_output)

    def _embed_texts(self, requests: Sequence[ObserveRequest]) -> list[Vector | SalvaError]:
        import torch

        # Padded to full length, as SigLIP was trained; with one shape no text depends on its batch.
        texts = [request.query.text for request in requests]
        words = self._tokenizer(
            texts, padding="max_length", truncation=True, max_length=self._n_tokens, return_tensors="pt"
        )
        given = {key: words[key].to(self._loaded.device) for key in self.word_inputs}
        with self._batches.on_device, torch.inference_mode():
            return _vectors(self._loaded.model.get_text_features(**given).pooler_output)


class Siglip(Clip):
    """Embedder: a SigLIP model."""

    about: ClassVar[About] = About(default_target="google/siglip-base-patch16-224")
    name: ClassVar[str] = "siglip"
    kind: ClassVar[CheckpointKind] = replace(Clip.kind, model_types=("siglip",))
    # Trained without a mask: padding is part of a text.
    word_inputs: ClassVar[tuple[str, ...]] = ("input_ids",)


def _vectors(features: torch.Tensor) -> list[Vector | SalvaError]:
    unit = features.float()
    unit = (unit / unit.norm(dim=-1, keepdim=True)).cpu().double().numpy().round(DIGITS)
    return [Vector(values=tuple(row.tolist())) for row in unit]
