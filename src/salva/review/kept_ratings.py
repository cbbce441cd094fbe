"""The ratings a run was made of: read from their files, and read again from the run that keeps copies of them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from salva.core.fingerprint import Json
from salva.files.kept_files import kept_data, kept_files
from salva.review.columns import Columns
from salva.review.rated_cases import Placed, place_all
from salva.review.rating_table import RatingTable, read_ratings
from salva.store.runfile import read_run_file


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptRatings:
    """Ratings, and where each of them belongs in the run made of them."""

    table: RatingTable
    placed: Placed
    observers: Mapping[str, str]
    """Person or judge to the name that their verdicts have."""

    @property
    def people(self) -> list[str]:
        """The people, as observers."""
        return [self.observers[who] for who in self.table.people]


def kept_ratings(directory: Path) -> KeptRatings | None:
    """The ratings a run was made of; None for a run that was not made of any."""
    run_file = read_run_file(directory)
    imported = run_file.imported if run_file else None
    if imported is None or imported.form != "ratings":
        return None
    about = imported.about.get("columns")
    named: Mapping[str, Json] = about if isinstance(about, dict) else {}
    files = kept_files(directory, imported)
    for file in files:
        kept_data(file)
    columns = Columns(
        item=_names(named.get("item")),
        rater=str(named.get("rater") or ""),
        people=_names(named.get("people")),
        judges=_names(named.get("judge")),
    )
    model = str(imported.about.get("model") or "")
    return read_kept([file.path for file in files], [file.name for file in files], columns, model)


def read_kept(paths: Sequence[Path], names: Sequence[str], columns: Columns, model: str) -> KeptRatings:
    """The ratings in files; names: what to call the files, model: the one of rows that name none."""
    table = read_ratings(paths, columns, names=names)
    observers: dict[str, str] = {}
    for who in (*table.people, *table.judges):
        # A plus joins observers and a comma lists them, so no name may hold either.
        name = re.sub(r"\s*[+,]\s*", " and ", who)
        observers[who] = name if name not in observers.values() else f"{name} ({len(observers) + 1})"
    return KeptRatings(table=table, placed=place_all(table, model), observers=observers)


def _names(value: Json) -> tuple[str, ...]:
    return tuple(str(name) for name in value) if isinstance(value, list) else ()
