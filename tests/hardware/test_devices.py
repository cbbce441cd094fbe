"""Devices and precisions by name."""

from __future__ import annotations

import pytest

from salva.errors import UsageError
from salva.hardware.devices import choose_device, choose_devices, choose_dtype, is_out_of_memory

torch = pytest.importorskip("torch", reason="devices are torch's")


@pytest.fixture
def two_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: (7, 5) if device == "cuda:1" else (9, 0))


@pytest.fixture
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)


@pytest.mark.usefixtures("two_gpus")
def test_auto_is_every_gpu_and_a_list_is_a_list() -> None:
    assert choose_devices() == ("cuda:0", "cuda:1")
    assert choose_devices("cuda") == ("cuda:0",)
    assert choose_devices("cuda:1, cuda:0,cuda:1") == ("cuda:1", "cuda:0")
    assert choose_devices("cpu") == ("cpu",)
    assert choose_device() == "cuda:0"


@pytest.mark.usefixtures("no_gpu")
def test_without_a_gpu_the_processor_is_used_and_a_missing_one_is_named() -> None:
    assert choose_devices() == ("cpu",)
    with pytest.raises(UsageError, match=r"'cuda'.* cpu.*\[option-invalid\]"):
        choose_devices("cuda")


@pytest.mark.usefixtures("two_gpus")
def test_auto_precision_is_what_model_and_device_are_made_for() -> None:
    assert choose_dtype("auto", "cpu") == "float32"
    assert choose_dtype("auto", "cuda:0") == "bfloat16"
    assert choose_dtype("auto", "cuda:0", half="float16") == "float16"
    assert choose_dtype("auto", "cuda:1") == "float16", "older GPUs have no bfloat16"
    assert choose_dtype("float32", "cuda:0") == "float32"
    with pytest.raises(UsageError, match="'fp8'"):
        choose_dtype("fp8", "cpu")


@pytest.mark.parametrize(
    ("error", "is_so"),
    [
        (torch.OutOfMemoryError("CUDA out of memory"), True),
        (RuntimeError("[enforce fail at alloc_cpu.cpp] . DefaultCPUAllocator: can't allocate memory"), True),
        (RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling cublasCreate(handle)"), True),
        (MemoryError(), True),
        (RuntimeError("CUDA error: an illegal memory access was encountered"), False),
        (ValueError("out of memory"), False),
    ],
)
def test_lack_of_memory_is_recognised(error: Exception, is_so: bool) -> None:
    assert is_out_of_memory(error) is is_so
