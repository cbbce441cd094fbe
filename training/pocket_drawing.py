"""Draws pocket scenes in batches on the GPU: drawings from a bank, pasted one layer of things at a time.

Placements come in as arrays of bank rows, centres and sizes. Pictures sorted by the number of their things
let each layer touch only those that still have one, so a batch costs what its things cost and no more.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pocket_priors as priors
import torch
from PIL import Image
from torch import Tensor
from torch.nn import functional

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))
from salva.generators.painter import drawing  # the tree's own package, which is not installed there

BANK_SIDE = 64
# Each drawing is kept at several sharpnesses, so that shrinking it to a few pixels does not alias.
SHARP_SIDES = (64, 48, 36, 27, 20, 16)


def bank_rows() -> list[tuple[str, str, str]]:
    """Thing, style and colour of every row of the bank; the empty colour is the drawing's own."""
    return [
        (thing, style, colour)
        for thing, styles in priors.STYLES.items()
        for style in styles
        for colour in ("", *(priors.COLOURS if thing in priors.COLOURED else ()))
    ]


def drawing_extents() -> dict[tuple[str, str], tuple[float, float]]:
    """Width and height of every drawing when its longer side is 1."""
    extents = {}
    for thing, styles in priors.STYLES.items():
        for style in styles:
            width, height = drawing._sprite(thing, style).size
            extents[thing, style] = (width / max(width, height), height / max(width, height))
    return extents


def _square_levels(sprite: Image.Image) -> list[np.ndarray]:
    """The drawing in the middle of a square, at each sharpness, all at the bank's side."""
    longest = max(sprite.size)
    canvas = Image.new("RGBA", (longest, longest))
    canvas.paste(sprite, ((longest - sprite.width) // 2, (longest - sprite.height) // 2))
    whole = canvas.convert("RGBa")  # colours times opacity, so that shrinking mixes no colour of what is clear
    levels = []
    for side in SHARP_SIDES:
        level = whole.resize((side, side), Image.Resampling.BOX if side < 30 else Image.Resampling.LANCZOS)
        levels.append(np.asarray(level.resize((BANK_SIDE, BANK_SIDE), Image.Resampling.BICUBIC)).transpose(2, 0, 1))
    return levels


class Drawer:
    """Holds the bank on one device and draws batches of one side."""

    def __init__(self, side: int, device: torch.device) -> None:
        self.side = side
        self.device = device
        levels = [_square_levels(drawing._sprite(thing, style, colour or None)) for thing, style, colour in bank_rows()]
        self.bank = torch.from_numpy(np.stack(levels)).to(device)  # rows, sharpness, 4, s, s
        self.sharp = torch.tensor(SHARP_SIDES, device=device, dtype=torch.float32)
        axis = (torch.arange(side, device=device) + 0.5) / side
        self.y, self.x = torch.meshgrid(axis, axis, indexing="ij")

    def draw(self, rows: Tensor, places: Tensor, n_with: list[int]) -> Tensor:
        """Pictures [b, 3, s, s] in -1 to 1.

        rows [b, k] and places [b, k, 3] (x, y, size) on the device, pictures with most things first;
        n_with[k] is how many have more than k things.
        """
        canvas = self.backgrounds(rows.shape[0])
        for k, m in enumerate(n_with):
            if m == 0:
                break
            place = places[:m, k]
            pixels = (place[:, 2] * self.side)[:, None]
            level = (self.sharp[None] - pixels).abs().argmin(1)
            stamp = self.bank[rows[:m, k].long(), level].float() / 255
            grid_x = (self.x[None] - place[:, 0, None, None]) * (2 / place[:, 2, None, None])
            grid_y = (self.y[None] - place[:, 1, None, None]) * (2 / place[:, 2, None, None])
            grid = torch.stack([grid_x, grid_y], 3)
            layer = functional.grid_sample(stamp, grid, mode="bilinear", padding_mode="zeros", align_corners=False)
            canvas[:m] = canvas[:m] * (1 - layer[:, 3:]) + layer[:, :3]
        return canvas.clamp_(0, 1).mul_(2).sub_(1)

    def backgrounds(self, n: int) -> Tensor:
        """Plain pastels, soft gradients, and a sky over a ground: calm and pleasant."""
        one, two = self._pastels(n), self._pastels(n)
        kind = torch.rand(n, 1, 1, 1, device=self.device)
        slope = self.y[None, None] * torch.rand(n, 1, 1, 1, device=self.device)
        gradient = torch.lerp(one, two, slope)
        sky = torch.lerp(self._near(n, (0.62, 0.82, 0.97)), self._near(n, (0.90, 0.96, 1.0)), self.y[None, None])
        grass = torch.rand(n, 1, 1, 1, device=self.device) < 0.6
        ground = torch.where(grass, self._near(n, (0.66, 0.83, 0.54)), self._near(n, (0.92, 0.85, 0.68)))
        horizon = 0.5 + 0.25 * torch.rand(n, 1, 1, 1, device=self.device)
        phase, height = (
            6.3 * torch.rand(n, 1, 1, 1, device=self.device),
            0.03 * torch.rand(n, 1, 1, 1, device=self.device),
        )
        line = horizon + height * torch.sin(4 * self.x[None, None] + phase)
        below = ((self.y[None, None] - line) * self.side + 0.5).clamp(0, 1)
        landscape = torch.lerp(sky, ground * (1.06 - 0.12 * self.y[None, None]), below)
        return torch.where(kind < 0.35, one.expand_as(sky), torch.where(kind < 0.62, gradient, landscape)).clamp(0, 1)

    def _pastels(self, n: int) -> Tensor:
        return 1 - 0.30 * torch.rand(n, 3, 1, 1, device=self.device) ** 1.5

    def _near(self, n: int, colour: tuple[float, float, float]) -> Tensor:
        base = torch.tensor(colour, device=self.device).view(1, 3, 1, 1)
        return (base + 0.08 * (torch.rand(n, 3, 1, 1, device=self.device) - 0.5)).clamp(0, 1)
