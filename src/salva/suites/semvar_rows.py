"""One triple of SemVarBench, wherever it came from, and the names its categories go by."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

ROLES = ("a", "pv", "pi")
"""The anchor, its permutation of another meaning, its permutation of the same meaning."""

_SAME = {"colour": "color", "spatial_temporal": "spatio_temporal", "vague_amounts": "vague_amount"}


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


def category_name(text: str) -> str:
    """A category as the published files spell it: lower case, words joined by underscores."""
    name = re.sub(r"[\s_-]+", "_", text.strip().lower())
    return _SAME.get(name, name)
