"""Which device a model runs on, and in which precision.

Devices and precisions are names here ("cuda:0", "bfloat16"), so that nobody needs torch to speak of them.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any

from salva.errors import invalid_option

AUTO = "auto"
DTYPES = (AUTO, "float32", "float16", "bfloat16")
_PLENTY = 48 * 2**30
_OUT_OF_MEMORY = (
    "out of memory",
    "can't allocate memory",
    "not enough memory",
    "cublas_status_alloc_failed",
    "cudnn_status_alloc_failed",
)


def choose_devices(wanted: str = AUTO) -> tuple[str, ...]:
    """The devices to use, best first: `auto` is every GPU, without one the Mac's, without that the processor.

    wanted: auto, cpu, mps, cuda (the first GPU), cuda:1, or several joined by commas.
    """
    import torch

    n_gpus = torch.cuda.device_count() if torch.cuda.is_available() else 0
    has_mps = torch.backends.mps.is_available()
    present = [f"cuda:{i}" for i in range(n_gpus)] + (["mps"] if has_mps else []) + ["cpu"]
    if wanted == AUTO:
        return tuple(present[:n_gpus]) or tuple(present[:1])
    chosen: list[str] = []
    for part in wanted.split(","):
        name = "cuda:0" if part.strip() == "cuda" else part.strip()
        if name not in present:
            raise invalid_option("the device", part.strip(), f"one of {', '.join(present)}")
        if name not in chosen:
            chosen.append(name)
    return tuple(chosen)


def choose_device(wanted: str = AUTO) -> str:
    """The one device to use, for components that run on one."""
    return choose_devices(wanted)[0]


def choose_dtype(wanted: str, device: str, half: str = "bfloat16") -> str:
    """The precision to compute in: `auto` is half precision on a GPU and float32 on the processor.

    half: which of float16 and bfloat16 the model was made for.
    """
    import torch

    if wanted not in DTYPES:
        raise invalid_option("the precision", wanted, f"one of {', '.join(DTYPES)}")
    if wanted != AUTO:
        return wanted
    if device.startswith("cuda"):
        has_bfloat16 = torch.cuda.get_device_capability(device) >= (8, 0)
        return half if half == "float16" or has_bfloat16 else "float16"
    return "float16" if device == "mps" else "float32"


def describe_device(device: str) -> str:
    """The device as people know it, with its memory: part of what is remembered about it."""
    import torch

    if device.startswith("cuda"):
        card = torch.cuda.get_device_properties(device)
        return f"{card.name}, {card.total_memory / 2**30:.0f} GiB"
    return device


def on_device(device: str) -> AbstractContextManager[object]:
    """Where kernels of our own start, in this thread: they do not ask where their numbers lie."""
    import torch

    return torch.cuda.device(device) if device.startswith("cuda") else nullcontext()


def own_queue(device: str) -> Callable[[], AbstractContextManager[object]]:
    """What to work inside of for a queue of one's own on a device, ahead of those that share the usual one."""
    import torch

    if not device.startswith("cuda"):
        return nullcontext
    stream: Any = torch.cuda.Stream(device, priority=-1)  # type: ignore[no-untyped-call]  # torch leaves it untyped
    stream.wait_stream(torch.cuda.current_stream(device))
    return partial(torch.cuda.stream, stream)


def free_memory(device: str) -> None:
    """Give back what nobody uses any more."""
    import torch

    gc.collect()
    if device.startswith("cuda"):
        torch.cuda.empty_cache()
    elif device == "mps":
        torch.mps.empty_cache()


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an exception means that the device's memory did not suffice."""
    import torch

    if isinstance(error, torch.OutOfMemoryError | MemoryError):
        return True
    # Other allocators than CUDA's raise a bare RuntimeError and say it in words.
    return isinstance(error, RuntimeError) and any(words in str(error).lower() for words in _OUT_OF_MEMORY)


class MemoryGauge:
    """How much of a device's memory a batch took; knows only CUDA devices, others are never grown into."""

    def __init__(self, device: str) -> None:
        self._device = device
        self._is_cuda = device.startswith("cuda")
        self._before = 0

    def has_plenty(self) -> bool:
        """Whether so much is free that the largest batch need not be felt for."""
        if not self._is_cuda:
            return False
        import torch

        free, _ = torch.cuda.mem_get_info(self._device)
        return bool(free >= _PLENTY)

    def begin(self) -> None:
        """Call before a batch."""
        if self._is_cuda:
            import torch

            torch.cuda.reset_peak_memory_stats(self._device)
            self._before = torch.cuda.memory_allocated(self._device)

    def allows(self, factor: float) -> bool:
        """Whether a batch `factor` times as large as the one just done would fit, with a tenth to spare."""
        if not self._is_cuda:
            return False
        import torch

        peak = torch.cuda.max_memory_allocated(self._device)
        free, _ = torch.cuda.mem_get_info(self._device)
        ours = free + torch.cuda.memory_reserved(self._device)
        return self._before + factor * (peak - self._before) < 0.9 * ours
