"""Things drawn in other manners than the sprites': as blocks and as outlines, a batch of layers at a time on the GPU.

Silhouettes and exchanged colours are colour matrices like every other tint, and come from layouts.py.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional


def in_blocks(grid: Tensor, n_blocks: Tensor) -> Tensor:
    """Where to look in a sprite (-1 to 1), so that it falls into so many blocks a side."""
    count = n_blocks.view(-1, 1, 1, 1)
    return (((grid + 1) / 2 * count).floor() + 0.5) / count * 2 - 1


def outlined(layers: Tensor) -> Tensor:
    """Premultiplied layers [n, 4, side, side] as lines in some ink, on paper of their own or on none."""
    n, device = len(layers), layers.device

    def between(low: float, high: float, channels: int = 1) -> Tensor:
        return torch.rand(n, channels, 1, 1, device=device) * (high - low) + low

    paper, ink = 1 - between(0, 0.5).square() * between(0, 1, 3), between(0, 0.75).square() * between(0, 1, 3)
    is_chalk = between(0, 1) < 0.2
    paper, ink = torch.where(is_chalk, ink, paper), torch.where(is_chalk, paper, ink)
    colours, alpha = layers[:, :3], layers[:, 3:]
    seen = functional.pad(colours + (1 - alpha) * paper, (1, 1, 1, 1), mode="replicate")
    across = seen[:, :, 1:-1, 2:] - seen[:, :, 1:-1, :-2]
    down = seen[:, :, 2:, 1:-1] - seen[:, :, :-2, 1:-1]
    change = (across.square() + down.square()).sum(1, keepdim=True).sqrt()
    rim = alpha + functional.max_pool2d(-alpha, 3, 1, 1)
    lines = torch.maximum((change - between(0.05, 0.2)) * between(1.0, 4.0), rim).clamp(0, 1) * alpha
    is_thick = between(0, 1) < 0.4
    lines = torch.where(is_thick, functional.max_pool2d(lines, 3, 1, 1), lines)
    # A quarter has no paper: the ground shows between the lines.
    cover = torch.maximum(lines, torch.where(between(0, 1) < 0.75, alpha, 0))
    return torch.cat((torch.lerp(paper, ink, lines) * cover, cover), 1)
