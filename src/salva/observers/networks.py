"""What observers with ONNX networks share: observing one image at a time, and the network's input."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from salva.core.foreign_errors import describe_error, translate_errors
from salva.core.image import Picture
from salva.core.protocols import ObserveRequest
from salva.errors import BackendError, SalvaError
from salva.imaging.files import as_image
from salva.messages import message

GREY = 128
"""Pads an oblong image to a square."""

_Outcome = TypeVar("_Outcome")


def observe_each(
    component: str, requests: Sequence[ObserveRequest], observe: Callable[[ObserveRequest], _Outcome]
) -> list[_Outcome | SalvaError]:
    """One outcome per request, one at a time, so that none depends on its batch; an error concerns one image."""
    outcomes: list[_Outcome | SalvaError] = []
    for request in requests:
        try:
            # onnxruntime's own exceptions share no base class.
            with translate_errors(partial(_failure, component, request.picture)):
                outcomes.append(observe(request))
        except SalvaError as error:
            outcomes.append(error)
    return outcomes


def _failure(component: str, picture: Picture, error: Exception) -> BackendError:
    values = {"component": component, "width": picture.width, "height": picture.height}
    return BackendError(message("observation-failed", **values, why=describe_error(error)), is_retryable=False)


def image_input(component: str, session: Any, file: str, side: int) -> tuple[str, int, int]:
    """The name, height and width of a network's only input; side: for a height or width that the file leaves open."""
    inputs = session.get_inputs()
    shape = inputs[0].shape if inputs else []
    if len(inputs) != 1 or len(shape) != 4 or shape[1] != 3 or inputs[0].type != "tensor(float)":
        given = ", ".join(f"{port.name} {port.shape} {port.type}" for port in inputs) or "nothing"
        from salva.hardware.checkpoints import invalid_checkpoint

        raise invalid_checkpoint(component, file, f"it takes {given} instead of a float image (1, 3, height, width)")
    height, width = (size if isinstance(size, int) and size > 0 else side for size in shape[2:])
    return inputs[0].name, height, width


def on_square(picture: Picture, side: int, reducing_gap: float) -> tuple[NDArray[np.uint8], tuple[int, int, int, int]]:
    """The whole image in the middle of a grey square, and its left, top, width and height there.

    reducing_gap: Pillow's; the smaller, the faster large images are resized.
    """

    scale = side / max(picture.width, picture.height)
    width, height = max(1, round(picture.width * scale)), max(1, round(picture.height * scale))
    image = as_image(picture).resize((width, height), Image.Resampling.BILINEAR, reducing_gap=reducing_gap)
    left, top = (side - width) // 2, (side - height) // 2
    pixels = np.full((side, side, 3), GREY, np.uint8)
    pixels[top : top + height, left : left + width] = np.asarray(image)
    return pixels, (left, top, width, height)
