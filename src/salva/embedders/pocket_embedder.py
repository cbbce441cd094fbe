"""Embedder: a small network in the wheel, from images and sentences of pocket's world to vectors of length 1.

It knows only pocket's words. Inputs go through one at a time, so that no vector depends on its batch. training/ made
the weights.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from salva.assets.files import asset_digest, read_asset
from salva.core.about import Habits
from salva.core.image import Picture
from salva.core.observation import Observation, Vector
from salva.core.options import NoOptions
from salva.core.protocols import ObserveRequest
from salva.embedders.choosing import EmbeddingChooser
from salva.errors import BackendError, SalvaError
from salva.hardware.networks import open_network
from salva.messages import message
from salva.observers.networks import observe_each, on_square

PICTURE = "pocket/embedder-picture.onnx"
TEXT = "pocket/embedder-text.onnx"
CARD = "pocket/embedder.json"
NAME = "the pocket embedder"
_TOKEN = re.compile(r"[a-z]+(?:'[a-z]+)?|[0-9]+|[,.:()]")


class PocketEmbedder:
    """Embedder: images and sentences of pocket's world."""

    version: ClassVar[str] = "1"
    habits: ClassVar[Habits] = Habits(batch_size=8)

    def __init__(self, options: NoOptions) -> None:
        card = json.loads(read_asset(CARD))
        self._picture, self._text = open_network(read_asset(PICTURE)), open_network(read_asset(TEXT))
        self._side, self._max_tokens = int(card["side"]), int(card["max_tokens"])
        special = {card[name] for name in ("pad", "start", "end", "unknown")}
        self._numbers = {str(word): i for i, word in enumerate(card["words"]) if i not in special}
        self._start, self._end = int(card["start"]), int(card["end"])
        self._choosing = EmbeddingChooser(self._embed)

    @classmethod
    def weights(cls, options: NoOptions) -> str:  # noqa: ARG003  # no option chooses other weights
        """The digest of the trained files."""
        digests = "".join(asset_digest(name) for name in (PICTURE, TEXT, CARD))
        return hashlib.sha256(digests.encode()).hexdigest()[:16]

    def observe(self, requests: Sequence[ObserveRequest]) -> Sequence[Observation | SalvaError]:
        """The vector of each image or text, or the cosines to its choices."""
        return self._choosing.observe(requests)

    def _embed(self, requests: Sequence[ObserveRequest]) -> Sequence[Observation | SalvaError]:
        return observe_each(NAME, requests, self._vector)

    def _vector(self, request: ObserveRequest) -> Observation:
        if text := request.query.text:
            (values,) = self._text.run(None, {"tokens": self._tokens(text)})
        else:
            (values,) = self._picture.run(None, {"picture": to_input(request.picture, self._side)})
        return Vector(values=tuple(round(float(value), 6) for value in values[0]))

    def _tokens(self, text: str) -> NDArray[np.int64]:
        """Word numbers of the known words."""

        words = [word for word in read_words(text) if word in self._numbers]
        most = self._max_tokens - 2
        # Punctuation alone has no meaning.
        if not any(word[0].isalnum() for word in words):
            problem = message("text-unknown", component=NAME, text=repr(text[:60]))
            raise BackendError(problem, is_retryable=False)
        if len(words) > most:
            values = {"component": NAME, "limit": most, "text": repr(text[:60]), "n": len(words)}
            raise BackendError(message("too-many-tokens", **values, instead="Shorten it."), is_retryable=False)
        tokens = np.zeros((1, self._max_tokens), np.int64)
        tokens[0, : len(words) + 2] = [self._start, *(self._numbers[word] for word in words), self._end]
        return tokens


def read_words(text: str) -> list[str]:
    """Words, numbers and known punctuation marks, as in training."""
    text = text.lower().replace("[", "(").replace("]", ")").replace("\u2019", "'").replace("&", " and ")
    return _TOKEN.findall(text)


def to_input(picture: Picture, side: int) -> NDArray[np.float32]:
    """The network's input: the whole image on a grey square, from -1 to 1."""

    pixels, _ = on_square(picture, side, reducing_gap=2.0)
    planes = np.ascontiguousarray(pixels.transpose(2, 0, 1)).astype(np.float32)
    return (planes / np.float32(127.5) - 1)[None]
