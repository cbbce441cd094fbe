"""What happens to a painted batch before the detector sees it: warps, softness, grain, compression, colour.

A soft picture of 64 to 128 px, as a small generative model makes, is a picture that went through
`shrink` and `warp`. Some of each batch stays as painted. Boxes are not touched, so every step is gentle
on where things are.
"""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

SIDES = (64, 80, 96, 112, 128, 160, 192)
LUMA = ((0.299, 0.587, 0.114), (-0.169, -0.331, 0.5), (0.5, -0.419, -0.081))
# The quantisation tables of the JPEG standard (Annex K), flattened to their coarse trend: a step that
# grows along the diagonal from 12 to 110 for brightness, faster for colour.
_DIAGONAL = torch.arange(8.0)[:, None] + torch.arange(8.0)[None, :]
QUANT = torch.stack([12 + 7 * _DIAGONAL, 17 + 12 * _DIAGONAL, 17 + 12 * _DIAGONAL])


def degrade(pictures: Tensor, smallest: np.ndarray, rng: np.random.Generator) -> Tensor:
    """The batch, each picture worn in its own way.

    smallest: the longest side of the smallest thing of each picture, as a share of the picture's; a picture
    is never shrunk or blurred until its smallest thing is lost.
    """
    n = len(pictures)
    is_worn = rng.random(n) < 0.7
    pictures = warp(pictures, is_worn & (rng.random(n) < 0.4), rng)
    pictures = colour(pictures, torch.from_numpy(rng.random(n) < 0.6).to(pictures.device))
    pictures = blur(pictures, is_worn & (rng.random(n) < 0.3), smallest, rng)
    pictures = shrink(pictures, is_worn & (rng.random(n) < 0.5), smallest, rng)
    is_grainy = torch.from_numpy(is_worn & (rng.random(n) < 0.35)).to(pictures.device)
    pictures = grain(pictures, is_grainy)
    chosen = torch.from_numpy(np.flatnonzero(is_worn & (rng.random(n) < 0.35))).to(pictures.device)
    if len(chosen):
        pictures = pictures.index_copy(0, chosen, compress(pictures[chosen]))
    return pictures.clamp(0, 1)


def _column(values: np.ndarray, device: torch.device) -> Tensor:
    return torch.from_numpy(values.astype(np.float32)).to(device).view(-1, 1, 1, 1)


def warp(pictures: Tensor, chosen: np.ndarray, rng: np.random.Generator) -> Tensor:
    """Push pixels about smoothly, by up to about two per cent of the side."""
    n, _, side, _ = pictures.shape
    device = pictures.device
    cells = int(rng.choice((4, 6, 9, 14)))
    amount = _column(np.where(chosen, rng.uniform(0.1, 1.0, n), 0) * 0.13 / cells, device)
    push = functional.interpolate(torch.randn(n, 2, cells, cells, device=device), size=side, mode="bicubic") * amount
    axis = (torch.arange(side, device=device) * 2 + 1) / side - 1
    y, x = torch.meshgrid(axis, axis, indexing="ij")
    grid = torch.stack((x, y), -1) + push.permute(0, 2, 3, 1)
    return functional.grid_sample(pictures, grid, padding_mode="reflection", align_corners=False)


def colour(pictures: Tensor, chosen: Tensor) -> Tensor:
    """Saturation, contrast, brightness, gamma and a cast."""
    n, device = len(pictures), pictures.device

    def between(low: float, high: float, channels: int = 1) -> Tensor:
        return torch.rand(n, channels, 1, 1, device=device) * (high - low) + low

    weights = torch.tensor(LUMA[0], device=device).view(1, 3, 1, 1)
    grey = (pictures * weights).sum(1, keepdim=True)
    out = grey + (pictures - grey) * between(0.35, 1.4)
    middle = out.mean((2, 3), keepdim=True)
    out = middle + (out - middle) * between(0.4, 1.25)
    out = out + between(-0.15, 0.15) + between(-0.06, 0.06, 3)
    out = out.clamp(1e-3, 1) ** between(0.7, 1.4)
    return torch.where(chosen.view(n, 1, 1, 1), out, pictures)


