"""GPU kernels of our own: what networks do to pictures between their convolutions, in one or two passes each.

Libraries normalise, bend, add a bias and add another picture in a pass of its own each, and convolutions copy pictures
to and fro between two orders of their numbers. Here pictures keep one order, channels last, and a pass does all that it
can. Triton compiles eight kernels, in seconds the first time on a machine. Knows no model.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from salva.hardware.devices import on_device

if TYPE_CHECKING:
    import torch

try:
    import triton
    from triton import language as tl
except ImportError:  # torch for the processor comes without it, and nobody asks for kernels there
    triton = None

_ROWS, _COLUMNS = 64, 64
"""Pixels and channels of one program's tile: rows of 128 bytes in half precision."""
_CHUNKS = 64
"""Into so many parts at most the pixels of a picture are cut to be measured beside each other."""
_WIDTH = 128
"""Channels of one group; more are taken where a network has more."""


class Kernels(Protocol):
    """What a network's blocks are handed to."""

    def group_norm(
        self, picture: torch.Tensor, norm: Any, *, is_bent: bool = False, plus: torch.Tensor | None = None
    ) -> torch.Tensor:
        """The pictures after a GroupNorm.

        plus: (picture, channel), added before. is_bent: followed by SiLU.
        """

    def gated(self, halves: torch.Tensor) -> torch.Tensor:
        """The first half of the last axis times GELU of the second."""

    def total(self, first: torch.Tensor, second: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        """Two pictures and a bias for each channel, added."""


def _jit(*unspecialised: str) -> Callable[[Callable[..., None]], Any]:
    """Compiled by Triton, once for all values of the numbers that are named."""
    if triton is None:
        return lambda function: function
    compiled: Callable[[Callable[..., None]], Any] = triton.jit(do_not_specialize=list(unspecialised))
    return compiled


@_jit("n_rows", "rows_each")
def _measure(
    x: tl.tensor,
    plus: tl.tensor,
    means: tl.tensor,
    spreads: tl.tensor,
    n_rows: tl.tensor,
    n_channels: tl.tensor,
    rows_each: tl.tensor,
    has_plus: tl.constexpr,
    tile_rows: tl.constexpr,
    tile_columns: tl.constexpr,
) -> None:
    """Mean and squared distances from it, for each channel in each part of each picture."""
    chunk, n, part = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    c = part * tile_columns + tl.arange(0, tile_columns)
    is_channel = c < n_channels
    added = tl.zeros([tile_columns], tl.float32)
    if has_plus:
        added = tl.load(plus + n * n_channels + c, mask=is_channel, other=0.0).to(tl.float32)
    count = 0.0
    mean = tl.zeros([tile_columns], tl.float32)
    spread = tl.zeros([tile_columns], tl.float32)
    first = chunk * rows_each
    last = tl.minimum(first + rows_each, n_rows)
    for start in range(first, last, tile_rows):
        r = start + tl.arange(0, tile_rows)
        is_inside = (r < last)[:, None] & is_channel[None, :]
        at = (n.to(tl.int64) * n_rows + r[:, None]) * n_channels + c[None, :]
        values = tl.load(x + at, mask=is_inside, other=0.0).to(tl.float32) + added[None, :]
        n_new = tl.minimum(tile_rows, last - start).to(tl.float32)
        mean_new = tl.sum(tl.where(is_inside, values, 0.0), 0) / n_new
        off = tl.where(is_inside, values - mean_new[None, :], 0.0)
        # Tiles are put together by their means, not by sums of squares: those lose all digits far from zero.
        apart = mean_new - mean
        share = n_new / (count + n_new)
        mean += apart * share
        spread += tl.sum(off * off, 0) + apart * apart * (count * share)
        count += n_new
    at = (n * tl.num_programs(0) + chunk) * n_channels + c
    tl.store(means + at, mean, mask=is_channel)
    tl.store(spreads + at, spread, mask=is_channel)


@_jit("n_rows", "rows_each", "n_chunks", "width")
def _fold(
    means: tl.tensor,
    spreads: tl.tensor,
    weight: tl.tensor,
    bias: tl.tensor,
    plus: tl.tensor,
    scale: tl.tensor,
    shift: tl.tensor,
    n_rows: tl.tensor,
    n_channels: tl.tensor,
    rows_each: tl.tensor,
    n_chunks: tl.tensor,
    width: tl.tensor,
    eps: tl.tensor,
    has_plus: tl.constexpr,
    most_chunks: tl.constexpr,
    most_width: tl.constexpr,
) -> None:
    """What each channel of each picture is multiplied by and what is added: norm, weight, bias and plus in one."""
    g, n = tl.program_id(0), tl.program_id(1)
    i, k = tl.arange(0, most_chunks), tl.arange(0, most_width)
    c = g * width + k
    is_channel = k < width
    is_inside = (i < n_chunks)[:, None] & is_channel[None, :]
    at = (n * n_chunks + i[:, None]) * n_channels + c[None, :]
    mean = tl.load(means + at, mask=is_inside, other=0.0)
    spread = tl.load(spreads + at, mask=is_inside, other=0.0)
    counts = tl.where(i < n_chunks, tl.minimum(rows_each, n_rows - i * rows_each), 0).to(tl.float32)
    n_values = (n_rows * width).to(tl.float32)
    middle = tl.sum(tl.sum(mean * counts[:, None], 1), 0) / n_values
    off = tl.where(is_inside, mean - middle, 0.0)
    variance = tl.sum(tl.sum(spread + off * off * counts[:, None], 1), 0) / n_values
    times = tl.load(weight + c, mask=is_channel, other=0.0).to(tl.float32) / tl.sqrt(variance + eps)
    added = tl.load(bias + c, mask=is_channel, other=0.0).to(tl.float32) - middle * times
    if has_plus:
        added += tl.load(plus + n * n_channels + c, mask=is_channel, other=0.0).to(tl.float32) * times
    tl.store(scale + n * n_channels + c, times, mask=is_channel)
    tl.store(shift + n * n_channels + c, added, mask=is_channel)


@_jit("n_rows")
def _apply(
    x: tl.tensor,
    scale: tl.tensor,
    shift: tl.tensor,
    out: tl.tensor,
    n_rows: tl.tensor,
    n_channels: tl.tensor,
    is_bent: tl.constexpr,
    tile_rows: tl.constexpr,
    tile_columns: tl.constexpr,
) -> None:
    """Multiply, add and, where asked, bend."""
    tile, n, part = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    c = part * tile_columns + tl.arange(0, tile_columns)
    r = tile * tile_rows + tl.arange(0, tile_rows)
    is_channel = c < n_channels
    is_inside = (r < n_rows)[:, None] & is_channel[None, :]
    at = (n.to(tl.int64) * n_rows + r[:, None]) * n_channels + c[None, :]
    values = tl.load(x + at, mask=is_inside, other=0.0).to(tl.float32)
    times = tl.load(scale + n * n_channels + c, mask=is_channel, other=0.0)
    added = tl.load(shift + n * n_channels + c, mask=is_channel, other=0.0)
    values = values * times[None, :] + added[None, :]
    if is_bent:
        values = values * tl.sigmoid(values)
    tl.store(out + at, values.to(out.dtype.element_ty), mask=is_inside)


@_jit("n_rows")
def _gate(
    x: tl.tensor,
    out: tl.tensor,
    n_rows: tl.tensor,
    width: tl.tensor,
    tile_rows: tl.constexpr,
    tile_columns: tl.constexpr,
) -> None:
    """One half times GELU of the other."""
    r = tl.program_id(0).to(tl.int64) * tile_rows + tl.arange(0, tile_rows)
    c = tl.program_id(1) * tile_columns + tl.arange(0, tile_columns)
    is_inside = (r < n_rows)[:, None] & (c < width)[None, :]
    at = r[:, None] * (2 * width) + c[None, :]
    values = tl.load(x + at, mask=is_inside, other=0.0).to(tl.float32)
    gates = tl.load(x + at + width, mask=is_inside, other=0.0).to(tl.float32)
    values *= 0.5 * gates * (1.0 + tl.erf(gates * 0.7071067811865476))
    tl.store(out + r[:, None] * width + c[None, :], values.to(out.dtype.element_ty), mask=is_inside)


@_jit("n_rows")
def _add(
    a: tl.tensor,
    b: tl.tensor,
    bias: tl.tensor,
    out: tl.tensor,
    n_rows: tl.tensor,
    n_channels: tl.tensor,
    tile_rows: tl.constexpr,
    tile_columns: tl.constexpr,
) -> None:
    """Two pictures and a bias."""
    r = tl.program_id(0).to(tl.int64) * tile_rows + tl.arange(0, tile_rows)
    c = tl.program_id(1) * tile_columns + tl.arange(0, tile_columns)
    is_channel = c < n_channels
    is_inside = (r < n_rows)[:, None] & is_channel[None, :]
    at = r[:, None] * n_channels + c[None, :]
    values = tl.load(a + at, mask=is_inside, other=0.0).to(tl.float32)
    values += tl.load(b + at, mask=is_inside, other=0.0).to(tl.float32)
    values += tl.load(bias + c, mask=is_channel, other=0.0).to(tl.float32)[None, :]
    tl.store(out + at, values.to(out.dtype.element_ty), mask=is_inside)


def require() -> None:
    """ImportError where there is nothing to compile kernels with."""
    if triton is None:
        raise ImportError("Triton is not installed; torch for NVIDIA GPUs brings it on Linux")


def group_norm(
    picture: torch.Tensor, norm: Any, *, is_bent: bool = False, plus: torch.Tensor | None = None
) -> torch.Tensor:
    """The pictures after a GroupNorm; see Kernels."""
    import torch

    picture = picture.contiguous(memory_format=torch.channels_last)
    n, n_channels, height, width = picture.shape
    n_rows = height * width
    rows_each = _ROWS * triton.cdiv(n_rows, _ROWS * _CHUNKS)
    n_chunks, n_parts = triton.cdiv(n_rows, rows_each), triton.cdiv(n_channels, _COLUMNS)
    n_in_group = n_channels // norm.num_groups
    means, spreads = picture.new_empty((2, n, n_chunks, n_channels), dtype=torch.float32)
    scale, shift = picture.new_empty((2, n, n_channels), dtype=torch.float32)
    out = torch.empty_like(picture)
    # A pointer that nobody reads where there is nothing to add.
    added = picture if plus is None else plus.contiguous()
    has_plus = plus is not None
    _measure[(n_chunks, n, n_parts)](
        picture,
        added,
        means,
        spreads,
        n_rows,
        n_channels,
        rows_each,
        has_plus=has_plus,
        tile_rows=_ROWS,
        tile_columns=_COLUMNS,
    )
    _fold[(norm.num_groups, n)](
        *(means, spreads, norm.weight, norm.bias, added, scale, shift),
        *(n_rows, n_channels, rows_each, n_chunks, n_in_group, norm.eps),
        has_plus=has_plus,
        most_chunks=_CHUNKS,
        most_width=max(_WIDTH, triton.next_power_of_2(n_in_group)),
    )
    _apply[(triton.cdiv(n_rows, _ROWS), n, n_parts)](
        picture, scale, shift, out, n_rows, n_channels, is_bent=is_bent, tile_rows=_ROWS, tile_columns=_COLUMNS
    )
    return out


def gated(halves: torch.Tensor) -> torch.Tensor:
    """The first half of the last axis times GELU of the second."""
    halves = halves.contiguous()
    width = halves.shape[-1] // 2
    n_rows = halves.numel() // (2 * width)
    out = halves.new_empty((*halves.shape[:-1], width))
    _gate[(triton.cdiv(n_rows, 32), triton.cdiv(width, 128))](
        halves, out, n_rows, width, tile_rows=32, tile_columns=128
    )
    return out


def total(first: torch.Tensor, second: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """Two pictures and a bias for each channel, added."""
    import torch

    first, second = (part.contiguous(memory_format=torch.channels_last) for part in (first, second))
    n_channels = first.shape[1]
    n_rows = first.numel() // n_channels
    out = torch.empty_like(first)
    _add[(triton.cdiv(n_rows, _ROWS), triton.cdiv(n_channels, _COLUMNS))](
        first, second, bias, out, n_rows, n_channels, tile_rows=_ROWS, tile_columns=_COLUMNS
    )
    return out


def get_ready(device: str, dtype: str) -> None:
    """Have every kernel compiled, beside each other, before somebody waits for one."""
    import torch

    require()
    kind = getattr(torch, dtype)
    norm = torch.nn.GroupNorm(4, _COLUMNS, device=device, dtype=kind).requires_grad_(False)
    picture = torch.zeros((2, _COLUMNS, 8, 8), device=device, dtype=kind)
    # Of each pair of kernels one here and one there, so that nobody compiles what another does.
    calls = (
        partial(group_norm, picture, norm),
        partial(group_norm, picture, norm, is_bent=True, plus=picture[:, :, 0, 0]),
        partial(gated, picture),
        partial(total, picture, picture, norm.bias),
    )

    def work(call: Callable[[], object]) -> None:
        with on_device(device):
            call()

    triton.runtime.driver.active.get_current_device()  # its own beginning is one thread's
    with ThreadPoolExecutor(len(calls)) as pool:
        for _ in pool.map(work, calls):
            pass
