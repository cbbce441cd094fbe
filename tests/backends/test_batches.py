"""Batches on a GPU: few shapes, never more at once than configured. No GPU is needed."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch", reason="needs the extra torch")

import torch

from salva.observers.loading import Batches, CheckpointOptions, LoadedModel


def _shapes(tmp_path: Path, n_elements: list[int], *, batch_size: int = 0, is_compiled: bool = False) -> list[int]:
    """The sizes of all calls made for elements that came so many at a time; checks every outcome."""
    loaded = LoadedModel(model=None, processor=None, device="mps", dtype=torch.float32)
    options = CheckpointOptions(model=str(tmp_path), batch_size=batch_size)
    batches = Batches("florence2", options, loaded, limit=128, is_compiled=is_compiled)
    seen: list[int] = []

    def call(part: list[int]) -> list[int]:
        seen.append(len(part))
        return [2 * element for element in part]

    for n in n_elements:
        assert batches.run(call, range(n)) == [2 * element for element in range(n)]  # type: ignore[arg-type]
    return seen


def test_odd_batches_are_padded_to_powers_of_two(tmp_path: Path) -> None:
    assert _shapes(tmp_path, [1, 3, 5, 11], batch_size=16) == [1, 4, 8, 16]


def test_padding_stops_at_the_configured_size(tmp_path: Path) -> None:
    assert _shapes(tmp_path, [90, 100, 150], batch_size=100) == [100, 100, 100, 64]


def test_a_configured_size_overrides_a_found_one(tmp_path: Path) -> None:
    assert _shapes(tmp_path, [16])[-1] == 16
    assert _shapes(tmp_path, [100], batch_size=100) == [100]


def test_a_compiled_model_gets_two_batch_sizes(tmp_path: Path) -> None:
    assert _shapes(tmp_path, [1, 8, 16, 17, 128, 130], is_compiled=True) == [16, 16, 16, 128, 128, 128, 16]


def test_a_compiled_model_gets_at_most_the_configured_size(tmp_path: Path) -> None:
    assert _shapes(tmp_path, [1, 4, 9], batch_size=4, is_compiled=True) == [4, 4, 4, 4, 4]


def test_after_running_out_of_memory_batches_are_smaller(tmp_path: Path) -> None:
    loaded = LoadedModel(model=None, processor=None, device="mps", dtype=torch.float32)
    batches = Batches("florence2", CheckpointOptions(model=str(tmp_path)), loaded, limit=128, is_compiled=True)
    seen: list[int] = []

    def call(part: list[int]) -> list[int]:
        seen.append(len(part))
        if len(part) > 64:
            raise RuntimeError("MPS backend out of memory")
        return list(part)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("salva.hardware.batching.free_memory", lambda _: None)
        assert batches.run(call, range(128)) == list(range(128))  # type: ignore[arg-type]
    assert seen == [128, 64, 64]
