"""Draws what the embedder learns from: pocket's scenes in all of the painter's drawings, worn as painted ones are.

Like pocket's own drawing, with more drawings, mirrored ones and louder backgrounds, because pictures of other models
are to be compared with sentences too. Everything but the bank happens on the GPU, a batch at a time.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pocket_priors as priors
import torch
from backgrounds import Backgrounds
from degrade import grain, soften, warp
from pocket_drawing import SHARP_SIDES, sign_rows
from torch import Tensor
from torch.nn import functional

from salva.generators.painter import drawing

PASTEL = 0.65
"""The share of calm backgrounds, as pocket's training pictures have them."""
MIRRORED = 0.15
WORN = 0.65


def wide_rows() -> list[tuple[str, str, str]]:
    """Thing, style and colour of every row of the bank, in all of the painter's styles; the empty colour is its own."""
    entities = drawing.sprite_index()["entities"]
    return [
        (thing, style, colour)
        for thing in priors.THINGS
        for style in entities[thing]["styles"]
        for colour in ("", *(priors.COLOURS if thing in priors.COLOURED else ()))
    ] + sign_rows()


class WideDrawer:
    """Holds the bank on one device and draws batches of one side."""

    def __init__(self, bank: np.ndarray, side: int, device: torch.device) -> None:
        self.side, self.device = side, device
        self.bank = torch.from_numpy(bank).to(device)
        self.loud = Backgrounds(side, device)
        self.sharp = torch.tensor(SHARP_SIDES, device=device, dtype=torch.float32)
        axis = (torch.arange(side, device=device) + 0.5) / side
        self.y, self.x = torch.meshgrid(axis, axis, indexing="ij")

    @torch.no_grad()
    def draw(self, rows: Tensor, places: Tensor, n_with: list[int], *, is_plain: bool = False) -> Tensor:
        """Pictures [b, 3, s, s] in 0 to 1, those with most things first; plain ones have calm backgrounds only."""
        canvas = self._calm(rows.shape[0])
        if not is_plain:
            keep = torch.rand(rows.shape[0], 1, 1, 1, device=self.device) < PASTEL
            canvas = torch.where(keep, canvas, self.loud.draw(rows.shape[0]))
        for m, row, place in self._layers(rows, places, n_with):
            level = (self.sharp[None] - place[:, 2:3] * self.side).abs().argmin(1)
            stamp = self.bank[row.long(), level].float() / 255
            # Halves of the square, so that the grid runs from -1 to 1 across the drawing.
            scale = (2 / place[:, 2])[:, None, None]
            sign = torch.where(torch.rand_like(scale) < (0 if is_plain else MIRRORED), -1.0, 1.0)
            cos, sin = place[:, 3].cos()[:, None, None] * scale, place[:, 3].sin()[:, None, None] * scale
            x, y = self.x[None] - place[:, 0, None, None], self.y[None] - place[:, 1, None, None]
            across, along = (x * cos + y * sin) * sign, y * cos - x * sin
            layer = functional.grid_sample(stamp, torch.stack([across, along], 3), align_corners=False)
            canvas[:m] = canvas[:m] * (1 - layer[:, 3:]) + layer[:, :3]
        return canvas.clamp_(0, 1)

    @staticmethod
    def _layers(rows: Tensor, places: Tensor, n_with: list[int]) -> Iterator[tuple[int, Tensor, Tensor]]:
        for k, m in enumerate(n_with):
            if m:
                yield m, rows[:m, k], places[:m, k]

    def _calm(self, n: int) -> Tensor:
        """A pastel, a soft gradient, or a sky over a ground."""

        def between(low: float, high: float, channels: int = 1) -> Tensor:
            return low + (high - low) * torch.rand(n, channels, 1, 1, device=self.device)

        one, two = (1 - 0.3 * torch.rand(n, 3, 1, 1, device=self.device) ** 1.5 for _ in range(2))
        gradient = torch.lerp(one, two, self.y[None, None] * between(0, 1))
        blue = torch.tensor((0.65, 0.83, 0.97), device=self.device).view(1, 3, 1, 1)
        grass = torch.tensor((0.66, 0.83, 0.54), device=self.device).view(1, 3, 1, 1)
        sand = torch.tensor((0.92, 0.85, 0.68), device=self.device).view(1, 3, 1, 1)
        ground = torch.where(between(0, 1) < 0.6, grass, sand) + between(-0.05, 0.05, 3)
        sky = torch.lerp(blue + between(-0.05, 0.05, 3), torch.ones_like(blue), 0.7 * self.y[None, None])
        line = between(0.5, 0.75) + between(0, 0.03) * torch.sin(4 * self.x[None, None] + between(0, 6.3))
        below = ((self.y[None, None] - line) * self.side + 0.5).clamp(0, 1)
        kind = between(0, 1)
        calm = torch.where(kind < 0.62, gradient, torch.lerp(sky, ground.expand_as(sky), below))
        return torch.where(kind < 0.3, one.expand_as(calm), calm).clamp(0, 1)


@torch.no_grad()
def wear(pictures: Tensor, rng: np.random.Generator) -> Tensor:
    """Some of the batch wobbled, softened, grainy, a little lighter or duller: gentle on colours and places."""
    n = len(pictures)
    device = pictures.device
    chosen = rng.random(n) < WORN
    pictures = warp(pictures, chosen & (rng.random(n) < 0.5), rng)
    soft = soften(pictures, float(rng.uniform(0.4, 1.1)))
    amount = torch.from_numpy((chosen * (rng.random(n) < 0.5) * rng.random(n)).astype(np.float32)).to(device)
    pictures = torch.lerp(pictures, soft, amount.view(n, 1, 1, 1))
    pictures = grain(pictures, torch.from_numpy(chosen & (rng.random(n) < 0.5)).to(device))
    contrast = torch.from_numpy(np.where(chosen, rng.uniform(0.8, 1.1, n), 1.0).astype(np.float32)).to(device)
    light = torch.from_numpy(np.where(chosen, rng.uniform(-0.06, 0.06, n), 0.0).astype(np.float32)).to(device)
    middle = pictures.mean((1, 2, 3), keepdim=True)
    pictures = middle + (pictures - middle) * contrast.view(n, 1, 1, 1) + light.view(n, 1, 1, 1)
    return pictures.clamp_(0, 1)
