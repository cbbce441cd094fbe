"""Other people's raw answers and ratings, made into a run.

Files come in and a run directory goes out: cases, verdicts with their scores, and a list of everything that was wrong
with a row. There are no pictures and no looks in such a run, so it can be reported, compared and exported, but not
judged again: what was asked and answered is kept beside each case. One reader a format stands in READERS.
"""

from __future__ import annotations

import csv
import hashlib
import importlib
import io
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from salva.core.case import Case
from salva.core.cells import safe_cell
from salva.core.fingerprint import Json
from salva.core.verdict import Verdict
from salva.errors import UsageError, unknown_name
from salva.files.outfiles import write_bytes, write_text
from salva.people.ratings import Columns
from salva.store.blobs import store_error
from salva.store.records import WHOLE
from salva.store.runfile import write_run_file
from salva.store.sqlite import open_run

READERS: Mapping[str, str] = {
    "ratings": "salva.exchange.import_ratings:read",
    "tifa-lite": "salva.exchange.import_tifa:read",
}
"""Format to module:function; the function takes the files and the settings, and gives what it read."""

PROBLEMS_FILE = "import-problems.csv"
KEPT_FOLDER = "imported"
"""Where a run keeps the files themselves, if it is asked about them again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Something wrong with one row, and what was done about it."""

    file: str
    line: int
    """0 when no single line is to blame."""
    what: str

    def __str__(self) -> str:
        where = f"{self.file} line {self.line}" if self.line else self.file
        return f"{where}: {self.what}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportSettings:
    """What a file cannot say about itself."""

    model: str = ""
    """The name of the model that painted; empty takes it from the file names."""
    clip_scale: str = "percent"
    """The scale of the CLIP scores in the files."""
    columns: Columns = field(default_factory=Columns)
    """Which column of a rating table is what."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadIn:
    """What a reader made of its files."""

    suite: str
    models: tuple[str, ...]
    cases: tuple[Case, ...]
    verdicts: tuple[Verdict, ...]
    problems: tuple[Problem, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    """What was read, in words and numbers: {"answers": 1000}."""
    rules: tuple[Mapping[str, Json], ...] = ()
    """Name and options of the relations the scores follow, as run.json lists them."""
    repeats: int = 1
    observers: Mapping[str, str] = field(default_factory=dict)
    """Who looked, as verdicts name them, and what they are: person or judge."""
    leading: Mapping[str, str] = field(default_factory=dict)
    """For a relation the observer to lead with, where several have as many verdicts."""
    about: Mapping[str, Json] = field(default_factory=dict)
    """What else run.json should say about the files."""
    keeps_files: bool = False
    """Whether the run needs the files themselves later."""


Reader = Callable[[Sequence[Path], ImportSettings], ReadIn]


def import_files(files: Sequence[Path], form: str, out: Path, settings: ImportSettings) -> ReadIn:
    """Read files of a format and write them as a run; says what was read and what was wrong."""
    if form not in READERS:
        raise unknown_name("import format", form, READERS)
    _check_empty(out)
    module, _, name = READERS[form].partition(":")
    reader = cast(Reader, getattr(importlib.import_module(module), name))
    read_in = reader(files, settings)
    _write(read_in, files, form, out)
    return read_in


def shown_names(files: Sequence[Path]) -> list[str]:
    """What to call files in messages: their names, or their paths where two have one name."""
    names = Counter(path.name for path in files)
    return [path.name if names[path.name] == 1 else str(path) for path in files]


def _check_empty(out: Path) -> None:
    try:
        if out.exists() and (not out.is_dir() or any(out.iterdir())):
            raise UsageError(f"{str(out)!r} is there already and not an empty folder; choose another with --out")
    except OSError as error:
        raise store_error(out, error) from error


def _write(read_in: ReadIn, files: Sequence[Path], form: str, out: Path) -> None:
    with open_run(out, "write") as store:
        for ordinal, case in enumerate(read_in.cases):
            store.put_case(ordinal, case)
        for verdict in read_in.verdicts:
            store.put_verdict(verdict)
        store.set_meta("imported", form)
        store.set_meta(WHOLE, True)
    if read_in.problems:
        buffer = io.StringIO(newline="")
        writer = csv.writer(buffer)
        writer.writerow(["file", "line", "problem"])
        writer.writerows([safe_cell(p.file), p.line or "", safe_cell(p.what)] for p in read_in.problems)
        write_text(out / PROBLEMS_FILE, buffer.getvalue())
    rules: list[Json] = [dict(rule) for rule in read_in.rules]
    models: list[Json] = [{"name": model, "options": {}} for model in read_in.models]
    asked: dict[str, Json] = {
        "suite": {"name": read_in.suite, "options": {}},
        "models": models,
        "observers": {f"{role}:{name}": {"name": name, "options": {}} for name, role in read_in.observers.items()},
        "relations": rules,
        "headline": "",
        "size": "imported",
        "repeats": read_in.repeats,
        "seed": 0,
        "control": False,
        "only": [],
        "imported": form,
    }
    sources: list[Json] = []
    for number, (path, name) in enumerate(zip(files, shown_names(files), strict=True), 1):
        data = file_bytes(path)
        source: dict[str, Json] = {"name": name, "sha256": hashlib.sha256(data).hexdigest()}
        if read_in.keeps_files:
            source["kept"] = f"{number}-{path.name}"
            write_bytes(out / KEPT_FOLDER / f"{number}-{path.name}", data)
        sources.append(source)
    imported: dict[str, Json] = {"as": form, "files": sources, "n_problems": len(read_in.problems), **read_in.about}
    # Last, so that a folder with a run.json holds all that was read.
    judged: dict[str, Json] = {"leading": dict(read_in.leading)}
    write_run_file(out, {"asked": asked, "imported": imported, **({"judged": judged} if read_in.leading else {})})


def file_bytes(path: Path) -> bytes:
    """A file as it is."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"{str(path)!r} cannot be read: {error.strerror or error}") from error
