"""How many elements a model takes at once: found by trying, remembered for the next run.

Grows by doubling while the device's memory allows, halves when it runs out and goes on with the same elements.
Knows no model: it is handed a call and the elements.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TypeVar

from salva.errors import UnusableError
from salva.hardware.cache import recall, remember
from salva.hardware.devices import MemoryGauge, describe_device, free_memory, is_out_of_memory
from salva.messages import message

TOPIC = "batch-sizes"

_Element = TypeVar("_Element")
_Outcome = TypeVar("_Outcome")


class BatchSizer:
    """Cuts work into batches that fit one device; every thread that uses the device shares one.

    key: what decides the size besides the device: model, image size, precision. start: the first size tried when
    nothing is remembered and memory is not plentiful; where it is, the limit is tried at once. limit: never more than
    this. name and advice: for the message when even one does not fit.
    """

    def __init__(
        self,
        key: str,
        *,
        start: int,
        limit: int,
        device: str,
        name: str = "the model",
        advice: str = "use a device with more memory",
        gauge: MemoryGauge | None = None,
    ) -> None:
        self._key = f"{key} on {describe_device(device)}"
        self._limit = max(1, limit)
        self._device, self._name, self._advice = device, name, advice
        self._gauge = gauge or MemoryGauge(device)
        self._lock = threading.Lock()
        self._too_large = self._limit + 1
        remembered = recall(TOPIC, self._key)
        self._remembered = remembered if isinstance(remembered, int) and remembered >= 1 else None
        first = self._remembered or (self._limit if self._gauge.has_plenty() else start)
        self.size = max(1, min(first, self._limit))
        """How many the next batch holds at most."""

    def run(
        self, call: Callable[[Sequence[_Element]], Sequence[_Outcome]], elements: Sequence[_Element]
    ) -> list[_Outcome]:
        """The outcomes of all elements, in order; call gets batches that fit and must be safe to repeat."""
        outcomes: list[_Outcome] = []
        while len(outcomes) < len(elements):
            part = elements[len(outcomes) : len(outcomes) + self.size]
            self._gauge.begin()
            problem = ""
            try:
                outcomes.extend(call(part))
            except (RuntimeError, MemoryError) as error:
                if not is_out_of_memory(error):
                    raise
                problem = str(error)
            # Outside of the except: the traceback would keep alive what must be freed now.
            if problem:
                free_memory(self._device)
                self._shrink(len(part), problem)
            else:
                self._worked(len(part))
        return outcomes

    def _shrink(self, n: int, problem: str) -> None:
        if n == 1:
            values = {"component": self._name, "device": describe_device(self._device), "advice": self._advice}
            raise UnusableError(message("memory-too-small", **values, why=problem.splitlines()[0][:300]))
        with self._lock:
            self._too_large = min(self._too_large, n)
            self.size = min(self.size, max(1, n // 2))

    def _worked(self, n: int) -> None:
        with self._lock:
            if n < self.size:
                return
            if n != self._remembered:
                self._remembered = n
                remember(TOPIC, self._key, n)
            larger = min(2 * n, self._limit)
            if n < larger < self._too_large and self._gauge.allows(larger / n):
                self.size = larger
