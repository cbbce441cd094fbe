"""Copies of imported files."""

from __future__ import annotations

import hashlib
from pathlib import Path

from salva.core.exchange import COPIES_FOLDER
from salva.core.run_file import Imported
from salva.core.source import ImportCopy
from salva.errors import StoreError
from salva.files.infiles import file_bytes
from salva.messages import message


def import_copies(directory: Path, imported: Imported | None) -> tuple[ImportCopy, ...]:
    """The copies that a run.json lists; nothing is read yet."""
    # A name and no path: run.json must not lead out of the run.
    return tuple(
        ImportCopy(name=file.name, path=directory / COPIES_FOLDER / Path(file.kept).name, sha256=file.sha256)
        for file in (imported.files if imported else ())
        if file.kept
    )


def copied_data(file: ImportCopy) -> bytes:
    """The content of a copy; StoreError where it is not what was imported."""
    data = file_bytes(file.path)
    if hashlib.sha256(data).hexdigest() != file.sha256:
        raise StoreError(message("import-changed", path=str(file.path), name=file.name))
    return data
