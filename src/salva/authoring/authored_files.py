"""Files of authored entries: JSON lines, a sheet for reviewers, and what they made of the entries."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from salva.authoring.samples import VALID, verdict_of
from salva.core.authored import Authored
from salva.errors import UsageError
from salva.files.tables import csv_text
from salva.messages import message

_TO_FILL = ("reviewer", "valid", "note")


def lines_of_entries(entries: Iterable[Authored], *, with_reasons: bool = False) -> str:
    """The entries as JSON lines; with reasons, each says why it must not stay."""
    said = ({**entry.line, "why": entry.why} if with_reasons else entry.line for entry in entries)
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in said)


def review_sheet_of(entries: Sequence[Authored]) -> str:
    """A CSV that each reviewer fills in a copy of: reviewer, valid (yes or no) and a note."""
    columns = list(dict.fromkeys(name for entry in entries for name in entry.shown))
    rows = [[entry.entry_id, *(entry.shown.get(name, "") for name in columns), "", "", ""] for entry in entries]
    return csv_text([["id", *columns, *_TO_FILL], *rows])


def with_reviews(entries: Sequence[Authored], reviews: Mapping[str, Mapping[str, bool]]) -> list[Authored]:
    """The entries with the label review: two who agree decide, a third where they differ."""
    unknown = sorted(set(reviews) - {entry.entry_id for entry in entries})
    if unknown:
        raise UsageError(message("review-unknown", n=len(unknown), entry=unknown[0]))
    return [_labelled(entry, verdict_of(list(reviews.get(entry.entry_id, {}).values()))) for entry in entries]


def review_of(entry: Authored) -> str:
    """What people made of it; empty where nobody was asked."""
    labels = entry.line.get("labels")
    return str(labels.get("review", "")) if isinstance(labels, Mapping) else ""


def is_valid(entry: Authored) -> bool:
    """Whether two people call it valid."""
    return review_of(entry) == VALID


def _labelled(entry: Authored, review: str) -> Authored:
    labels = entry.line.get("labels")
    return replace(
        entry, line={**entry.line, "labels": {**(labels if isinstance(labels, Mapping) else {}), "review": review}}
    )
