"""What the network is asked to say about a batch, and how far it is from saying it.

A thing is a peak of exactly 1 on the cell its centre lies in: a bump that never reaches 1 teaches the
network to hesitate. Cells around a hidden thing are left out of the loss.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from compositor import HIDDEN, Batch
from torch import Tensor
from torch.nn import functional

UNIT = 8.0
"""The box head speaks in logarithms of eight cells, near the middle of what it meets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Targets:
    """The answer sheet of a batch."""

    heat: Tensor
    """[n, labels, cells, cells]"""
    weight: Tensor
    """[n, 1, cells, cells]; 0 where nothing is asked."""
    box: Tensor
    """[n, 4, cells, cells]: offset of the centre in cells, log of width and height in units."""
    box_weight: Tensor
    """[n, 1, cells, cells]"""


def make_targets(batch: Batch, n_labels: int, cells: int) -> Targets:
    """The answer sheet of a batch on a grid of cells."""
    n, n_slots = batch.labels.shape
    device = batch.labels.device
    boxes = batch.boxes * cells
    centre, size = (boxes[..., :2] + boxes[..., 2:]) / 2, (boxes[..., 2:] - boxes[..., :2]).clamp_min(0.5)
    peak = centre.floor().clamp(0, cells - 1)
    axis = torch.arange(cells, device=device, dtype=torch.float32)
    sigma = (size * 0.11).clamp_min(0.7)
    across = torch.exp(-((axis - peak[..., :1]) ** 2) / (2 * sigma[..., :1] ** 2))
    down = torch.exp(-((axis - peak[..., 1:]) ** 2) / (2 * sigma[..., 1:] ** 2))
    bump = down[..., :, None] * across[..., None, :]
    bump = bump * (batch.labels >= 0).view(n, n_slots, 1, 1)
    heat = torch.zeros(n, n_labels, cells, cells, device=device)
    rows = torch.arange(n, device=device)
    for slot in range(n_slots):
        label = batch.labels[:, slot].clamp_min(0)
        heat[rows, label] = torch.maximum(heat[rows, label], bump[:, slot])
    inside = ((axis - centre[..., :1]).abs() < size[..., :1] / 2)[..., None, :] & (
        (axis - centre[..., 1:]).abs() < size[..., 1:] / 2
    )[..., :, None]
    is_hidden = (inside & (batch.labels == HIDDEN).view(n, n_slots, 1, 1)).any(1, keepdim=True)
    strongest, whose = bump.max(1)
    cy, cx, h, w = (part.gather(1, whose.view(n, -1)).view(n, cells, cells)
                    for part in (centre[..., 1], centre[..., 0], size[..., 1], size[..., 0]))  # fmt: skip
    box = torch.stack((cx - axis - 0.5, cy - axis[:, None] - 0.5, (w / UNIT).log(), (h / UNIT).log()), 1)
    box_weight = torch.where(strongest > 0.3, strongest, 0).unsqueeze(1)
    return Targets(heat=heat, weight=1 - is_hidden.float() * (heat < 1).all(1, keepdim=True), box=box,
                   box_weight=box_weight)  # fmt: skip


def loss(heat: Tensor, box: Tensor, targets: Targets) -> tuple[Tensor, Tensor]:
    """How wrong the heat maps and the boxes are, per thing."""
    log_yes, log_no = functional.logsigmoid(heat), functional.logsigmoid(-heat)
    yes = log_yes.exp()
    is_peak = targets.heat >= 0.9999
    at_peak = -(((1 - yes) ** 2) * log_yes)
    elsewhere = -((1 - targets.heat) ** 4) * yes**2 * log_no
    n_peaks = is_peak.sum().clamp_min(1)
    heat_loss = (torch.where(is_peak, at_peak, elsewhere) * targets.weight).sum() / n_peaks
    box_loss = functional.smooth_l1_loss(box, targets.box, beta=0.1, reduction="none") * targets.box_weight
    return heat_loss, box_loss.sum() / targets.box_weight.sum().clamp_min(1)
