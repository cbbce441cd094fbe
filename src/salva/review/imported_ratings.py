"""The ratings an imported run was made of, read again from its copies of the files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from salva.core.fingerprint import Json
from salva.files.import_copies import copied_data, import_copies
from salva.review.columns import Columns
from salva.review.rating_table import RatingTable, read_ratings
from salva.store.runfile import read_run_file


class ImportedRatings(NamedTuple):
    """Ratings, and the observers of the run who are people."""

    table: RatingTable
    people: tuple[str, ...]


def imported_ratings(directory: Path) -> ImportedRatings | None:
    """The ratings a run was made of; None for a run that was not made of any."""
    run_file = read_run_file(directory)
    imported = run_file.imported if run_file else None
    if imported is None or not imported.about.get("people"):
        return None
    about = imported.about.get("columns")
    named: Mapping[str, Json] = about if isinstance(about, dict) else {}
    files = import_copies(directory, imported)
    for file in files:
        copied_data(file)
    columns = Columns(
        item=_names(named.get("item")),
        rater=str(named.get("rater") or ""),
        people=_names(named.get("people")),
        judges=_names(named.get("judge")),
    )
    table = read_ratings([file.path for file in files], columns, names=[file.name for file in files])
    return ImportedRatings(table, _names(imported.about.get("people")))


def _names(value: Json) -> tuple[str, ...]:
    return tuple(str(name) for name in value) if isinstance(value, list) else ()
