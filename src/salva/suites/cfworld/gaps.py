"""Faults in CF-World's files.

A reader makes findings of these kinds; nothing here reads a file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from salva.core.case import Case, Finding
from salva.core.table import Table
from salva.results.tables import group_by, rows_table

KINDS: Mapping[str, str] = {
    "no-point": "no point",
    "point-of-another-level": "another level's point",
    "misspelt-key": "unusual spelling",
    "no-id": "no id",
    "no-questions": "no questions",
    "lacks-kind": "missing questions",
    "repeated-question": "duplicate question",
    "no-prompt": "no prompt",
    "odd-kind": "unknown kind",
    "odd-weight": "unexpected weight",
    "unread-criteria": "unreadable criteria",
    "unread-formula": "unreadable formula",
    "repeated-id": "duplicate id",
    "odd-category": "unexpected category",
    "unpaired": "no counterpart",
    "orphan-questions": "unmatched questions",
    "orphan-denorm": "unmatched denorm",
    "unknown-file": "unknown file",
    "count-differs": "unexpected number",
}
"""What can be wrong, each in a few words."""


def gap(kind: str, detail: str, *subject: str) -> Finding:
    """A finding about a group, a probe or a file."""
    assert kind in KINDS, kind
    return Finding(kind=kind, sentence=f"{KINDS[kind]}: {detail}", subject=subject, general=KINDS[kind])


def gaps_table(cases: Iterable[Case]) -> Table | None:
    """How often each kind of gap was found, with the first of each; None where there is none."""
    groups = group_by((finding for case in cases for finding in case.findings), lambda finding: finding.kind)
    return rows_table(
        "gaps in the files",
        ("kind", "n", "what", "first"),
        (
            (kind, len(groups[kind]), what, groups[kind][0].sentence.partition(": ")[2])
            for kind, what in KINDS.items()
            if kind in groups
        ),
    )
