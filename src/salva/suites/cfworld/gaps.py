"""Faults in CF-World's files.

A reader makes findings of these kinds; nothing here reads a file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from salva.core.case import Case, Finding
from salva.core.table import Table
from salva.results.tables import group_by, rows_table

KINDS: Mapping[str, str] = {
    "no-point": "no assessment point",
    "point-of-another-level": "assessment point of the other counterfactual level used",
    "misspelt-key": "unusual spelling of a key or level, accepted",
    "no-id": "entry without an id, skipped",
    "no-questions": "level without questions, not generated",
    "lacks-kind": "level without one of the three kinds of questions",
    "repeated-question": "question given twice, asked once",
    "copied-questions": "L3 has the questions of L2",
    "no-prompt": "level without a prompt, not generated",
    "odd-kind": "unknown kind of question",
    "odd-weight": "weight missing or outside the published range",
    "several-integrity": "several questions about integrity",
    "no-half-step": "no criterion for 0.5",
    "unread-criteria": "criteria without scores, kept as text",
    "unread-formula": "unreadable formula, ignored",
    "no-category": "no category",
    "padded-category": "blanks around a category",
    "non-ascii-category": "category not in ASCII",
    "repeated-prompt": "prompt of another group too",
    "repeated-id": "repeated id, the first is kept",
    "padded-text": "blanks around a text",
    "suffixed-id": "ids with the suffix _factual",
    "no-thing": "pair with one entity, not generated",
    "odd-category": "category contradicts the id, or is unknown",
    "unpaired": "pair without a counterpart, not generated",
    "question-from-point": "question made from the assessment point",
    "question-from-pair": "question made from the two entities",
    "orphan-questions": "questions without a group or level",
    "orphan-denorm": "de-nominalised prompt without a group",
    "unknown-file": "not a file of CF-World",
    "count-differs": "number differs from the paper's",
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
        note="Found while reading; nothing was corrected.",
    )
