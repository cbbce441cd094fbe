"""Images as Python objects.

Nothing is guessed: values beyond 0 to 1, several images at once or an unknown order of axes are errors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from salva.core.image import Picture
from salva.imaging.files import MAX_PIXELS, ImageError, as_rgb

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_CHANNELS = (1, 3, 4)
_ROUNDING = 1e-3
"""Tolerance of floats beyond 0 to 1: half precision rounds."""
_WANTED = "give a PIL image, a numpy array (height, width, 3) or a torch tensor (3, height, width)"


def picture_of(given: object) -> Picture:
    """The pixels of an image of PIL, numpy or torch; grey becomes RGB, transparent becomes white."""
    from PIL import Image

    if isinstance(given, Image.Image):
        if given.mode == "F" or given.mode.startswith("I"):
            raise ImageError(f"a PIL image of mode {given.mode!r}; convert it to 'RGB'")
        _check_size(given.width, given.height)
        rgb = as_rgb(given)
        return Picture(rgb=rgb.tobytes(), width=rgb.width, height=rgb.height)
    if hasattr(given, "images"):
        raise ImageError(f"a {type(given).__name__}; give its .images[0]")
    if _is_of(given, "torch", "Tensor"):
        return _from_array(_channels_last(given))
    if _is_of(given, "numpy", "ndarray"):
        return _from_array(given)
    raise ImageError(f"a {type(given).__name__}; {_WANTED}")


def _is_of(given: object, library: str, name: str) -> bool:
    """Whether an object is of a library's class, without loading the library."""
    kinds = type(given).__mro__
    return any(kind.__name__ == name and kind.__module__.partition(".")[0] == library for kind in kinds)


def _channels_last(tensor: Any) -> NDArray[Any]:
    """A tensor's values with the channels last, if the channel axis is certain."""
    shape = tuple(tensor.shape)
    values = tensor.detach().cpu()
    # numpy has no bfloat16.
    array: NDArray[Any] = (values.float() if values.is_floating_point() else values).numpy()
    if len(shape) != 3:
        return array
    first, last = shape[0] in _CHANNELS, shape[-1] in _CHANNELS
    if first and last:
        raise ImageError(f"a tensor of shape {shape} with the channels first or last; {_WANTED}")
    return array.transpose(1, 2, 0) if first else array


def _from_array(array: Any) -> Picture:
    import numpy as np

    shape = tuple(array.shape)
    if len(shape) == 2:
        array = array[:, :, None]
    if array.ndim != 3 or array.shape[2] not in _CHANNELS or 0 in shape:
        raise ImageError(f"an array of shape {shape}; {_WANTED}")
    height, width, n_channels = array.shape
    _check_size(width, height)
    pixels = _as_bytes(array)
    if n_channels == 4:
        from PIL import Image

        return picture_of(Image.fromarray(np.ascontiguousarray(pixels)))
    if n_channels == 1:
        pixels = np.repeat(pixels, 3, axis=2)
    return Picture(rgb=pixels.tobytes(), width=width, height=height)


def _as_bytes(array: NDArray[Any]) -> NDArray[np.uint8]:
    import numpy as np

    if array.dtype == np.uint8:
        return array
    if array.dtype.kind != "f":
        raise ImageError(f"an array of {array.dtype}; give uint8, or floats from 0 to 1")
    low, high = float(array.min()), float(array.max())
    if not (low >= -_ROUNDING and high <= 1 + _ROUNDING):  # so that NaN is refused
        raise ImageError(f"an array of floats from {low:.3g} to {high:.3g}; give 0 to 1")
    scaled: NDArray[np.uint8] = np.rint(np.clip(array.astype(np.float32), 0, 1) * 255).astype(np.uint8)
    return scaled


def _check_size(width: int, height: int) -> None:
    if not 0 < width * height <= MAX_PIXELS:
        raise ImageError(f"{width} x {height} pixels large; 1 to {MAX_PIXELS:,} are read")
