"""The model an endpoint reports: one run, one snapshot each.

The first answer's snapshot is kept with the run; a later one that differs stops it, today or on resuming.
"""

from __future__ import annotations

import dataclasses
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
            instead = _way_on(actor, before, now, self._store.directory)
            values = {"role": actor.role, "name": actor.label, "before": before, "now": now, "instead": instead}
            raise UnusableError(message("snapshot-changed", **values))


def _way_on(actor: Actor, before: str, now: str, directory: Path) -> str:
    """The command that goes on."""
    maker = actor.label.partition("/")[0]
    anew = f"start a run with another --out and --{actor.role} {maker}/{now}"
    if actor.role == "model":
        return f"To go on, {anew}, or {maker}/{before} while it is served."
    command = f"salva rejudge {shlex.quote(str(directory))} --{actor.role} {maker}/{now}{_where(actor)}"
    return f"To go on, judge its images anew:\n  {command}\nor {anew}."


def _where(actor: Actor) -> str:
    """The settings that lead to the same endpoint: one who is new to a run takes none from it."""
    if actor.binding is None:
        return ""
    options = actor.binding.options
    chosen = {
        field.name: getattr(options, field.name)
        for field in dataclasses.fields(options)
        if field.metadata.get("reaches") == "endpoint" and getattr(options, field.name) != field.default
    }
    return "".join(f" --set {shlex.quote(f'{actor.role}.{name}={value}')}" for name, value in chosen.items())
