"""What stores of an earlier schema hold, made into what this one reads.

Works on stored text alone and knows none of today's records: it must read old rows the same way for ever.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

_ROLES = ("detector", "reader", "embedder", "judge")
_Labels = Sequence[Sequence[str]]
"""The labels of each role, in the order in which a joined name has the roles."""


def observers_as_lists_and_findings_as_records(connection: sqlite3.Connection) -> None:
    """Schema 2: observers were labels joined by a plus, findings were sentences."""
    labels = [
        [label for (label,) in connection.execute("SELECT DISTINCT label FROM components WHERE role = ?", (role,))]
        for role in _ROLES
    ]
    for (joined,) in connection.execute("SELECT DISTINCT observers FROM verdicts").fetchall():
        stored = json.dumps(_observers(joined, labels), ensure_ascii=False, separators=(",", ":"))
        connection.execute("UPDATE verdicts SET observers = ? WHERE observers = ?", (stored, joined))
    ordinals = connection.execute(
        "SELECT ordinal FROM cases WHERE json_array_length(record, '$.findings') > 0"
    ).fetchall()
    for (ordinal,) in ordinals:
        case = json.loads(connection.execute("SELECT record FROM cases WHERE ordinal = ?", (ordinal,)).fetchone()[0])
        case["findings"] = [_finding(sentence, case) for sentence in case["findings"]]
        stored = json.dumps(case, separators=(",", ":"))
        connection.execute("UPDATE cases SET record = ? WHERE ordinal = ?", (stored, ordinal))


def thresholds_as_floors(connection: sqlite3.Connection) -> None:
    """Schema 2: a detector kept the boxes from its threshold on, and its looks did not say so."""
    for component_id, identity in connection.execute(
        "SELECT component_id, identity FROM components WHERE role = 'detector'"
    ).fetchall():
        threshold = json.loads(identity).get("options", {}).get("threshold")
        if isinstance(threshold, int | float) and threshold > 0:
            connection.execute(
                "UPDATE looks SET box_floor = ? WHERE component_id = ? AND status = 'done'", (threshold, component_id)
            )


def _observers(joined: str, labels: _Labels) -> list[str]:
    if not any(labels) or not joined:
        # Nobody looked: the run was imported, and the name is that of a person or a judge.
        return [joined] if joined else []
    return _parts(joined, labels) or joined.split("+")


def _parts(joined: str, labels: _Labels) -> list[str]:
    """The labels that were joined, at most one a role, the longest first; empty where they are not known."""
    for place, candidates in enumerate(labels):
        for label in sorted(candidates, key=len, reverse=True):
            if joined == label:
                return [label]
            if joined.startswith(f"{label}+") and (rest := _parts(joined[len(label) + 1 :], labels[place + 1 :])):
                return [label, *rest]
    return []


def _finding(sentence: str, case: Mapping[str, Any]) -> dict[str, object]:
    """A sentence as a record, with the part that cases about other things share."""
    things = [thing for thing in case.get("labels", {}).get("entities", "").split(",") if thing]
    general = sentence
    for number, thing in enumerate(things, 1):
        general = re.sub(rf"\b(?:an? )?{re.escape(thing)}(?=s?\b)", f"e{number}", general)
    if case.get("suite") == "semvar":
        general = sentence.partition(":")[0]
    return {"kind": "", "sentence": sentence, "subject": things, "general": general if general != sentence else ""}
