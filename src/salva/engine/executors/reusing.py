"""Executor: threads of this process, and components that stay loaded from one run to the next.

For many small runs with the same components; whoever made it lets them go in the end.
"""

from __future__ import annotations

from collections.abc import Sequence

from salva.core.fingerprint import fingerprint
from salva.core.plan import Binding
from salva.engine.executors.local import LocalExecutor, LocalLane


class ReusingExecutor(LocalExecutor):
    """Opens each component once."""

    def __init__(self) -> None:
        super().__init__()
        self._opened: dict[str, LocalLane] = {}
        self._is_stopped = False

    def open(self, binding: Binding, crowd: Sequence[Binding] = ()) -> LocalLane:
        """The component at work, since whenever it was first asked for."""
        key = fingerprint([binding.role, binding.label, binding.identity()])
        if key not in self._opened:
            self._opened[key] = super().open(binding, crowd)
        return self._opened[key]

    def stop(self) -> None:
        """Begin no more calls; those under way are still reported."""
        self._is_stopped = True
        super().stop()

    def close(self) -> None:
        """The end of one run: everybody stays, unless they were stopped and can begin nothing more."""
        if self._is_stopped:
            self.shut_down()

    def shut_down(self) -> None:
        """Stop everything; safe to call twice."""
        self._opened.clear()
        super().close()
        self._is_stopped = False
