"""Compiled models of one process: one is compiled at a time, and nobody calls a compiled one meanwhile.

torch's compiler traces with switches that hold for the whole process, so a call of another compiled model in the middle
of it fails. A model compiles in its first call with a new shape. Knows no torch: whoever calls says which shape it is.
CompileLock pays from some number of calls on; fewer where the compiler has done it on this machine before.
"""

from __future__ import annotations

import threading
from collections.abc import Hashable, Iterator
from contextlib import contextmanager

from salva.hardware.cache import recall, remember

TOPIC = "compiled"
PAYS_FROM = 1_300
"""So many images; measured with Stable Diffusion 1.5 on one H200: 71 s more at the start, 57 ms less an image."""
PAYS_AGAIN_FROM = 200
"""Where the compiler's own cache has it from an earlier run: 9 s more at the start."""


class CompileLock:
    """Who may call, and when."""

    def __init__(self) -> None:
        self._turn = threading.Condition()
        self._compiled: set[Hashable] = set()
        self._n_calling = 0
        self._n_to_compile = 0
        self._is_compiling = False

    @contextmanager
    def calling(self, shape: Hashable) -> Iterator[None]:
        """Around a call of a compiled model; shape: which model and what it is handed. The first of each is alone."""
        is_first = self._enter(shape)
        is_done = False
        try:
            yield
            is_done = True
        finally:
            with self._turn:
                if not is_first:
                    self._n_calling -= 1
                else:
                    self._is_compiling = False
                    if is_done:
                        self._compiled.add(shape)
                self._turn.notify_all()

    def _enter(self, shape: Hashable) -> bool:
        """Wait for one's turn; whether this call will compile."""
        with self._turn:
            if shape in self._compiled:
                # Those who want to compile go first, or they would wait for as long as anybody calls.
                self._turn.wait_for(lambda: not self._is_compiling and not self._n_to_compile)
                self._n_calling += 1
                return False
            self._n_to_compile += 1
            try:
                self._turn.wait_for(lambda: not self._is_compiling and not self._n_calling)
            finally:
                self._n_to_compile -= 1
                self._turn.notify_all()
            if shape in self._compiled:
                self._n_calling += 1
                return False
            self._is_compiling = True
            return True


COMPILE_LOCK = CompileLock()
"""The one of this process."""


def is_compiling_worthwhile(model: str, n_pictures: int) -> bool:
    """Whether so many images win back what compiling costs here; model: which one, at what size and on what."""
    return n_pictures >= (PAYS_AGAIN_FROM if recall(TOPIC, model) else PAYS_FROM)


def remember_compiled(model: str) -> None:
    """It was compiled: the next time is quicker."""
    remember(TOPIC, model, True)
