"""Backgrounds for training scenes, a whole batch at a time on the GPU: nothing in them is a thing.

Plain, gradient, cloudy, grainy, striped, chequered, dotted, landscape and blobs, and mixtures of two.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn import functional

GREY = 0.5
"""What the detector pads oblong pictures with."""


class Backgrounds:
    """Draws batches of backgrounds of one side."""

    def __init__(self, side: int, device: torch.device) -> None:
        self.side = side
        self.device = device
        axis = (torch.arange(side, device=device) + 0.5) / side
        self.y, self.x = torch.meshgrid(axis, axis, indexing="ij")

    def draw(self, n: int) -> Tensor:
        """n pictures, values 0 to 1."""
        base = self._colours(n)
        # A second colour near the first gives gentle pictures; one far away gives loud ones.
        reach = self._uniform(n, 0.0, 1.0).square()
        other = torch.lerp(base, self._colours(n), reach.view(n, 1, 1, 1))
        masks = torch.stack([mask(n) for mask in self._masks()])
        first = masks[self._choice(n, len(masks)), torch.arange(n, device=self.device)]
        picture = torch.lerp(base, other, first)
        second = masks[self._choice(n, len(masks)), torch.arange(n, device=self.device)].flip(-1)
        strength = self._uniform(n, -0.6, 0.5).clamp_min(0).view(n, 1, 1, 1)
        picture = torch.lerp(picture, self._colours(n).expand_as(picture), second * strength)
        grain = self._uniform(n, -0.12, 0.12).clamp_min(0).view(n, 1, 1, 1)
        picture = (picture + grain * torch.randn_like(picture)).clamp(0, 1)
        return torch.where(self._bands(n), torch.tensor(GREY, device=self.device), picture)

    def _masks(self) -> list:  # type: ignore[type-arg]  # bound methods of one shape
        return [self._plain, self._gradient, self._clouds, self._clouds, self._stripes, self._checks, self._dots,
                self._landscape, self._blobs]  # fmt: skip

    def _bands(self, n: int) -> Tensor:
        """Where the grey margins of a picture that is not square lie; most pictures have none."""
        width = self._uniform(n, -4.0, 0.3).view(n, 1, 1, 1)
        along = torch.where(torch.rand_like(width) < 0.5, self.x, self.y)
        return (along < width) | (along > 1 - width)

    def _uniform(self, n: int, low: float, high: float) -> Tensor:
        return torch.rand(n, device=self.device) * (high - low) + low

    def _choice(self, n: int, n_kinds: int) -> Tensor:
        return torch.randint(n_kinds, (n,), device=self.device)

    def _colours(self, n: int) -> Tensor:
        colour = torch.rand(n, 3, 1, 1, device=self.device)
        pale = 1 - 0.35 * colour
        kind = torch.rand(n, 1, 1, 1, device=self.device)
        return torch.where(kind < 0.45, pale, torch.where(kind < 0.52, torch.ones_like(colour), colour))

    def _plain(self, n: int) -> Tensor:
        return torch.zeros(n, 1, self.side, self.side, device=self.device)

    def _turned(self, n: int) -> Tensor:
        """The distance along a random direction, about -0.7 to 0.7."""
        angle = self._uniform(n, 0, 2 * math.pi).view(n, 1, 1, 1)
        # Half of the pictures stay upright: that is what hands and programs draw.
        angle = torch.where(torch.rand_like(angle) < 0.5, (angle / (math.pi / 2)).round() * (math.pi / 2), angle)
        return torch.cos(angle) * (self.x - 0.5) + torch.sin(angle) * (self.y - 0.5)

    def _gradient(self, n: int) -> Tensor:
        return (self._turned(n) + 0.5).clamp(0, 1)

    def _clouds(self, n: int) -> Tensor:
        total = torch.zeros(n, 1, self.side, self.side, device=self.device)
        for cells in (3, 6, 12, 32, 80):
            noise = torch.rand(n, 1, cells, cells, device=self.device)
            weight = self._uniform(n, 0, 1).view(n, 1, 1, 1) / cells**0.4
            total += weight * functional.interpolate(noise, size=self.side, mode="bilinear", align_corners=False)
        low, high = total.amin((2, 3), keepdim=True), total.amax((2, 3), keepdim=True)
        return (total - low) / (high - low + 1e-3)

    def _stripes(self, n: int) -> Tensor:
        waves = torch.sin(2 * math.pi * self._uniform(n, 2, 24).view(n, 1, 1, 1) * self._turned(n))
        return (waves * self._uniform(n, 1, 12).view(n, 1, 1, 1) + 0.5).clamp(0, 1)

    def _checks(self, n: int) -> Tensor:
        count = self._uniform(n, 2, 18).view(n, 1, 1, 1)
        waves = torch.sin(math.pi * count * self.x) * torch.sin(math.pi * count * self.y)
        return (waves * 12 + 0.5).clamp(0, 1)

    def _dots(self, n: int) -> Tensor:
        count = self._uniform(n, 3, 16).view(n, 1, 1, 1)
        radius = self._uniform(n, 0.12, 0.42).view(n, 1, 1, 1)
        fx, fy = (self.x * count).frac() - 0.5, (self.y * count).frac() - 0.5
        return ((radius - (fx.square() + fy.square()).sqrt()) * self.side / count * 0.7 + 0.5).clamp(0, 1)

    def _landscape(self, n: int) -> Tensor:
        horizon = self._uniform(n, 0.35, 0.85).view(n, 1, 1, 1)
        for frequency in (1.5, 4.0):
            phase = self._uniform(n, 0, 6.3).view(n, 1, 1, 1)
            height = self._uniform(n, 0, 0.07).view(n, 1, 1, 1)
            horizon = horizon + height * torch.sin(2 * math.pi * frequency * self.x + phase)
        ground = ((self.y - horizon) * self.side * 0.7 + 0.5).clamp(0, 1)
        return ground * (0.6 + 0.4 * self.y)

    def _blobs(self, n: int) -> Tensor:
        total = torch.zeros(n, 1, self.side, self.side, device=self.device)
        for _ in range(4):
            cx, cy = self._uniform(n, 0, 1).view(n, 1, 1, 1), self._uniform(n, 0, 1).view(n, 1, 1, 1)
            radius = self._uniform(n, 0.04, 0.35).view(n, 1, 1, 1)
            edge = self._uniform(n, 2, 60).view(n, 1, 1, 1)
            distance = ((self.x - cx).square() + (self.y - cy).square()).sqrt()
            total = torch.maximum(total, ((radius - distance) * edge + 0.5).clamp(0, 1) * torch.rand_like(cx))
        return total
