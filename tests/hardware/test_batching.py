"""Batch sizes: found by trying, halved when memory runs out, remembered."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from pathlib import Path

import pytest

from salva.errors import UnusableError
from salva.hardware.batching import TOPIC, BatchSizer
from salva.hardware.cache import cache_folder
from salva.hardware.devices import MemoryGauge

torch = pytest.importorskip("torch", reason="batch sizes are about torch's memory")


@pytest.fixture(autouse=True)
def own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


class Room(MemoryGauge):
    """A device on which so many elements fit."""

    def __init__(self, n_fit: int, *, is_known: bool = True, is_plenty: bool = False) -> None:
        super().__init__("cpu")
        self.n_fit, self.is_known, self.is_plenty = n_fit, is_known, is_plenty
        self.batches: list[int] = []

    def has_plenty(self) -> bool:
        return self.is_plenty

    def begin(self) -> None:
        pass

    def allows(self, factor: float) -> bool:
        return not self.is_known or self.batches[-1] * factor <= self.n_fit

    def __call__(self, elements: Sequence[int]) -> list[str]:
        self.batches.append(len(elements))
        if len(elements) > self.n_fit:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")
        return [f"done {element}" for element in elements]


def _sizer(room: Room, *, key: str = "model", start: int = 2, limit: int = 64) -> BatchSizer:
    return BatchSizer(key, start=start, limit=limit, device="cpu", gauge=room, name="diffusers/x", advice="buy another")


ELEMENTS = list(range(50))
DONE = [f"done {element}" for element in ELEMENTS]


def test_it_doubles_while_memory_allows_and_never_past_the_limit() -> None:
    room = Room(1000)
    assert _sizer(room, limit=16).run(room, ELEMENTS) == DONE
    assert room.batches == [2, 4, 8, 16, 16, 4]


def test_it_stops_growing_before_memory_runs_out_when_it_can_tell() -> None:
    room = Room(9)
    assert _sizer(room).run(room, ELEMENTS) == DONE
    assert max(room.batches) == 8


def test_with_plenty_of_memory_the_limit_is_tried_at_once_and_halved_all_the_same() -> None:
    room = Room(20, is_known=False, is_plenty=True)
    assert _sizer(room, limit=32).run(room, ELEMENTS) == DONE
    assert room.batches[:2] == [32, 16]


def test_out_of_memory_halves_the_batch_and_goes_on_with_the_same_elements() -> None:
    room = Room(5, is_known=False)
    sizer = _sizer(room, start=16)
    assert sizer.run(room, ELEMENTS) == DONE
    assert room.batches[:3] == [16, 8, 4]
    assert room.batches.count(8) == 1, "a size that failed is not tried again"
    assert sizer.size == 4


def test_the_next_run_starts_with_what_was_found() -> None:
    first = Room(5, is_known=False)
    _sizer(first, start=16).run(first, ELEMENTS)
    again = Room(5)
    assert _sizer(again, start=16).run(again, ELEMENTS) == DONE
    assert again.batches[0] == 4
    assert _sizer(again, start=16, key="another model").size == 16
    assert _sizer(again, start=16, limit=3).size == 3


def test_a_short_last_batch_is_not_what_is_remembered() -> None:
    room = Room(8)
    _sizer(room, start=8).run(room, ELEMENTS[:11])
    assert _sizer(room).size == 8


def test_a_damaged_memory_costs_nothing_but_time() -> None:
    cache_folder().mkdir(parents=True)
    (cache_folder() / f"{TOPIC}.json").write_text("{half a file")
    room = Room(8)
    assert _sizer(room).run(room, ELEMENTS) == DONE


def test_a_cache_that_cannot_be_written_costs_nothing_but_time(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    room = Room(8)
    assert _sizer(room).run(room, ELEMENTS) == DONE


def test_when_not_even_one_fits_the_run_stops_and_says_what_to_do() -> None:
    room = Room(0, is_known=False)
    with pytest.raises(UnusableError, match=r"diffusers/x.* cpu.*2\.00 GiB.*buy another.*\[memory-too-small\]"):
        _sizer(room).run(room, ELEMENTS)


def test_other_errors_are_not_taken_for_a_lack_of_memory() -> None:
    calls: list[int] = []

    def call(elements: Sequence[int]) -> list[str]:
        calls.append(len(elements))
        raise RuntimeError("expected scalar type Half but found Float")

    with pytest.raises(RuntimeError, match="scalar type"):
        _sizer(Room(8), start=8).run(call, ELEMENTS)
    assert calls == [8]


def test_what_the_failed_batch_held_is_free_before_the_next_try() -> None:
    class Large:
        """Points at itself, as models do: only the collector frees it."""

        def __init__(self) -> None:
            self.itself = self

    held: list[weakref.ref[Large]] = []
    was_free: list[bool] = []

    def call(elements: Sequence[int]) -> list[str]:
        was_free.extend(reference() is None for reference in held)
        large = Large()
        if len(elements) > 4:
            held.append(weakref.ref(large))
            raise RuntimeError("MPS backend out of memory")
        return [f"done {element}" for element in elements]

    assert _sizer(Room(8), start=8).run(call, ELEMENTS[:4] * 2) == DONE[:4] * 2
    assert was_free
    assert all(was_free)
