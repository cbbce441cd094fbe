"""The files that a run was imported from, where the run keeps them: each as it was then, or an error that names it."""

from __future__ import annotations

import hashlib
from pathlib import Path

from salva.core.exchange import KEPT_FOLDER
from salva.core.run_json import Imported
from salva.core.source import KeptFile
from salva.errors import StoreError
from salva.files.infiles import file_bytes


def kept_files(directory: Path, imported: Imported | None) -> tuple[KeptFile, ...]:
    """Those of a run; imported: what its run.json says of where it came from. Nothing is read yet."""
    # A name and no path: run.json must not lead out of the run.
    return tuple(
        KeptFile(name=file.name, path=directory / KEPT_FOLDER / Path(file.kept).name, sha256=file.sha256)
        for file in (imported.files if imported else ())
        if file.kept
    )


def kept_data(file: KeptFile) -> bytes:
    """What is in it; StoreError where that is not what was imported."""
    data = file_bytes(file.path)
    if hashlib.sha256(data).hexdigest() != file.sha256:
        raise StoreError(f"{str(file.path)!r} is not the file that was imported; import {file.name!r} again")
    return data
