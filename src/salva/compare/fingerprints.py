"""What verdicts depend on: suite, rules, observers with their weights and snapshots, rewritten prompts.

A run directory comes in, read only; a record goes out. Nothing that is named in it is looked up, built or asked: two
runs are held against each other by what they say of themselves.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from salva.core.fingerprint import Json, canonical_json
from salva.core.grouping import grouped
from salva.engine.snapshots import PREFIX
from salva.store.records import CASES, RULES
from salva.store.sqlite import RunStore, open_run

Identity = Mapping[str, Json]

_REWRITTEN = (
    "SELECT image_id FROM renders WHERE image_id IS NOT NULL AND json_extract(provenance, '$.revised_prompt') <> ''"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fingerprints:
    """Identities by name, as the run has them; empty where it does not say."""

    suite: Identity = field(default_factory=dict)
    rules: Mapping[str, Identity] = field(default_factory=dict)
    """By check."""
    observers: Mapping[str, tuple[Identity, ...]] = field(default_factory=dict)
    """By label: those whose observations are stored under it."""
    snapshots: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By label: which model an endpoint said that it was."""
    rewritten: frozenset[str] = frozenset()
    """Images that were generated from a text which the provider had rewritten."""


def read_fingerprints(directory: Path) -> Fingerprints:
    """What a run says of itself."""
    with open_run(directory) as store:
        return _fingerprints(store)


def _fingerprints(store: RunStore) -> Fingerprints:
    notes = store.meta()
    cases = notes.get(CASES)
    rules = notes.get(RULES)
    stored = [component for component in store.components() if component.role != "model"]
    observers = grouped((one.label, {"role": one.role, **one.identity}) for one in stored)
    said = ((one.label, notes.get(f"{PREFIX}{one.component_id}")) for one in stored)
    snapshots = grouped((label, str(snapshot)) for label, snapshot in said if snapshot is not None)
    suite = cases.get("suite") if isinstance(cases, dict) else None
    return Fingerprints(
        suite=suite if isinstance(suite, dict) else {},
        rules={name: rule for name, rule in rules.items() if isinstance(rule, dict)} if isinstance(rules, dict) else {},
        observers={label: tuple(sorted(found, key=canonical_json)) for label, found in observers.items()},
        snapshots={label: tuple(sorted(found)) for label, found in snapshots.items()},
        rewritten=frozenset(str(row[0]) for row in store.rows(_REWRITTEN)),
    )
