"""One triple of SemVarBench, wherever it came from."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

ROLES = ("a", "pv", "pi")
"""The anchor, its permutation of another meaning, its permutation of the same meaning."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
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
    findings: tuple[str, ...] = ()


def bare_sentence(text: str) -> str:
    """A sentence without what does not count when two are compared: case, spacing, punctuation."""
    return " ".join(re.findall(r"\w+(?:['’-]\w+)*", text.lower()))
