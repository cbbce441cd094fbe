"""The model an endpoint reports: one run, one snapshot each.

The first answer's snapshot is kept with the run; a later one that differs stops it, today or on resuming.
"""

from __future__ import annotations

import shlex
from pathlib import Path

from salva.core.fingerprint import Json
from salva.core.secrets import redacted
from salva.engine.actors import Actor
from salva.errors import UnusableError
from salva.messages import message
from salva.store.sqlite import RunStore

PREFIX = "snapshot:"


class Snapshots:
    """The snapshots of a run's components."""

    def __init__(self, store: RunStore) -> None:
        self._store = store
        self._snapshots = {key: value for key, value in store.meta().items() if key.startswith(PREFIX)}

    def check(self, actor: Actor, snapshot: Json) -> None:
        """Keep the first, refuse another; no name is no news."""
        if snapshot is None or snapshot == "":
            return
        key, snapshot = f"{PREFIX}{actor.component_id}", redacted(snapshot)
        if key not in self._snapshots:
            self._snapshots[key] = snapshot
            self._store.set_meta(key, snapshot)
        elif self._snapshots[key] != snapshot:
            before, now = str(self._snapshots[key]), str(snapshot)
            values = {"role": actor.role, "name": actor.label, "before": before, "now": now}
            instead = _instead(actor, now, self._store.directory)
            raise UnusableError(message("snapshot-changed", **values, instead=instead))


def _instead(actor: Actor, now: str, directory: Path) -> str:
    """How to go on."""
    model = f"--{actor.role} {actor.label.partition('/')[0]}/{now}"
    if actor.role == "model":
        return f"To go on, start a run with another --out and {model}."
    command = f"salva rejudge {shlex.quote(str(directory))} {model}"
    return f"To go on, judge its images anew with the same settings:\n  {command}"
