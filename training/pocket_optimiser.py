"""The optimiser of the pocket painter: matrices move by orthogonal steps, all else by AdamW.

A matrix's averaged gradient is pushed towards the nearest orthogonal matrix before it is taken (Muon, Keller Jordan
2024), so that rare directions, such as which place belongs to which thing, move as far as common ones. Matrices
of one shape are treated at once. Nothing here waits for the GPU or depends on numbers outside it, so that a whole
step can be recorded and replayed.
"""

from __future__ import annotations

from collections import defaultdict

import torch
from torch import Tensor, nn

MOMENTUM = 0.95
ROUNDS = 5
# Of the polynomial that draws singular values towards one, from the same source.
A, B, C = 3.4445, -4.7750, 2.0315
TWINS = ("key_value.weight", "mood.weight")
"""Two matrices stored as one."""
LEFT_TO_ADAM = ("words.", "places", "enter.", "leave.", "time.0.", "gain", "sharpness", "head.")
"""Tables, scales, and the first and last layers, which AdamW suits better."""


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


def gradient(parameter: nn.Parameter) -> Tensor:
    """Where the loss wants the weight to go."""
    assert parameter.grad is not None
    return parameter.grad


def to_matrices(weight: Tensor, n_parts: int) -> Tensor:
    """One or two matrices [parts, m, n] of a weight, rows being outputs."""
    rows = weight.movedim(1, -1) if weight.ndim > 2 else weight
    return rows.reshape(n_parts, weight.shape[0] // n_parts, -1)


def from_matrices(matrices: Tensor, shape: torch.Size) -> Tensor:
    """What to_matrices took apart, in its old shape."""
    if len(shape) <= 2:
        return matrices.reshape(shape)
    return matrices.reshape(shape[0], *shape[2:], shape[1]).movedim(-1, 1)


class PocketOptimiser:
    """Both optimisers behind one face; how fast they go is a tensor, 1 for their full rates."""

    def __init__(self, module: nn.Module, *, adam_rate: float, muon_rate: float, weight_decay: float) -> None:
        device = next(module.parameters()).device
        self.adam_rate, self.muon_rate, self.weight_decay = adam_rate, muon_rate, weight_decay
        self.groups: dict[tuple[int, ...], list[tuple[nn.Parameter, int]]] = defaultdict(list)
        others = []
        for name, parameter in module.named_parameters():
            is_matrix = parameter.ndim > 1 and min(parameter.shape[:2]) > 1
            if not is_matrix or any(part in name for part in LEFT_TO_ADAM):
                others.append(parameter)
                continue
            n_parts = 2 if name.endswith(TWINS) else 1
            self.groups[tuple(to_matrices(parameter, n_parts).shape[1:])].append((parameter, n_parts))
        is_cuda = device.type == "cuda"
        self.rate = torch.tensor(adam_rate, device=device)
        kinds = {"fused": True, "capturable": True} if is_cuda else {"foreach": False}
        self.adam = torch.optim.AdamW(others, lr=self.rate, betas=(0.9, 0.99), weight_decay=0.0, **kinds)
        self.memory = {
            shape: torch.zeros(sum(n_parts for _, n_parts in group), *shape, device=device)
            for shape, group in self.groups.items()
        }

    @torch.no_grad()
    def step(self, speed: Tensor) -> None:
        """Move every weight, and forget the gradients."""
        self.rate.copy_(speed * self.adam_rate)
        self.adam.step()
        self.adam.zero_grad(set_to_none=True)
        rate = speed * self.muon_rate
        keep = 1 - rate * self.weight_decay
        for shape, group in self.groups.items():
            gradients = torch.cat([to_matrices(gradient(parameter), n_parts) for parameter, n_parts in group])
            memory = self.memory[shape]
            memory.lerp_(gradients, 1 - MOMENTUM)
            # So long a step moves a number about as far as AdamW would at the same rate.
            moves = orthogonal(gradients.lerp_(memory, MOMENTUM)) * (-0.2 * max(shape) ** 0.5 * rate)
            weights: list[Tensor] = [parameter for parameter, _ in group]
            parts = moves.split([n_parts for _, n_parts in group])
            torch._foreach_mul_(weights, keep)
            torch._foreach_add_(
                weights, [from_matrices(part, weight.shape) for part, weight in zip(parts, weights, strict=True)]
            )
            for weight in weights:
                weight.grad = None
