"""Draws pocket scenes in batches on the GPU: drawings from a bank, pasted one layer of things at a time.

Placements come in as arrays of bank rows, centres, sizes and turns; every layer touches every picture, since one
compiled pass over all of them costs less than many small ones over those that still have a thing.
"""

from __future__ import annotations

import multiprocessing as mp
import os
import sys
from pathlib import Path

import numpy as np
import pocket_priors as priors
import torch
from PIL import Image, ImageDraw, ImageFont
from pocket_world import SIGN, SIGN_EXTENT
from torch import Tensor

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))
from salva.generators.painter import drawing  # the tree's own package, which is not installed there

BANK_SIDE = 64
# Each drawing is kept at several sharpnesses, so that shrinking it to a few pixels does not alias.
SHARP_SIDES = (64, 48, 36, 27, 20, 16)


def bank_rows() -> list[tuple[str, str, str]]:
    """Thing, style and colour of every row of the bank; the empty colour is the drawing's own. Signs come last."""
    return [
        (thing, style, colour)
        for thing, styles in priors.STYLES.items()
        for style in styles
        for colour in ("", *(priors.COLOURS if thing in priors.COLOURED else ()))
    ] + sign_rows()


def sign_rows() -> list[tuple[str, str, str]]:
    """The rows of plates with words."""
    return [(SIGN, word, "") for word in priors.SIGNS]


