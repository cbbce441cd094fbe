"""Faults in CF-World's files.

A reader makes findings of these kinds; nothing here reads a file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from salva.core.case import Case, Finding
from salva.core.table import Table
from salva.results.tables import group_by, rows_table

KINDS: Mapping[str, str] = {
    "no-point": "a level has no assessment point and none to take in its place",
    "point-of-another-level": "a level has no assessment point and takes that of the other counterfactual level",
    "misspelt-key": "a key or a level is spelt otherwise than everywhere else, and read all the same",
    "no-id": "an entry does not say which group, rule or pair it is, and is left out",
    "no-questions": "a level has no questions and is not generated",
    "lacks-kind": "a level has no question of one of the three kinds, and its score is of the others alone",
    "repeated-question": "a question that a level has twice; asked once",
    "copied-questions": "the questions of L3 are those of L2",
    "no-prompt": "a level has no prompt and is not generated",
    "odd-kind": "a question is of none of the three kinds",
    "odd-weight": "a weight is outside the published range, or none at all",
    "several-integrity": "an image has more than one question about its integrity",
    "no-half-step": "criteria without a step at 0.5",
    "unread-criteria": "criteria that are no list of scores; kept as one sentence",
    "unread-formula": "a formula that cannot be read; the prompt is taken to have none",
    "no-category": "no category",
    "padded-category": "a category with blanks around it",
    "non-ascii-category": "a category with letters beyond ASCII",
    "repeated-prompt": "a prompt that another group has too",
    "repeated-id": "an id that stands twice in its file; the first is kept",
    "padded-text": "a text with blanks around it",
    "suffixed-id": "a pair whose ids are a number and the same number with _factual",
    "no-thing": "a pair lacks one of its two things and is not generated",
    "odd-category": "a category that is neither of a fact nor of a counterfactual, or not what the id says",
    "unpaired": "a rare pair without its common counterpart, or the other way round; not generated",
    "question-from-point": "no questions at all; one is made from the assessment point",
    "question-from-pair": "no questions at all; one is made from the two things",
    "orphan-questions": "questions for a group or a level that the prompts do not have",
    "orphan-denorm": "a de-nominalised prompt for a group that the prompts do not have",
    "unknown-file": "a file that holds no part of CF-World",
    "count-differs": "another number than the paper says",
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
        note="Found while reading; nothing was corrected silently.",
    )
