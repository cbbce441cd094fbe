"""Compiled models side by side: no two compile at once, and none is called while another compiles."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from salva.hardware.compile_lock import (
    PAYS_AGAIN_FROM,
    PAYS_FROM,
    CompileLock,
    is_compiling_worthwhile,
    remember_compiled,
)


class Compiler:
    """A stand-in for torch's: its switches hold for the whole process, and it notices who comes in between."""

    def __init__(self) -> None:
        self.n_compiled = self.n_calls = self.most_at_once = 0
        self.shapes: set[object] = set()
        self._is_tracing = False
        self._n_inside = 0
        self._lock = threading.Lock()

    def call(self, shape: object) -> None:
        with self._lock:
            assert not self._is_tracing, "using FX to symbolically trace a dynamo-optimized function"
            is_new = shape not in self.shapes
            assert not (is_new and self._n_inside), "compiled while another was called"
            self._is_tracing = is_new
            self._n_inside += 1
            self.n_calls += 1
            self.n_compiled += is_new
            self.most_at_once = max(self.most_at_once, self._n_inside)
        time.sleep(0.02 if is_new else 0.002)
        with self._lock:
            self.shapes.add(shape)
            self._is_tracing = False
            self._n_inside -= 1


def test_painter_and_detector_never_compile_over_each_other() -> None:
    turns, compiler = CompileLock(), Compiler()

    def work(shape: object) -> None:
        with turns.calling(shape):
            compiler.call(shape)

    shapes = [(name, size) for size in (16, 8, 128) for name in ("painter", "detector", "judge")] * 20
    with ThreadPoolExecutor(12) as threads:
        list(threads.map(work, shapes))
    assert (compiler.n_calls, compiler.n_compiled) == (180, 9), "each shape is compiled once"
    assert compiler.most_at_once > 1, "what is compiled is called side by side"


def test_without_turns_the_stand_in_notices() -> None:
    compiler = Compiler()
    with ThreadPoolExecutor(8) as threads, pytest.raises(AssertionError):
        list(threads.map(compiler.call, [("painter", 1), ("detector", 1)] * 20))


def test_a_first_call_that_breaks_compiled_nothing() -> None:
    turns, compiler = CompileLock(), Compiler()
    with pytest.raises(RuntimeError), turns.calling("a"):
        raise RuntimeError("out of memory")
    with turns.calling("a"):
        compiler.call("a")
    assert compiler.n_compiled == 1


def test_compiling_pays_for_many_pictures_and_for_fewer_where_it_was_done_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    few, many = PAYS_AGAIN_FROM, PAYS_FROM
    assert not is_compiling_worthwhile("a model, 512x512", many - 1)
    assert is_compiling_worthwhile("a model, 512x512", many)
    remember_compiled("a model, 512x512")
    assert is_compiling_worthwhile("a model, 512x512", few)
    assert not is_compiling_worthwhile("a model, 512x512", few - 1)
    assert not is_compiling_worthwhile("a model, 1024x1024", few), "another size is compiled anew"
