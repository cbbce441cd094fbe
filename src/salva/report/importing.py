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
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from salva.core.case import Case
from salva.core.fingerprint import Json
from salva.core.verdict import Verdict
from salva.errors import UsageError, unknown_name
from salva.report.export import safe_cell, write_text
from salva.store.blobs import store_error
from salva.store.runfile import write_run_file
from salva.store.sqlite import open_run

READERS: Mapping[str, str] = {"tifa-lite": "salva.report.import_tifa:read"}
"""Format to module:function; the function takes the files and the settings, and gives what it read."""

PROBLEMS_FILE = "import-problems.csv"


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
        "observers": {},
        "relations": rules,
        "headline": "",
        "size": "imported",
        "repeats": 1,
        "seed": 0,
        "control": False,
        "only": [],
        "imported": form,
    }
    sources: list[Json] = [{"name": path.name, "sha256": _digest(path)} for path in files]
    imported: dict[str, Json] = {"as": form, "files": sources, "n_problems": len(read_in.problems)}
    # Last, so that a folder with a run.json holds all that was read.
    write_run_file(out, {"asked": asked, "imported": imported})


def _digest(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise UsageError(f"{str(path)!r} cannot be read: {error.strerror or error}") from error
