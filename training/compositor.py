"""Paints batches of scenes on the GPU: sprites and patches pasted over backgrounds, with their true boxes.

Takes a Plan (layouts.py), makes every pixel on the GPU, one paste for a whole batch at a time, back to
front. Knows nothing of the network.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from backgrounds import Backgrounds
from degrade import degrade, soften
from layouts import N_BOARDS, N_LEVELS, N_SLOTS, Plan
from restyling import in_blocks, outlined
from torch import Tensor
from torch.nn import functional

NOTHING = -1
HIDDEN = -2
"""A thing too covered to be asked for, and too visible to be denied."""
MIN_VISIBLE, MIN_TRACE = 0.4, 0.1
"""Shares of a thing that lie open in the picture: from the first on it is asked for, below the second denied."""
BOARD = N_SLOTS
"""Whose pixel it is where a board lies."""
BUSY = 0.45
"""The share of backgrounds as busy as photographs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Pictures and what is in them."""

    pictures: Tensor
    """[n, 3, side, side], values 0 to 1."""
    boxes: Tensor
    """[n, N_SLOTS, 4], xyxy as shares of the side."""
    labels: Tensor
    """[n, N_SLOTS]; NOTHING and HIDDEN are negative."""


class Compositor:
    """Draws training batches from a bank of sprites and patches."""

    def __init__(self, bank: Path, side: int, device: torch.device, photos: Path | None = None) -> None:
        stored = np.load(bank)
        self.labels = [str(label) for label in stored["labels"]]
        self.side = side
        self.device = device
        self.backgrounds = Backgrounds(side, device, BUSY, photos)
        n_patches = len(stored["patches"])
        self.owners = torch.from_numpy(np.concatenate((stored["owners"], np.full(n_patches, NOTHING)))).to(device)
        colours = torch.from_numpy(np.concatenate((stored["sprites"], stored["patches"]))).to(device).float() / 255
        colours[:, :3] *= colours[:, 3:]  # premultiplied, or transparent black would bleed into edges
        self.solid = (colours[:, 3] > 0.5).float().mean((1, 2))
        dtype = torch.float16 if device.type == "cuda" else torch.float32
        # Level k is the sprite as seen at 1/2^k of its size: pasting from it small does not alias.
        levels = [colours.to(dtype)]
        for level in range(1, N_LEVELS):
            small = functional.avg_pool2d(colours, 2**level)
            levels.append(functional.interpolate(small, size=colours.shape[-1], mode="bilinear").to(dtype))
        self.atlas = torch.stack(levels)

    @torch.no_grad()
    def draw(self, plan: Plan) -> Batch:
        """The worn scenes of a plan."""
        rng = np.random.default_rng(plan.seed)
        front, owner, boxes = self._paste(plan)
        front, owner = self._lay_boards(front, owner, plan)
        labels = self._labels(owner, plan)
        pictures = self._over_background(front, rng)
        return Batch(pictures=degrade(pictures, plan.smallest, rng), boxes=boxes, labels=labels)

    def _paste(self, plan: Plan) -> tuple[Tensor, Tensor, Tensor]:
        """All sprites and patches, whose pixel each one is, and the whole extent of each."""
        n, side, device = len(plan.n_used), self.side, self.device
        front = torch.zeros(n, 4, side, side, device=device)
        owner = torch.full((n, side, side), NOTHING, dtype=torch.int8, device=device)
        boxes = torch.zeros(n, N_SLOTS, 4, device=device)
        sprite, transform, level, flip, matrix, offset = (
            torch.from_numpy(part).to(device, non_blocking=True)
            for part in (plan.sprite, plan.transform, plan.level, plan.flip, plan.matrix, plan.offset)
        )
        in_kind = {kind: np.flatnonzero(plan.kind == kind) for kind in ("blocks", "outlined")}
        for slot in range(int(plan.n_used.max())):
            m = int((plan.n_used > slot).sum())
            source = self.atlas[level[:m, slot], sprite[:m, slot]].float()
            source = torch.where(flip[:m, slot].view(m, 1, 1, 1), source.flip(-1), source)
            alpha = source[:, 3:]
            colours = torch.einsum("ncd,ndhw->nchw", matrix[:m, slot], source[:, :3])
            colours = (colours + offset[:m, slot].view(m, 3, 1, 1) * alpha).clamp_min(0)
            source = torch.cat((torch.minimum(colours, alpha), alpha), 1)
            grid = self._grid(transform[:m, slot])
            if len(rows := in_kind["blocks"][in_kind["blocks"] < m]):
                grid[rows] = in_blocks(grid[rows], torch.from_numpy(plan.n_blocks[rows]).to(device))
            layer = functional.grid_sample(source, grid, align_corners=False)
            alpha = layer[:, 3:].clone()
            if len(rows := in_kind["outlined"][in_kind["outlined"] < m]):
                layer[rows] = outlined(layer[rows])
            front[:m] = front[:m] * (1 - layer[:, 3:]) + layer
            is_solid = alpha[:, 0] > 0.5
            owner[:m] = torch.where(is_solid, torch.tensor(slot, dtype=torch.int8, device=device), owner[:m])
            boxes[:m, slot] = _extent(alpha[:, 0] > 0.2)
        return front, owner, boxes / side

    def _lay_boards(self, front: Tensor, owner: Tensor, plan: Plan) -> tuple[Tensor, Tensor]:
        """Boards over everything, half of them plain, half with what a background could show."""
        textures = self.backgrounds.draw(int((plan.board_shape > 0).sum()))
        plain = textures[:, :, self.side // 2, self.side // 2, None, None].expand_as(textures)
        textures = torch.where(torch.rand(len(textures), 1, 1, 1, device=self.device) < 0.5, plain, textures)
        for i in range(N_BOARDS):
            rows = np.flatnonzero(plan.board_shape[:, i])
            n = len(rows)
            board, power = (torch.from_numpy(part[rows, i]).to(self.device) for part in (plan.board, plan.board_shape))
            power = power.view(n, 1, 1, 1)
            away = self._grid(board).abs().clamp(1e-4, 4)
            away = (away**power).sum(-1, keepdim=True) ** (1 / power)
            # So many pixels has the board from its middle to its nearer rim: edges are one pixel soft.
            radius = self.side / 2 / board[:, :, :2].norm(dim=2).amax(1)
            cover = ((1 - away) * radius.view(n, 1, 1, 1) + 0.5).clamp(0, 1).permute(0, 3, 1, 2)
            texture, textures = torch.cat((textures[:n], torch.ones_like(cover)), 1), textures[n:]
            front[rows] = torch.lerp(front[rows], texture, cover)
            owner[rows] = owner[rows].masked_fill(cover[:, 0] > 0.5, BOARD)
        return front, owner

    def _labels(self, owner: Tensor, plan: Plan) -> Tensor:
        """What is asked for, by how much of it lies open."""
        sprite, transform = (torch.from_numpy(part).to(self.device) for part in (plan.sprite, plan.transform))
        # Whole areas, also of what lies outside of the picture.
        shrunk = (transform[..., 0, 0] * transform[..., 1, 1] - transform[..., 0, 1] * transform[..., 1, 0]).abs()
        areas = self.solid[sprite] / shrunk * self.side**2
        seen = torch.stack([(owner == slot).sum((1, 2)) for slot in range(N_SLOTS)], 1)
        visible = seen / areas.clamp_min(1)
        is_gone = (seen < 16) | (visible < MIN_TRACE)
        labels = self.owners[sprite].masked_fill(is_gone, NOTHING)
        return labels.masked_fill((labels >= 0) & (visible < MIN_VISIBLE), HIDDEN)

    def _grid(self, transform: Tensor) -> Tensor:
        """Where in its sprite each pixel looks; written out, as a product in tf32 would shake the pixels."""
        axis = (torch.arange(self.side, device=self.device) * 2 + 1) / self.side - 1
        terms = transform.view(-1, 2, 3, 1, 1)
        x, y = axis.view(1, 1, 1, -1), axis.view(1, 1, -1, 1)
        return (terms[:, :, 0] * x + (terms[:, :, 1] * y + terms[:, :, 2])).permute(0, 2, 3, 1)

    def _over_background(self, front: Tensor, rng: np.random.Generator) -> Tensor:
        n = len(front)
        back = self.backgrounds.draw(n)
        shift = tuple(int(pixels) for pixels in rng.integers(-2, 9, 2))
        shadow = torch.roll(soften(front[:, 3:], rng.uniform(1.5, 6)), shift, (2, 3))
        strength = torch.from_numpy(rng.uniform(-0.5, 0.5, n).clip(0).astype(np.float32)).to(self.device)
        return front[:, :3] + (1 - front[:, 3:]) * back * (1 - shadow * strength.view(n, 1, 1, 1))


def _extent(mask: Tensor) -> Tensor:
    """The tight box of each mask in pixels, xyxy."""
    side = mask.shape[-1]
    across, down = mask.any(1).float(), mask.any(2).float()
    return torch.stack(
        (
            across.argmax(1),
            down.argmax(1),
            side - across.flip(1).argmax(1),
            side - down.flip(1).argmax(1),
        ),
        1,
    ).float()
