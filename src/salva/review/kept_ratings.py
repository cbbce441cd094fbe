"""The ratings a run was made of: read from their files, and read again from the run that keeps these files."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from salva.core.fingerprint import Json
from salva.errors import StoreError, UsageError
from salva.files.kept_files import kept_data, kept_files
from salva.review.rated_things import Placed, place_all
from salva.review.rating_joins import read_together
from salva.review.ratings import Columns, Ratings
from salva.store.runfile import read_run_file


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptRatings:
    """Ratings, and where each of them belongs in the run made of them."""

    ratings: Ratings
    placed: Placed
    observers: Mapping[str, str]
    """Person or judge to the name that their verdicts go by."""

    @property
    def people(self) -> list[str]:
        """The people, as observers."""
        return [self.observers[who] for who in self.ratings.people]


def kept_ratings(directory: Path, group: str = "") -> KeptRatings | None:
    """The ratings a run was made of; None for a run that was not made of any."""
    run_file = read_run_file(directory)
    imported = run_file.imported if run_file else None
    if imported is None or imported.form != "ratings":
        return None
    columns = imported.about.get("columns")
    if not isinstance(columns, dict):
        raise StoreError(f"run.json of {str(directory)!r} does not say which columns were read; import the files again")
    files = kept_files(directory, imported)
    for file in files:
        kept_data(file)
    wanted = Columns(
        things=_listed(columns.get("item")),
        rater=str(columns.get("rater") or ""),
        people=_listed(columns.get("people")),
        judges=_listed(columns.get("judge")),
        group=group,
    )
    model = str(imported.about.get("model") or "")
    return read_kept([file.path for file in files], [file.name for file in files], wanted, model)


def _listed(value: Json) -> tuple[str, ...]:
    return tuple(str(name) for name in value) if isinstance(value, list) else ()


def read_kept(paths: Sequence[Path], names: Sequence[str], columns: Columns, model: str) -> KeptRatings:
    """The ratings in files; names: what to call the files, model: who painted where they do not say."""
    ratings = read_together(paths, columns, names)
    if both := [who for who in ratings.people if who in ratings.judges]:
        raise UsageError(f"a person and a judge are both called {both[0]!r}; give one of them another name")
    observers: dict[str, str] = {}
    for who in dict.fromkeys((*ratings.people, *ratings.judges)):
        # A plus joins observers and a comma lists them, so no name may hold either.
        name = re.sub(r"\s*[+,]\s*", " and ", who)
        observers[who] = name if name not in observers.values() else f"{name} ({len(observers) + 1})"
    return KeptRatings(ratings=ratings, placed=place_all(ratings, model), observers=observers)
