"""From class and mask logits to labels, scores, masks and the boxes around them.

Images are prepared as in mmdet's test pipeline of the published Mask2Former, and logits are read as by its fusion
head. Knows no model class.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from salva.core.image import Picture
from salva.core.masks import Mask, mask_of
from salva.observers.pixels import upload

if TYPE_CHECKING:
    import torch

MAX_FOUND = 100
"""The most probable pairs of query and class that are considered."""
MEAN, STD = (123.675, 116.28, 103.53), (58.395, 57.12, 57.375)
DIVISOR = 32
GREY = 128.0
_AT_ONCE = 1 << 26
"""Numbers of full-size masks in memory at once: a quarter of a gigabyte."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """The place of an image in the network's input: resized, in the top left corner, padded right and below."""

    original: tuple[int, int]
    """(height, width), as all three."""
    resized: tuple[int, int]
    padded: tuple[int, int]


def frame_of(picture: Picture, shortest: int, longest: int) -> Frame:
    """The frame of an image: as large as both limits allow, sides rounded half up."""
    height, width = picture.height, picture.width
    scale = min(longest / max(height, width), shortest / min(height, width))
    resized = (max(1, int(height * scale + 0.5)), max(1, int(width * scale + 0.5)))
    tall, wide = (-(-side // DIVISOR) * DIVISOR for side in resized)
    return Frame(original=(height, width), resized=resized, padded=(tall, wide))


def to_input(pictures: Sequence[Picture], frame: Frame, device: str, dtype: torch.dtype) -> torch.Tensor:
    """The network's input for images of one size: (n, 3, height, width)."""
    import torch
    from torch.nn import functional

    pixels = upload(pictures, device).permute(0, 3, 1, 2).to(torch.float32)
    if frame.resized != frame.original:
        # No antialiasing: the network was trained with OpenCV, which does none here.
        pixels = functional.interpolate(pixels, size=frame.resized, mode="bilinear", align_corners=False)
        pixels = pixels.round_().clamp_(0, 255)
    mean = torch.tensor(MEAN, device=pixels.device).view(1, 3, 1, 1)
    std = torch.tensor(STD, device=pixels.device).view(1, 3, 1, 1)
    padded = ((GREY - mean) / std).expand(len(pictures), 3, *frame.padded).clone()
    padded[:, :, : frame.resized[0], : frame.resized[1]] = (pixels - mean) / std
    return padded.to(dtype)


class Found(NamedTuple):
    """The entities in one image, the most probable class first; all arrays but masks have the same length."""

    labels: NDArray[np.int64]
    scores: NDArray[np.float64]
    corners: NDArray[np.int64]
    """(x0, y0, x1, y1) in pixels of the image, the last two exclusive; all 0 for a mask without pixels."""
    which: NDArray[np.int64]
    """The index of each entity's mask."""
    masks: NDArray[np.bool_]
    """(n, height, width) of the image."""

    def mask(self, i: int) -> Mask:
        """The mask of entity i, within its box."""

        x0, y0, x1, y1 = (int(edge) for edge in self.corners[i])
        inside = self.masks[self.which[i], y0:y1, x0:x1].reshape(-1)
        edges = np.flatnonzero(inside[1:] != inside[:-1]) + 1
        first = [0] if inside[0] else []
        runs = np.diff(np.concatenate((first, [0], edges, [inside.size])).astype(np.int64))
        return mask_of(runs.tolist(), left=x0, top=y0, width=x1 - x0, height=y1 - y0)


def find(class_logits: torch.Tensor, mask_logits: torch.Tensor, frame: Frame, floor: float) -> Found:
    """The entities in one image, from logits: (queries, classes + 1), the last for no class; (queries, height, width).

    A score is the probability of the class times the mean probability of the mask's pixels. A pixel belongs to the
    mask if its logit is above 0. Entities that cannot reach the floor are dropped before their masks are resized.
    """
    import torch

    shares = class_logits.float().softmax(-1)[:, :-1]
    n_classes = shares.shape[1]
    chances, places = shares.flatten().topk(min(MAX_FOUND, shares.numel()))
    # Not "chances >= floor", because NaN must reach the check of scores. The slack is for rounding.
    keep = ~(chances < floor - 1e-4)
    chances, places = chances[keep], places[keep]
    if not len(places):
        return _nothing(frame)
    queries, which = torch.unique(places // n_classes, return_inverse=True)
    certainties, corners, masks = [], [], []
    for large in _large(mask_logits[queries], frame):
        inside = large > 0
        certainties.append((large.sigmoid() * inside).sum((1, 2)) / (inside.sum((1, 2)) + 1e-6))
        corners.append(torch.stack((*_ends(inside.any(1)), *_ends(inside.any(2))), 1)[:, [0, 2, 1, 3]])
        masks.append(inside)
    return Found(
        labels=(places % n_classes).cpu().numpy(),
        scores=(chances * torch.cat(certainties)[which]).double().cpu().numpy(),
        corners=torch.cat(corners)[which].cpu().numpy(),
        which=which.cpu().numpy(),
        masks=torch.cat(masks).cpu().numpy(),
    )


def _large(logits: torch.Tensor, frame: Frame) -> Iterator[torch.Tensor]:
    """Mask logits in the size of the image, some at a time: first in the size of the padded input, then cut."""
    from torch.nn import functional

    step = max(1, _AT_ONCE // max(frame.padded[0] * frame.padded[1], frame.original[0] * frame.original[1]))
    for start in range(0, len(logits), step):
        some = logits[None, start : start + step].float()
        full = functional.interpolate(some, size=frame.padded, mode="bilinear", align_corners=False)
        cut = full[:, :, : frame.resized[0], : frame.resized[1]]
        yield functional.interpolate(cut, size=frame.original, mode="bilinear", align_corners=False)[0]


def _ends(is_there: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The first index of each row that is true, and the index after the last; both 0 if none is."""
    length = is_there.shape[1]
    numbers = is_there.int()
    some = is_there.any(1)
    return numbers.argmax(1) * some, (length - numbers.flip(1).argmax(1)) * some


def _nothing(frame: Frame) -> Found:

    none = np.zeros(0, np.int64)
    return Found(none, np.zeros(0), np.zeros((0, 4), np.int64), none, np.zeros((0, *frame.original), bool))
