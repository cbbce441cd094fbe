"""Copies the pixels of a batch from the device to memory while the next batch is generated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch


class PixelTransfer:
    """The pixels of one batch; the copy runs in the background."""

    def __init__(self, images: torch.Tensor, flags: Sequence[bool] | None, n_cut: Sequence[int]) -> None:
        import torch

        self.n_cut = n_cut
        self.flags: Sequence[bool] = flags or [False] * len(images)
        is_finite = images.isfinite().flatten(1).all(1)
        pixels = images.float().mul(255).round().clamp(0, 255).to(torch.uint8).permute(0, 2, 3, 1).contiguous()
        is_sound = is_finite & (pixels.flatten(1).amax(1) > 0)
        self._done: torch.cuda.Event | None = None
        if images.is_cuda:
            self._pixels = torch.empty(pixels.shape, dtype=pixels.dtype, pin_memory=True)
            self._is_sound = torch.empty(is_sound.shape, dtype=is_sound.dtype, pin_memory=True)
            self._pixels.copy_(pixels, non_blocking=True)
            self._is_sound.copy_(is_sound, non_blocking=True)
            self._done = torch.cuda.Event(blocking=True)  # type: ignore[no-untyped-call]  # torch leaves it untyped
            self._done.record(torch.cuda.current_stream(images.device))
        else:
            self._pixels, self._is_sound = pixels.cpu(), is_sound.cpu()

    def pixels(self, i: int) -> tuple[bytes, int, int, bool]:
        """RGB, width and height of one image, and whether it is finite and not black; waits for the copy."""
        if self._done is not None:
            self._done.synchronize()
            self._done = None
        height, width, _ = self._pixels[i].shape
        return self._pixels[i].numpy().tobytes(), width, height, bool(self._is_sound[i])
