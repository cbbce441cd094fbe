"""Which model an endpoint says it is: one run, one snapshot each.

The first answer's snapshot is kept with the run; a later one that differs stops it, today or on resuming.
"""

from __future__ import annotations

from salva.core.fingerprint import Json
from salva.engine.actors import Actor
from salva.errors import UnusableError
from salva.store.sqlite import RunStore

_PREFIX = "snapshot:"


class Snapshots:
    """The snapshots of a run's components."""

    def __init__(self, store: RunStore) -> None:
        self._store = store
        self._snapshots = {key: value for key, value in store.meta().items() if key.startswith(_PREFIX)}

    def check(self, actor: Actor, snapshot: Json) -> None:
        """Keep the first, refuse another; no name is no news."""
        if snapshot is None or snapshot == "":
            return
        key = f"{_PREFIX}{actor.component_id}"
        if key not in self._snapshots:
            self._snapshots[key] = snapshot
            self._store.set_meta(key, snapshot)
        elif self._snapshots[key] != snapshot:
            work = "Pictures" if actor.role == "model" else "Answers"
            raise UnusableError(
                f"the {actor.role} {actor.label!r} now answers as {snapshot!r}; this run began with "
                f"{self._snapshots[key]!r}. {work} of two models must not mix: start anew with another --out"
            )
