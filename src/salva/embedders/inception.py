"""Embedder: image features for FID and Inception Score, by a network in an ONNX file.

Meant for the Inception network of published scores. Any network from one image to one vector works, but scores of
different networks cannot be compared. Needs only the base install; embeds no texts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from salva.core.about import Habits
from salva.core.image import Picture
from salva.core.observation import Vector
from salva.core.options import option
from salva.core.protocols import ObserveRequest
from salva.errors import BackendError, SalvaError, UsageError
from salva.hardware.checkpoints import digest_of_files, invalid_checkpoint
from salva.hardware.networks import open_users_network, users_file
from salva.imaging.files import as_image
from salva.messages import message
from salva.observers.networks import image_input, observe_each

NAME = "inception"
_IMAGENET = ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))


@dataclass(frozen=True, slots=True, kw_only=True)
class InceptionOptions:
    """What can be set with --set embedder.NAME=VALUE."""

    model: str = option("", "The ONNX file.", target=True)
    output: str = option("", "The name of the output; empty for the first.")
    pixels: str = option(
        "signed",
        "Scale of the input: -1 to 1, 0 to 1, 0 to 255, or standardised.",
        choices=("signed", "unit", "byte", "imagenet"),
    )
    side: int = option(299, "Side of the input, if the file leaves it open.", least=1)


class Inception:
    """Embedder: the features of an image."""

    version: ClassVar[str] = "1"
    habits: ClassVar[Habits] = Habits(batch_size=8)
    Options: ClassVar[type[InceptionOptions]] = InceptionOptions

    def __init__(self, options: InceptionOptions) -> None:
        session = open_users_network(NAME, users_file(options.model))
        self._input, self._height, self._width = image_input(NAME, session, options.model, options.side)
        outputs = [port.name for port in session.get_outputs()]
        if options.output and options.output not in outputs:
            raise invalid_checkpoint(NAME, options.model, f"no output {options.output!r} among {', '.join(outputs)}")
        self._session, self._options = session, options
        self._output = options.output or outputs[0]

    @classmethod
    def weights(cls, options: InceptionOptions) -> str:
        """The digest of the file."""
        path = users_file(options.model)
        return digest_of_files([path], path.parent)

    def observe(self, requests: Sequence[ObserveRequest]) -> Sequence[Vector | SalvaError]:
        """The features of each image, one at a time, so that none depends on its batch."""
        if any(request.query.text for request in requests):
            raise UsageError(message("texts-unsupported", component=NAME))
        return observe_each(NAME, requests, self._embed)

    def _embed(self, request: ObserveRequest) -> Vector:

        given = self._session.run([self._output], {self._input: self._pixels(request.picture)})[0]
        # A map of features is averaged, as by pooling.
        features = np.asarray(given, np.float64)[0]
        features = features.mean(tuple(range(1, features.ndim))) if features.ndim > 1 else features
        if not np.isfinite(features).all():
            what = f"features that are not finite with embedder.pixels={self._options.pixels}"
            raise BackendError(message("numbers-invalid", component=NAME, what=what), is_retryable=False)
        return Vector(values=tuple(features.astype(np.float32).astype(np.float64).round(6).tolist()))

    def _pixels(self, picture: Picture) -> NDArray[np.float32]:

        # Filtered, as clean-fid recommends: without it scores depend on the library.
        image = as_image(picture).resize((self._width, self._height), Image.Resampling.BICUBIC)
        values = np.asarray(image, np.float64)
        match self._options.pixels:
            case "signed":
                values = values / 127.5 - 1
            case "unit":
                values = values / 255
            case "imagenet":
                mean, deviation = (np.asarray(values) for values in _IMAGENET)
                values = (values / 255 - mean) / deviation
        return np.ascontiguousarray(values.transpose(2, 0, 1), dtype=np.float32)[None]