def soften(pictures: Tensor, sigma: float) -> Tensor:
    """Gaussian blur."""
    reach = max(1, math.ceil(2.5 * sigma))
    taps = torch.exp(-(torch.arange(-reach, reach + 1, device=pictures.device) ** 2) / (2 * sigma**2))
    taps = (taps / taps.sum()).to(pictures.dtype)
    channels = pictures.shape[1]
    padded = functional.pad(pictures, (reach, reach, reach, reach), mode="replicate")
    # Every call has another shape: searching for the best kernel each time cost five times the painting.
    with torch.backends.cudnn.flags(enabled=True, benchmark=False):
        padded = functional.conv2d(padded, taps.view(1, 1, 1, -1).expand(channels, 1, 1, -1), groups=channels)
        return functional.conv2d(padded, taps.view(1, 1, -1, 1).expand(channels, 1, -1, 1), groups=channels)


def blur(pictures: Tensor, chosen: np.ndarray, smallest: np.ndarray, rng: np.random.Generator) -> Tensor:
    """Soften, by at most a fourteenth of the smallest thing."""
    side = pictures.shape[-1]
    for low, high in ((0.4, 0.9), (0.9, 1.7), (1.7, 2.8)):
        sigma = rng.uniform(low, high)
        here = chosen & (rng.random(len(chosen)) < 0.5) & (smallest * side / 14 > sigma)
        chosen = chosen & ~here
        index = torch.from_numpy(np.flatnonzero(here)).to(pictures.device)
        if len(index):
            pictures = pictures.index_copy(0, index, soften(pictures[index], sigma))
    return pictures


def shrink(pictures: Tensor, chosen: np.ndarray, smallest: np.ndarray, rng: np.random.Generator) -> Tensor:
    """Down to a small picture and back up, as long as the smallest thing keeps 11 px."""
    full = pictures.shape[-1]
    wanted = rng.choice(SIDES, len(chosen))
    wanted = np.maximum(wanted, np.array(SIDES)[np.minimum(np.searchsorted(SIDES, 11 / smallest), len(SIDES) - 1)])
    for side in SIDES:
        index = torch.from_numpy(np.flatnonzero(chosen & (wanted == side))).to(pictures.device)
        if len(index) == 0:
            continue
        small = functional.interpolate(pictures[index], size=side, mode="bilinear", antialias=True)
        if rng.random() < 0.5:
            small = small + rng.uniform(0, 0.04) * torch.randn_like(small)
        mode = "bilinear" if rng.random() < 0.7 else "bicubic"
        back = functional.interpolate(small, size=full, mode=mode, align_corners=False)
        pictures = pictures.index_copy(0, index, back.to(pictures.dtype))
    return pictures


def grain(pictures: Tensor, chosen: Tensor) -> Tensor:
    """Fine and coarse noise."""
    n, _, side, _ = pictures.shape
    amount = torch.rand(n, 1, 1, 1, device=pictures.device).square() * 0.1 * chosen.view(n, 1, 1, 1)
    coarse = functional.interpolate(
        torch.randn(n, 3, side // 4, side // 4, device=pictures.device), size=side, mode="bilinear"
    )
    kind = torch.rand(n, 1, 1, 1, device=pictures.device)
    return pictures + amount * torch.where(kind < 0.6, torch.randn_like(pictures), coarse)


def compress(pictures: Tensor) -> Tensor:
    """The blocks and ringing of a strongly compressed picture."""
    n, _, side, _ = pictures.shape
    device = pictures.device
    matrix = torch.tensor(LUMA, device=device)
    k = torch.arange(8.0, device=device)
    basis = torch.cos((2 * k[None, :] + 1) * k[:, None] * math.pi / 16) * 0.5
    basis[0] /= math.sqrt(2)
    planes = torch.einsum("cd,ndhw->nchw", matrix, pictures * 255 - 128)
    blocks = planes.reshape(n, 3, side // 8, 8, side // 8, 8)
    coarse = torch.einsum("ui,ncyixj,vj->ncyxuv", basis, blocks, basis)
    steps = QUANT.to(device) * (0.15 + 1.3 * torch.rand(n, 1, 1, 1, 1, 1, device=device).square())
    steps = steps.view(n, 3, 1, 1, 8, 8)
    coarse = (coarse / steps).round() * steps
    blocks = torch.einsum("ui,ncyxuv,vj->ncyixj", basis, coarse, basis)
    planes = blocks.reshape(n, 3, side, side)
    return (torch.einsum("cd,ndhw->nchw", torch.linalg.inv(matrix), planes) + 128) / 255
