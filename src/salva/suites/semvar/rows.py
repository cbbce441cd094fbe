"""One triple of SemVarBench, wherever it came from."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from salva.core.case import Finding

TITLES = {
    "unreviewed": "{0}",
    "other-wording": "other wording in category file",
    "listed-again": "listed {0} times",
    "equal-texts": "{0} equals {1}",
    "same-texts": "sentences of another id",
    "same-texts-in-other-split": "sentences also in {0}",
    "ambiguous-id": "ambiguous id {0}",
}
"""What can be wrong with a triple, by kind, with the places of what it is about."""

ROLES = ("a", "pv", "pi")
"""The anchor, its permutation of another meaning, its permutation of the same meaning."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TripleRow:
    """A triple of sentences."""

    row_id: str
    texts: tuple[str, str, str]
    """By role."""
    formulas: tuple[str | None, str | None, str | None] = (None, None, None)
    categories: tuple[str, ...] = ()
    split: str = ""
    """test, train, or own for a file that does not say."""
    where: str = ""
    """File and line, for people; `embedded` for what comes with salva."""
    labels: Mapping[str, str] = field(default_factory=dict)
    cluster: str = ""
    findings: tuple[Finding, ...] = ()


def bare_sentence(text: str) -> str:
    """A sentence without what does not count when two are compared: case, spacing, punctuation."""
    return " ".join(re.findall(r"\w+(?:['’-]\w+)*", text.lower()))


def finding(kind: str, detail: str, *subject: str) -> Finding:
    """A finding about a triple: its title, and where or why."""
    return Finding(kind=kind, sentence=f"{TITLES[kind].format(*subject)}: {detail}", subject=subject)


def title_of(finding: Finding) -> str:
    """What a table counts a finding under."""
    return TITLES[finding.kind].format(*finding.subject) if finding.kind in TITLES else finding.shared
