"""A store as salva made it under schema 1, written by hand."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import Path

from salva.store.migrations import APPLICATION_ID, MIGRATIONS

SENTENCE = "without brackets it can also be read as !cat, which a cat and two dogs tells apart"


def write_old_store(
    directory: Path, observers: Iterable[str] = ("pocket+scene",), labels: Sequence[tuple[str, str]] = ()
) -> Path:
    """A run of one case, with a verdict by each of these observers and components of these roles and labels."""
    directory.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(directory / "salva.db")
    connection.executescript(MIGRATIONS[0])
    connection.execute("PRAGMA user_version = 1")
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    case = {
        "case_id": "m-1",
        "suite": "metalogic",
        "category": "c",
        "relation": "truth",
        "cluster": "",
        "prompts": [{"role": "a", "text": "a cat", "formula": "cat"}],
        "labels": {"entities": "cat,dog"},
        "equivalent": True,
        "determinate": False,
        "findings": [SENTENCE],
        "extra": {},
    }
    connection.execute("INSERT INTO cases (ordinal, case_id, record) VALUES (0, 'm-1', ?)", (json.dumps(case),))
    for role, label in labels:
        connection.execute(
            "INSERT INTO components (component_id, role, label, is_formula_seen, identity) VALUES (?, ?, ?, 0, '{}')",
            (f"{role} {label}", role, label),
        )
    for joined in observers:
        connection.execute(
            "INSERT INTO verdicts (case_id, repeat, arm, model, relation, observers, outcome, errors, failures, "
            "scores, images, reason) VALUES ('m-1', 0, 'pair', 'm', 'truth', ?, 'HOLDS', '[]', '[]', '{}', '{}', '')",
            (joined,),
        )
    connection.commit()
    connection.close()
    return directory
