"""Which rated things belong together because they share a prompt: drawn anew whole, or an interval claims too much.

Ratings that were read come in; out go the name of the column and a name for each thing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from salva.errors import UsageError
from salva.review.rating_cells import column_key
from salva.review.rating_files import column_names
from salva.review.ratings import Ratings

_OBVIOUS = (
    re.compile(r"prompts?(_?(id|no|number|text))?"),
    re.compile(r"(case|item|sample|triple|pair|text|caption|sentence)(_?(id|no|number))?"),
)
"""What a column is called whose values several pictures share, the surest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Clusters:
    """Things put together by a column."""

    column: str
    """Empty where every thing stands for itself."""
    names: tuple[str, ...]
    """The cluster of each thing."""

    @property
    def said(self) -> str:
        """Which column, and how many, for the reader to check."""
        n = len(set(self.names))
        return f"{self.column}, {n} of {len(self.names)} things" if self.column else "none, every thing by itself"


def clusters_of(ratings: Ratings, wanted: str, source: str) -> Clusters:
    """The clusters of rated things: by the column asked for, or by one whose name says so and whose values repeat.

    source: where the ratings lie, for messages.
    """
    columns = column_names(list(ratings.rows))
    if wanted and wanted not in columns:
        raise UsageError(f"{source!r} has no column {wanted!r} to draw whole; it has {', '.join(columns)}")
    if wanted:
        clusters = _by(ratings, wanted)
        if len(set(clusters.names)) < 2:
            raise UsageError(
                f"--cluster {wanted}: all {len(clusters.names)} things of {source!r} have the same value there, and "
                f"drawing anew needs two; it has {', '.join(columns)}"
            )
        return clusters
    for words in _OBVIOUS:
        for column in columns:
            if words.fullmatch(column_key(column)):
                clusters = _by(ratings, column)
                if 1 < len(set(clusters.names)) < len(clusters.names):
                    return clusters
    return Clusters(column="", names=tuple(f"{index}" for index in range(len(ratings.things))))


def _by(ratings: Ratings, column: str) -> Clusters:
    """A thing without a value there stands for itself."""
    values = [row.get(column, "").strip() for row in ratings.rows]
    return Clusters(column=column, names=tuple(value or f"row {index}" for index, value in enumerate(values)))
