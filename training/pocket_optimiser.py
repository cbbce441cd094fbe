"""The optimiser of the pocket painter: matrices move by orthogonal steps, all else by AdamW.

A matrix's averaged gradient is pushed towards the nearest orthogonal matrix before it is taken (Muon, Keller Jordan
2024), so that rare directions, such as which place belongs to which thing, move as far as common ones. Matrices
of one shape are treated at once: a step costs a few hundred small launches instead of thousands.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import torch
from torch import Tensor, nn

MOMENTUM = 0.95
ROUNDS = 5
# Of the polynomial that draws singular values towards one, from the same source.
A, B, C = 3.4445, -4.7750, 2.0315
TWINS = ("key_value.weight", "mood.weight")
"""Two matrices stored as one."""
PLAIN = ("words.weight", "places", "enter.weight", "leave.weight", "time.0.weight")
"""Tables and the first and last layers, which AdamW suits better."""


def orthogonal(stack: Tensor) -> Tensor:
    """Each matrix of [k, m, n] with its singular values drawn near one."""
    x = stack.bfloat16() if stack.is_cuda else stack
    is_tall = x.shape[1] > x.shape[2]
    x = x.mT if is_tall else x
    x = x / (x.norm(dim=(1, 2), keepdim=True) + 1e-7)
    for _ in range(ROUNDS):
        square = x @ x.mT
        x = torch.baddbmm(x, torch.baddbmm(square, square, square, beta=B, alpha=C), x, beta=A)
    return x.mT if is_tall else x


def flat(weight: Tensor, parts: int) -> Tensor:
    """One or two matrices [parts, m, n] of a weight, rows being outputs."""
    rows = weight.movedim(1, -1) if weight.ndim > 2 else weight
    return rows.reshape(parts, weight.shape[0] // parts, -1)


class PocketOptimiser:
    """Both optimisers behind one face."""

    def __init__(self, modules: nn.Module, *, adam_rate: float, muon_rate: float, weight_decay: float) -> None:
        self.rates = {"adam": adam_rate, "muon": muon_rate}
        self.weight_decay = weight_decay
        self.groups: dict[tuple[int, ...], list[tuple[nn.Parameter, int]]] = defaultdict(list)
        others = []
        for name, parameter in modules.named_parameters():
            is_depthwise = parameter.ndim == 3 and parameter.shape[1] == 1
            if parameter.ndim < 2 or is_depthwise or "places" in name or name.endswith(PLAIN) or min(parameter.shape[:2]) == 1 or "gain" in name or "sharpness" in name or "head" in name:
                others.append(parameter)
                continue
            parts = 2 if name.endswith(TWINS) else 1
            self.groups[tuple(flat(parameter, parts).shape[1:])].append((parameter, parts))
        is_cuda = next(modules.parameters()).is_cuda
        self.adam = torch.optim.AdamW(others, lr=adam_rate, betas=(0.9, 0.99), weight_decay=0.0, fused=is_cuda)
        self.memory = {shape: torch.zeros(sum(k for _, k in group), *shape, device=group[0][0].device) for shape, group in self.groups.items()}

    @torch.no_grad()
    def step(self, share: float) -> None:
        """Move every weight by this share of its learning rate, and forget the gradients."""
        for group in self.adam.param_groups:
            group["lr"] = self.rates["adam"] * share
        self.adam.step()
        self.adam.zero_grad(set_to_none=True)
        rate = self.rates["muon"] * share
        for shape, group in self.groups.items():
            gradients = torch.cat([flat(parameter.grad, parts) for parameter, parts in group])
            memory = self.memory[shape]
            memory.lerp_(gradients, 1 - MOMENTUM)
            # So long a step moves a number about as far as AdamW would at the same rate.
            moves = orthogonal(gradients.lerp_(memory, MOMENTUM)) * (0.2 * max(shape) ** 0.5)
            at = 0
            weights, theirs = [], []
            for parameter, parts in group:
                move = moves[at : at + parts].reshape(parameter.shape[0], -1)
                at += parts
                if parameter.ndim > 2:
                    sizes = (parameter.shape[0], *parameter.shape[2:], parameter.shape[1])
                    move = move.view(sizes).movedim(-1, 1)
                else:
                    move = move.view(parameter.shape)
                weights.append(parameter)
                theirs.append(move.to(parameter.dtype))
                parameter.grad = None
            torch._foreach_mul_(weights, 1 - rate * self.weight_decay)
            torch._foreach_add_(weights, theirs, alpha=-rate)
