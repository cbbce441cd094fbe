"""Other people's raw answers and ratings, made into a run.

Files come in and a run directory goes out: cases, verdicts with their scores, and a list of everything that was wrong
with a row. Such a run has no images or observations: it can be reported, compared and exported, but not judged again.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from salva import registry
from salva.component_facts import suite_about
from salva.core.exchange import COPIES_FOLDER, ImportSettings, ReadIn
from salva.core.protocols import Importer, RunImporter
from salva.core.run_file import Imported, ImportedFile, Judging, new_run_file
from salva.core.run_spec import ComponentSpec, RunSpec
from salva.errors import UsageError
from salva.files.infiles import file_bytes
from salva.files.outfiles import write_bytes, write_text
from salva.files.tables import csv_text
from salva.messages import message
from salva.store.blobs import store_error
from salva.store.runfile import store_run_file
from salva.store.sqlite import open_run

PROBLEMS_FILE = "import-problems.csv"


def import_files(
    files: Sequence[Path], form: str, out: Path, *, model: str = "", options: Mapping[str, str] | None = None
) -> ReadIn:
    """Read files of a format and write them as a run; returns what was read and what was wrong.

    model: the generator, where the files do not name it. options: those of the format.
    """
    importer: Importer | RunImporter = registry.bind(
        ComponentSpec(role="importer", name=form, options=options or {})
    ).build()
    _check_empty(out)
    if isinstance(importer, RunImporter):
        return importer.read_run(files, out)
    read_in = importer.read(files, ImportSettings(model=model, names=tuple(shown_names(files))))
    _write(read_in, files, form, out)
    return read_in


def shown_names(files: Sequence[Path]) -> list[str]:
    """What to call files in messages: their names, or their paths where two have one name."""
    names = Counter(path.name for path in files)
    return [path.name if names[path.name] == 1 else str(path) for path in files]


def _check_empty(out: Path) -> None:
    try:
        if out.exists() and (not out.is_dir() or any(out.iterdir())):
            raise UsageError(message("output-exists", path=str(out)))
    except OSError as error:
        raise store_error(out, error) from error


def _write(read_in: ReadIn, files: Sequence[Path], form: str, out: Path) -> None:
    with open_run(out, "write") as store:
        judged = {(verdict.case_id, verdict.check) for verdict in read_in.verdicts}
        for ordinal, case in enumerate(read_in.cases):
            primary = next((check for check in case.checks if (case.case_id, check) in judged), case.check)
            store.put_case(ordinal, case, primary)
        for verdict in read_in.verdicts:
            store.put_verdict(verdict)
        store.set_meta("imported", form)
        store.set_whole()
    if read_in.problems:
        rows = [[flaw.file, flaw.where.removeprefix("line "), flaw.what] for flaw in read_in.problems]
        write_text(out / PROBLEMS_FILE, csv_text([["file", "line", "problem"], *rows]))
    asked = RunSpec(
        suite=ComponentSpec(role="suite", name=read_in.suite),
        models=tuple(ComponentSpec(role="model", name=model) for model in read_in.models),
        observers=tuple(ComponentSpec(role=role, name=name) for name, role in read_in.observers.items()),
        checks=read_in.rules,
        check=read_in.check,
        published=_is_published(read_in),
        size="imported",
        repeats=read_in.repeats,
        imported=form,
    )
    sources = []
    for number, (path, name) in enumerate(zip(files, shown_names(files), strict=True), 1):
        data = file_bytes(path)
        copy = f"{number}-{path.name}" if read_in.needs_files else ""
        if copy:
            write_bytes(out / COPIES_FOLDER / copy, data)
        sources.append(ImportedFile(name=name, sha256=hashlib.sha256(data).hexdigest(), kept=copy))
    imported = Imported(form=form, files=tuple(sources), n_problems=len(read_in.problems), about=read_in.about)
    judging = Judging(spec=asked, deciding=read_in.deciding) if read_in.deciding else None
    # Last, so that a folder with a run.json holds all that was read.
    with open_run(out, "write") as store:
        store_run_file(store, new_run_file(asked, imported=imported, judging=judging))


def _is_published(read_in: ReadIn) -> bool:
    """Whether the files were judged by the rule of the suite's paper."""
    published = suite_about(read_in.suite).published
    options = {f"check.{name}": value for rule in read_in.rules for name, value in rule.options.items()}
    said = {"check": read_in.check, **options}
    return bool(read_in.check and published) and all(
        str(said.get(name, value)) == value for name, value in published.items()
    )