def draw_sign(word: str) -> Image.Image:
    """A plate with a word on it, its colours fixed by the word."""
    plates = (("#f8f8f4", "#22242c"), ("#c62828", "#ffffff"), ("#1d5fb8", "#ffffff"), ("#f3d13a", "#26241c"))
    plate, ink = plates[sum(map(ord, word)) % len(plates)]
    sign = Image.new("RGBA", (256, round(256 * SIGN_EXTENT[1])))
    pen = ImageDraw.Draw(sign)
    pen.rounded_rectangle((0, 0, sign.width - 1, sign.height - 1), radius=16, fill=plate, outline=ink, width=6)
    size = min(96, 400 // max(2, len(word)))
    pen.text((sign.width / 2, sign.height / 2), word, font=ImageFont.load_default(size), fill=ink, anchor="mm")
    return sign


def draw_row(thing: str, style: str, colour: str) -> Image.Image:
    """The drawing of one row."""
    return draw_sign(style) if thing == SIGN else drawing._sprite(thing, style, colour or None)


def drawing_extents() -> dict[tuple[str, str], tuple[float, float]]:
    """Width and height of every drawing when its longer side is 1."""
    extents = {}
    for thing, styles in priors.STYLES.items():
        for style in styles:
            width, height = drawing._sprite(thing, style).size
            extents[thing, style] = (width / max(width, height), height / max(width, height))
    return extents | {(SIGN, word): SIGN_EXTENT for word in priors.SIGNS}


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


def _levels(row: tuple[str, str, str]) -> np.ndarray:
    return np.stack(_square_levels(draw_row(*row)))


def make_bank(rows: list[tuple[str, str, str]]) -> np.ndarray:
    """[rows, sharpness, 4, s, s] bytes, made by all cores; the processes are forked, so call it before CUDA is used."""
    with mp.get_context("fork").Pool(os.cpu_count()) as pool:
        return np.stack(pool.map(_levels, rows, chunksize=8))


class Drawer:
    """Holds the bank on one device and draws batches of one side."""

    def __init__(self, side: int, device: torch.device) -> None:
        self.side = side
        self.device = device
        rows = bank_rows()
        self.bank = torch.from_numpy(make_bank(rows)).to(device)  # rows, sharpness, 4, s, s
        # One number for the four of a pixel: the bank is read at random, and one read costs what four would.
        red, green, blue, opacity = self.bank.to(torch.int32).unbind(2)
        self.packed = (red | green << 8 | blue << 16 | opacity << 24).flatten()
        self.sharp = torch.tensor(SHARP_SIDES, device=device, dtype=torch.float32)
        axis = (torch.arange(side, device=device) + 0.5) / side
        self.y, self.x = torch.meshgrid(axis, axis, indexing="ij")
        extents = drawing_extents()
        self.halves = torch.tensor([extents[thing, style] for thing, style, _ in rows], device=device) / 2
        numbers = {thing: i for i, thing in enumerate(priors.THINGS)} | {SIGN: -1}
        self.kinds = torch.tensor([numbers[thing] for thing, _, _ in rows], device=device)
        self._paste = torch.compile(self.paste) if device.type == "cuda" else self.paste

    def draw(self, rows: Tensor, places: Tensor) -> Tensor:
        """Pictures [b, 3, s, s] in -1 to 1 of rows [b, k] and places [b, k, 4] (x, y, size, turn; size 0: no thing)."""
        pictures: Tensor = self._paste(rows, places)
        return pictures.contiguous()

    def paste(self, rows: Tensor, places: Tensor) -> Tensor:
        """One layer of things after another over the backgrounds; pointwise, so that it compiles to few kernels."""
        red, green, blue = self.backgrounds(rows.shape[0]).unbind(1)
        for k in range(rows.shape[1]):
            layer = self._layer(rows[:, k].long(), places[:, k])
            clear = 1 - layer[3]
            red, green, blue = red * clear + layer[0], green * clear + layer[1], blue * clear + layer[2]
        return torch.stack([red, green, blue], 1).clamp(0, 1) * 2 - 1

    def _layer(self, row: Tensor, place: Tensor) -> list[Tensor]:
        """Red, green, blue (times opacity) and opacity [b, s, s] of one thing in each picture."""
        size = place[:, 2]
        level = (self.sharp[None] - (size * self.side)[:, None]).abs().argmin(1)
        start = ((row * len(SHARP_SIDES) + level) * BANK_SIDE**2)[:, None, None]
        scale = (BANK_SIDE / size.clamp_min(1e-3))[:, None, None]
        middle = BANK_SIDE / 2 - 0.5
        cos, sin = place[:, 3].cos()[:, None, None] * scale, place[:, 3].sin()[:, None, None] * scale
        across, down = self.x[None] - place[:, 0, None, None], self.y[None] - place[:, 1, None, None]
        x = across * cos + down * sin + middle
        y = down * cos - across * sin + middle
        left, top = x.floor(), y.floor()
        x, y = x - left, y - top
        sums: list[Tensor] = []
        for below, right in ((0, 0), (0, 1), (1, 0), (1, 1)):
            column, line = left + right, top + below
            is_inside = (column >= 0) & (column < BANK_SIDE) & (line >= 0) & (line < BANK_SIDE)
            share = (x if right else 1 - x) * (y if below else 1 - y) / 255
            share = torch.where(is_inside & (size > 0)[:, None, None], share, 0.0)
            at = start + line.clamp(0, BANK_SIDE - 1).long() * BANK_SIDE + column.clamp(0, BANK_SIDE - 1).long()
            pixel = self.packed[at]
            parts = [share * (pixel >> shift & 255) for shift in (0, 8, 16, 24)]
            sums = [one + two for one, two in zip(sums, parts, strict=True)] if sums else parts
        return sums

    def maps(self, rows: Tensor, places: Tensor, n_cells: int) -> tuple[Tensor, Tensor]:
        """What stands where on a coarse grid: kinds [b, n, n], 0 for none and else 1 + the thing's number, and centres.

        Where two overlap the later one counts, as it does in the picture. Signs are nothing.
        """
        rows = rows.long()
        has = (places[:, :, 2] > 0) & (self.kinds[rows] >= 0)
        cells = (torch.arange(n_cells, device=rows.device) + 0.5) / n_cells
        cos, sin = places[:, :, 3:].cos().abs(), places[:, :, 3:].sin().abs()
        half = self.halves[rows] * cos + 0.8 * self.halves[rows].flip(2) * sin
        half = (half * places[:, :, 2:3]).clamp_min(0.5 / n_cells)
        across = (cells - places[:, :, 0:1]).abs() <= half[:, :, 0:1]
        along = (cells - places[:, :, 1:2]).abs() <= half[:, :, 1:2]
        inside = across[:, :, None, :] & along[:, :, :, None] & has[:, :, None, None]
        order = torch.arange(1, rows.shape[1] + 1, device=rows.device)[None, :, None, None]
        front = (inside * order).amax(1)
        kind = self.kinds[rows].gather(1, (front - 1).clamp_min(0).flatten(1)).view_as(front) + 1
        near_x = (places[:, :, 0:1] * n_cells).floor() == torch.arange(n_cells, device=rows.device)
        near_y = (places[:, :, 1:2] * n_cells).floor() == torch.arange(n_cells, device=rows.device)
        centres = (near_x[:, :, None, :] & near_y[:, :, :, None] & has[:, :, None, None]).any(1)
        return torch.where(front > 0, kind, 0), centres.float()

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
