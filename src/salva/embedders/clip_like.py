"""Embedder: CLIP and SigLIP, from images and texts to vectors of length 1 in one space.

An empty Query.text embeds the image, else the text. A text that is too long is an error, because half a prompt has
another meaning; truncate=true embeds its beginning.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from salva.core.about import About
from salva.core.observation import Observation, Vector
from salva.core.options import option
from salva.core.protocols import ObserveRequest
from salva.embedders.choosing import EmbeddingChooser
from salva.errors import BackendError, SalvaError
from salva.messages import message
from salva.observers.loading import Batches, CheckpointOptions, load, pin
from salva.observers.pixels import in_groups, settings_of, to_pixels

if TYPE_CHECKING:
    import torch

LIMIT = 256
DIGITS = 7
"""Decimal places kept: further ones differ between machines."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClipOptions(CheckpointOptions):
    """What can be set with --set embedder.NAME=VALUE."""

    truncate: bool = option(False, "Embed the beginning of longer texts.")


class Clip:
    """Embedder: a CLIP model."""

    version: ClassVar[str] = "1"
    about: ClassVar[About] = About(default_target="openai/clip-vit-large-patch14")
    Options: ClassVar[type[ClipOptions]] = ClipOptions
    name: ClassVar[str] = "clip"
    model_types: ClassVar[tuple[str, ...]] = ("clip",)
    word_inputs: ClassVar[tuple[str, ...]] = ("input_ids", "attention_mask")

    def __init__(self, options: ClipOptions) -> None:
        self._loaded = load(
            self.name,
            options,
            model_class="AutoModel",
            processor_class="AutoProcessor",
            model_types=self.model_types,
            purpose="a model with one space for images and texts",
        )
        self._options = options
        self._tokenizer = self._loaded.processor.tokenizer
        self._n_tokens = int(self._loaded.model.config.text_config.max_position_embeddings)
        self._pixels = settings_of(self._loaded.processor.image_processor, self.name)
        self._batches = Batches(self.name, options, self._loaded, limit=LIMIT)
        self.habits = self._batches.habits
        self._choosing = EmbeddingChooser(self._embed)

    @classmethod
    def weights(cls, options: ClipOptions) -> str:
        """The commit or digest of the checkpoint."""
        return pin(cls.name, options)

    def observe(self, requests: Sequence[ObserveRequest]) -> Sequence[Observation | SalvaError]:
        """The vector of each image or text, or the cosines to its choices."""
        return self._choosing.observe(requests)

    def _embed(self, requests: Sequence[ObserveRequest]) -> Sequence[Vector | SalvaError]:
        return in_groups(
            requests,
            lambda request: () if request.query.text else (request.picture.width, request.picture.height),
            self._group,
        )

    def _group(self, requests: Sequence[ObserveRequest]) -> Sequence[Vector | SalvaError]:
        if not requests[0].query.text:
            return self._batches.run(self._embed_images, requests)
        return in_groups(
            [request.query.text for request in requests],
            self._is_too_long,
            lambda texts: (
                [self._too_long(text) for text in texts]
                if self._is_too_long(texts[0])
                else self._batches.run(self._embed_texts, texts)
            ),
        )

    def _is_too_long(self, text: str) -> bool:
        return not self._options.truncate and self._length(text) > self._n_tokens

    def _length(self, text: str) -> int:
        return len(self._tokenizer(text, verbose=False)["input_ids"])

    def _too_long(self, text: str) -> SalvaError:
        values = {"limit": self._n_tokens, "text": f"{text[:60]!r}...", "n": self._length(text)}
        instead = "Embed only its beginning with --set embedder.truncate=true."
        problem = message("too-many-tokens", component=self.name, **values, instead=instead)
        return BackendError(problem, is_retryable=False)

    def _embed_images(self, requests: Sequence[ObserveRequest]) -> list[Vector | SalvaError]:
        import torch

        pixels = to_pixels([r.picture for r in requests], self._pixels, self._loaded.device, self._loaded.dtype)
        with self._batches.on_device, torch.inference_mode():
            return _vectors(self._loaded.model.get_image_features(pixel_values=pixels).pooler_output)

    def _embed_texts(self, texts: Sequence[str]) -> list[Vector | SalvaError]:
        import torch

        # Always to full length: SigLIP was trained so, and with one shape no text depends on its batch.
        words = self._tokenizer(
            list(texts), padding="max_length", truncation=True, max_length=self._n_tokens, return_tensors="pt"
        )
        given = {key: words[key].to(self._loaded.device) for key in self.word_inputs}
        with self._batches.on_device, torch.inference_mode():
            return _vectors(self._loaded.model.get_text_features(**given).pooler_output)


class Siglip(Clip):
    """Embedder: a SigLIP model."""

    about: ClassVar[About] = About(default_target="google/siglip-base-patch16-224")
    name: ClassVar[str] = "siglip"
    model_types: ClassVar[tuple[str, ...]] = ("siglip",)
    # Trained without a mask: padding is part of a text.
    word_inputs: ClassVar[tuple[str, ...]] = ("input_ids",)


def _vectors(features: torch.Tensor) -> list[Vector | SalvaError]:
    unit = features.float()
    unit = (unit / unit.norm(dim=-1, keepdim=True)).cpu().double().numpy().round(DIGITS)
    return [Vector(values=tuple(row.tolist())) for row in unit]
