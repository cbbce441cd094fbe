"""An earlier run as a guide: how often each entity and predicate was matched in it.

A run directory comes in; shares go out. The verdicts are read and nothing else: what a
run names is never contacted or executed.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from salva.core.fingerprint import fingerprint
from salva.core.result import DECIDED
from salva.core.verdict import PAIR, Outcome
from salva.errors import UsageError
from salva.messages import message

_DATABASE = "salva.db"
_QUERY = """
    SELECT c.record, v.outcome FROM verdicts v JOIN cases c ON c.case_id = v.case_id AND c.primary_check = v."check"
    WHERE v.arm = ? ORDER BY v.case_id, v.repeat, v.model, v."check", v.observers
"""
_Row = tuple[str, tuple[str, ...], bool]
"""An entity, the predicates at its place, and whether the images matched."""


def read_guide(path: str) -> dict[tuple[str, str], float]:
    """Thing and predicate to the share of cases that held."""
    n: Counter[tuple[str, str]] = Counter()
    held: Counter[tuple[str, str]] = Counter()
    for name, predicates, is_match in _rows(path):
        for predicate in predicates:
            n[name, predicate] += 1
            held[name, predicate] += is_match
    if not n:
        raise UsageError(message("guide-invalid", path=path, why="it decided no case of actesting"))
    return {pair: held[pair] / n[pair] for pair in n}


def guide_digest(path: str) -> str:
    """What stands in the key for a guide: its verdicts, wherever the run lies."""
    shares = read_guide(path)
    return fingerprint([[name, predicate, share] for (name, predicate), share in sorted(shares.items())])[:16]


def _rows(path: str) -> Iterator[_Row]:
    import sqlite3

    database = Path(path).expanduser() / _DATABASE
    if not database.is_file():
        raise UsageError(message("guide-invalid", path=path, why=f"it holds no {_DATABASE}"))
    try:
        connection = sqlite3.connect(f"{database.resolve().as_uri()}?mode=ro", uri=True)
        try:
            stored = connection.execute(_QUERY, (PAIR,)).fetchall()
        finally:
            connection.close()
    except sqlite3.Error as error:
        raise UsageError(message("guide-invalid", path=path, why=error)) from error
    for record, outcome in stored:
        if outcome in DECIDED:
            labels = json.loads(record)["labels"]
            name, predicates = (labels.get(label) for label in ("entity", "predicate"))
            if name and predicates:
                yield name, tuple(predicates.split(",")), outcome == Outcome.PASS
