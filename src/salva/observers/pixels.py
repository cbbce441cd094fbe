"""Images to a network's input on the device: resize, crop, pad and normalise whole batches.

The settings are those of the checkpoint's image processor. torch does the work, because PIL handles one image at a
time and keeps a fast GPU waiting. The result agrees with the processor's to within rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from salva.core.image import Picture
from salva.errors import UsageError
from salva.messages import message

if TYPE_CHECKING:
    import torch

_RESAMPLING = {2: "bilinear", 3: "bicubic"}
"""Pillow's numbers of the methods that torch has too."""

_Element = TypeVar("_Element")
_Outcome = TypeVar("_Outcome")


@dataclass(frozen=True, slots=True, kw_only=True)
class PixelSettings:
    """The steps of an image processor."""

    height: int = 0
    width: int = 0
    """Both 0: the sides are scaled together, by the next two."""
    shortest: int = 0
    longest: int = 0
    """0: no limit."""
    crop: tuple[int, int] | None = None
    """(height, width) cut out of the middle."""
    is_squared: bool = False
    """Whether it is first padded to a square with grey, right and below."""
    resampling: str = "bicubic"
    mean: tuple[float, ...] = (0.0, 0.0, 0.0)
    std: tuple[float, ...] = (1.0, 1.0, 1.0)

    def resized(self, height: int, width: int) -> tuple[int, int]:
        """The height and width after resizing, rounded as transformers rounds."""
        if self.height:
            return self.height, self.width
        low, high = min(height, width), max(height, width)
        short: float = self.shortest
        if self.longest and high / low * short > self.longest:
            short = self.longest * low / high
        if round(short) == low:
            return height, width
        short_side, long_side = max(1, round(short)), max(1, int(short * high / low))
        return (short_side, long_side) if height <= width else (long_side, short_side)


def settings_of(processor: Any, name: str) -> PixelSettings:
    """The settings of an image processor of transformers; others are refused."""
    size = dict(processor.size)
    resample = int(processor.resample)
    if resample not in _RESAMPLING:
        raise _invalid(name, f"it resamples by method {resample}, not bilinear or bicubic")
    if not (processor.do_resize and processor.do_rescale and abs(processor.rescale_factor * 255 - 1) < 1e-6):
        raise _invalid(name, "it does not resize, or not scale to 0..1")
    crop = getattr(processor, "crop_size", None) if getattr(processor, "do_center_crop", None) else None
    if not ({"height", "width"} <= size.keys() or "shortest_edge" in size):
        raise _invalid(name, f"it resizes to {size!r}, not to a height and width or a shortest edge")
    settings = PixelSettings(
        height=int(size.get("height") or 0),
        width=int(size.get("width") or 0),
        shortest=int(size.get("shortest_edge") or 0),
        longest=int(size.get("longest_edge") or 0),
        crop=(int(crop["height"]), int(crop["width"])) if crop else None,
        resampling=_RESAMPLING[resample],
    )
    if not processor.do_normalize:
        return settings
    return replace(settings, mean=tuple(processor.image_mean), std=tuple(processor.image_std))


def _invalid(name: str, why: str) -> UsageError:
    return UsageError(message("checkpoint-invalid", component=name, model="image processor", why=why))


def to_pixels(pictures: Sequence[Picture], settings: PixelSettings, device: str, dtype: torch.dtype) -> torch.Tensor:
    """The network's input for images of one size: (n, 3, height, width)."""
    import torch
    from torch.nn import functional

    pixels = upload(pictures, device).permute(0, 3, 1, 2).to(torch.float32)
    height, width = pixels.shape[2:]
    if settings.is_squared:
        side = max(height, width)
        pixels = functional.pad(pixels, (0, side - width, 0, side - height), value=127.5)
        height = width = side
    target = settings.resized(height, width)
    if target != (height, width):
        pixels = functional.interpolate(pixels, size=target, mode=settings.resampling, antialias=True)
        # PIL, with which the networks were trained, gives whole numbers from 0 to 255.
        pixels = pixels.round_().clamp_(0, 255)
    if settings.crop:
        pixels = _centre(pixels, *settings.crop)
    mean = torch.tensor(settings.mean, device=pixels.device).view(1, 3, 1, 1) * 255
    std = torch.tensor(settings.std, device=pixels.device).view(1, 3, 1, 1) * 255
    return ((pixels - mean) / std).to(dtype)


def _centre(pixels: torch.Tensor, height: int, width: int) -> torch.Tensor:
    """The middle of images; smaller ones are padded with black."""
    from torch.nn import functional

    missing_y, missing_x = max(0, height - pixels.shape[2]), max(0, width - pixels.shape[3])
    if missing_y or missing_x:
        above, left = (missing_y + 1) // 2, (missing_x + 1) // 2
        pixels = functional.pad(pixels, (left, missing_x - left, above, missing_y - above))
    top, start = (pixels.shape[2] - height) // 2, (pixels.shape[3] - width) // 2
    return pixels[:, :, top : top + height, start : start + width]


def upload(pictures: Sequence[Picture], device: str) -> torch.Tensor:
    """The bytes of images of one size on the device: (n, height, width, 3)."""
    import torch

    first = pictures[0]
    is_cuda = device.startswith("cuda")
    # Pinned memory is copied while the GPU is busy.
    batch = torch.empty((len(pictures), first.height, first.width, 3), dtype=torch.uint8, pin_memory=is_cuda)
    rows = batch.numpy()
    for i, picture in enumerate(pictures):
        rows[i] = np.frombuffer(picture.rgb, np.uint8).reshape(first.height, first.width, 3)
    return batch.to(device, non_blocking=is_cuda)


def in_groups(
    elements: Sequence[_Element],
    kind: Callable[[_Element], Hashable],
    call: Callable[[Sequence[_Element]], Sequence[_Outcome]],
) -> list[_Outcome]:
    """The outcomes of all elements, in order; each call gets elements of one kind."""
    groups: dict[Hashable, list[int]] = {}
    for i, element in enumerate(elements):
        groups.setdefault(kind(element), []).append(i)
    outcomes: dict[int, _Outcome] = {}
    for places in groups.values():
        outcomes.update(zip(places, call([elements[i] for i in places]), strict=True))
    return [outcomes[i] for i in range(len(elements))]
