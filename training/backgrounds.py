"""Backgrounds for training scenes, a whole batch at a time on the GPU: nothing in them is a thing.

Plain, gradient, cloudy, grainy, striped, chequered, dotted, landscape and blobs, and mixtures of two. Some are as busy
as photographs: leaves of all sizes that cover each other, shaded and rough, which have a photograph's edges and
contrasts without being one; and, where a folder of them is given, parts of photographs, in other colours than theirs.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from torch import Tensor
from torch.nn import functional

GREY = 0.5
"""What the detector pads oblong pictures with."""
PHOTO_SIDE = 512


class Backgrounds:
    """Draws batches of backgrounds of one side."""

    def __init__(self, side: int, device: torch.device, busy: float = 0.0, photos: Path | None = None) -> None:
        self.side = side
        self.busy = busy
        self.leaves: Tensor | None = None
        self.photos = read_photos(photos, device) if photos else None
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
        n_busy = round(self.busy * n)
        if n_busy:
            chosen = torch.randperm(n, device=self.device)[:n_busy]
            picture = picture.index_copy(0, chosen, self._busy(n_busy))
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

    def _busy(self, n: int) -> Tensor:
        """Parts of stored leaves, mirrored, nearer or further, lighter or darker: to draw them each time costs more."""
        if self.leaves is None:
            n_chunks, size = (16, 192) if self.device.type == "cuda" else (1, 4)
            self.leaves = torch.cat([self._leaves(size).half() for _ in range(n_chunks)])
        picture = self._part(self.leaves, n, 0.35)
        if self.photos is not None:
            is_photo = (self._uniform(n, 0, 1) < 0.6).view(n, 1, 1, 1)
            picture = torch.where(is_photo, self._recoloured(self._part(self.photos, n, 0.12)), picture)
        tint = torch.rand(n, 3, 1, 1, device=self.device) * 0.4 + 0.8
        return (picture * tint + self._uniform(n, -0.15, 0.15).view(n, 1, 1, 1)).clamp(0, 1)

    def _part(self, stored: Tensor, n: int, nearest: float) -> Tensor:
        """A part of a stored picture each, mirrored, nearer or further."""
        picked = stored[self._choice(n, len(stored))].float()
        zoom = self._uniform(n, nearest, 1.0)
        part = torch.zeros(n, 2, 3, device=self.device)
        part[:, 0, 0] = zoom * torch.where(self._uniform(n, 0, 1) < 0.5, -1, 1)
        part[:, 1, 1] = zoom * torch.where(self._uniform(n, 0, 1) < 0.2, -1, 1)
        part[:, :, 2] = (torch.rand(n, 2, device=self.device) * 2 - 1) * (1 - zoom)[:, None]
        grid = functional.affine_grid(part, [n, 3, self.side, self.side], align_corners=False)
        return functional.grid_sample(picked, grid, padding_mode="reflection", align_corners=False)

    def _recoloured(self, pictures: Tensor) -> Tensor:
        """Channels exchanged, lighter or darker: a few photographs become many."""
        n = len(pictures)
        order = torch.rand(n, 3, device=self.device).argsort(1)
        is_kept = self._uniform(n, 0, 1) < 0.4
        order = torch.where(is_kept[:, None], torch.arange(3, device=self.device), order)
        mixed = pictures.gather(1, order.view(n, 3, 1, 1).expand_as(pictures))
        return mixed.clamp(1e-3, 1) ** self._uniform(n, 0.6, 1.6).view(n, 1, 1, 1)

    def _leaves(self, n: int, n_leaves: int = 64) -> Tensor:
        """Ellipses and rectangles of all sizes, one over another, in a few colours each picture has of its own."""
        side = self.side
        axis = (torch.arange(side, device=self.device) + 0.5) / side
        y, x = torch.meshgrid(axis, axis, indexing="ij")

        def between(low: float, high: float, channels: int = 1) -> Tensor:
            return torch.rand(n, channels, 1, 1, device=self.device) * (high - low) + low

        # Mostly light and dark of a few dull colours.
        vivid, spread = between(0.05, 0.6).square() + 0.08, between(0.1, 0.7)
        mood = between(0.15, 0.85) + vivid * (between(0, 1, 3) - 0.5)
        picture = mood + between(-0.5, 0.5) * (y - 0.5)
        hardness, boxy = between(0.1, 1.0), between(0, 1)
        for i in range(n_leaves):
            # Sizes fall as their number grows, as in photographs: many small things, few large ones.
            radius = 0.5 / (1 + i * 0.35) * between(0.5, 1.3)
            angle, long = between(0, math.pi), between(0.3, 1.0)
            dx, dy = x - between(-0.1, 1.1), y - between(-0.1, 1.1)
            along = (dx * angle.cos() + dy * angle.sin()) / radius
            across = (dy * angle.cos() - dx * angle.sin()) / (radius * long)
            is_boxy = between(0, 1) < boxy
            far = torch.where(is_boxy, torch.maximum(along.abs(), across.abs()), (along**2 + across**2).sqrt())
            cover = ((1 - far) * radius * side * hardness + 0.5).clamp(0, 1)
            colour = mood + spread * (between(0, 1) - 0.5) + 2 * vivid * (between(0, 1, 3) - 0.5)
            colour = colour + between(-0.2, 0.2) * along.clamp(-1, 1)
            picture = torch.lerp(picture, colour, cover)
        rough = torch.zeros(n, 1, side, side, device=self.device)
        for cells, most in ((8, 0.1), (32, 0.08), (side, 0.04)):
            noise = torch.randn(n, 1, cells, cells, device=self.device)
            rough += between(0, most) * functional.interpolate(noise, size=side, mode="bilinear", align_corners=False)
        return (picture + rough).clamp(0, 1)


def read_photos(folder: Path, device: torch.device) -> Tensor:
    """Square parts of every photograph in a folder: both ends of an oblong one."""
    squares = []
    for path in sorted(folder.glob("*.jpg")):
        with Image.open(path) as opened:
            photo = opened.convert("RGB")
        side = min(photo.size)
        for x, y in {(0, 0), (photo.width - side, photo.height - side)}:
            part = photo.crop((x, y, x + side, y + side)).resize((PHOTO_SIDE, PHOTO_SIDE), Image.Resampling.LANCZOS)
            squares.append(torch.from_numpy(np.asarray(part).copy()).permute(2, 0, 1))
    if not squares:
        raise SystemExit(f"no .jpg in {str(folder)!r}; put photographs there, or leave out --photos")
    return torch.stack(squares).to(device).half() / 255
