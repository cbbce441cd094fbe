"""Embedder: image features for FID and Inception Score, by a network in an ONNX file.

Meant for the Inception network of published scores. Any network from one image to one vector works, but distances of
two networks are not comparable. Needs only the base install; embeds no texts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from salva.core.about import Habits
from salva.core.foreign_errors import one_line, translate_errors
from salva.core.image import Picture
from salva.core.observation import Vector
from salva.core.options import option
from salva.core.protocols import ObserveRequest
from salva.errors import BackendError, SalvaError, UsageError
from salva.hardware.checkpoints import digest_of_files, invalid_checkpoint
from salva.hardware.networks import open_users_network, users_file
from salva.messages import message

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NAME = "inception"
_IMAGENET = ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))


@dataclass(frozen=True, slots=True, kw_only=True)
class InceptionOptions:
    """What can be set with --set embedder.NAME=VALUE."""

    model: str = option("", "The ONNX file.", target=True)
    output: str = option(
        "", "Which of its outputs to keep, by name: features for FID, logits for Inception Score; empty is the first."
    )
    pixels: str = option(
        "signed",
        "What it takes: signed (-1 to 1, as the Inception of published scores), unit (0 to 1), byte (0 to 255), "
        "imagenet (unit, less the mean, by the deviation).",
        choices=("signed", "unit", "byte", "imagenet"),
    )
    side: int = option(299, "Side of the input, where the file leaves it open.")
    threads: ClassVar[int] = 1

    def __post_init__(self) -> None:
        if self.side < 1:
            raise ValueError(message("option-invalid", name="side", value=self.side, wanted="1 or more"))


class Inception:
    """Embedder: the features of an image."""

    version: ClassVar[str] = "1"
    habits: ClassVar[Habits] = Habits(batch_size=8)
    Options: ClassVar[type[InceptionOptions]] = InceptionOptions

    def __init__(self, options: InceptionOptions) -> None:
        session = open_users_network(NAME, users_file(options.model), options.threads)
        inputs, outputs = session.get_inputs(), [port.name for port in session.get_outputs()]
        shape = inputs[0].shape if inputs else []
        if len(inputs) != 1 or len(shape) != 4 or shape[1] != 3 or inputs[0].type != "tensor(float)":
            given = ", ".join(f"{port.name} {port.shape} {port.type}" for port in inputs)
            raise invalid_checkpoint(
                NAME, options.model, f"it takes {given or 'nothing'} instead of a float image (n, 3, height, width)"
            )
        if options.output and options.output not in outputs:
            raise invalid_checkpoint(NAME, options.model, f"no output {options.output!r} among {', '.join(outputs)}")
        self._session, self._options = session, options
        self._input, self._output = inputs[0].name, options.output or outputs[0]
        self._height, self._width = (size if isinstance(size, int) and size > 0 else options.side for size in shape[2:])

    @classmethod
    def weights(cls, options: InceptionOptions) -> str:
        """The digest of the file."""
        path = users_file(options.model)
        return digest_of_files([path], path.parent)

    def observe(self, requests: Sequence[ObserveRequest]) -> Sequence[Vector | SalvaError]:
        """The features of each image, one at a time, so that none depends on its batch."""
        if any(request.query.text for request in requests):
            raise UsageError(message("texts-unsupported", component=NAME))
        return [self._embed(request.picture) for request in requests]

    def _embed(self, picture: Picture) -> Vector | SalvaError:
        import numpy as np

        values = {"component": NAME, "width": picture.width, "height": picture.height}
        try:
            with translate_errors(
                lambda error: BackendError(message("observation-failed", **values, why=one_line(error)))
            ):
                given = self._session.run([self._output], {self._input: self._pixels(picture)})[0]
        except SalvaError as error:
            return error
        # A map of features is averaged over its places, as pooling would.
        features = np.asarray(given, np.float64)[0]
        features = features.mean(tuple(range(1, features.ndim))) if features.ndim > 1 else features
        if not np.isfinite(features).all():
            what = f"features that are not finite; check embedder.pixels, which is {self._options.pixels}"
            return BackendError(message("numbers-invalid", component=NAME, what=what))
        return Vector(values=tuple(features.astype(np.float32).astype(np.float64).round(6).tolist()))

    def _pixels(self, picture: Picture) -> NDArray[np.float32]:
        import numpy as np
        from PIL import Image

        image = Image.frombytes("RGB", (picture.width, picture.height), picture.rgb)
        if image.size != (self._width, self._height):
            # Filtered, as clean-fid recommends: plain sampling makes scores depend on the library.
            image = image.resize((self._width, self._height), Image.Resampling.BICUBIC)
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
