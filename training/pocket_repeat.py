"""The same work over and over on one piece of memory.

On a GPU the work is recorded once and replayed as a whole: a step is a thousand small launches, and telling them
one by one takes longer than doing them.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

N_TRIES = 4
"""Before recording: kernels are compiled and chosen, and the optimiser makes its memory."""


class Repeated:
    """A function of tensors that returns nothing, called many times with new values of the same shapes.

    It must keep what it learns in tensors that stay where they are.
    """

    def __init__(self, work: Callable[..., None], inputs: tuple[Tensor, ...], *, is_recorded: bool) -> None:
        self.work = work
        self.inputs = tuple(one.clone() for one in inputs)
        self.graph: torch.cuda.CUDAGraph | None = None
        if not is_recorded:
            return
        aside = torch.cuda.Stream()
        aside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(aside):
            for _ in range(N_TRIES):
                work(*self.inputs)
        torch.cuda.current_stream().wait_stream(aside)
        torch.cuda.synchronize()
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            work(*self.inputs)

    def __call__(self, *inputs: Tensor) -> None:
        """Do the work on these values."""
        for mine, theirs in zip(self.inputs, inputs, strict=True):
            mine.copy_(theirs, non_blocking=True)
        if self.graph is None:
            self.work(*self.inputs)
        else:
            self.graph.replay()
