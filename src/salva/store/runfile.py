"""The file RUN/run.json; what it says is a RunFile.

Replaced as a whole, so that a reader sees the old text or the new one and never half of one.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from salva.core.asked import RunFile
from salva.core.blame import redact
from salva.errors import StoreError
from salva.store.blobs import store_error

RUN_FILE = "run.json"


def read_run_file(directory: Path) -> RunFile | None:
    """What run.json says; None where there is none yet."""
    path = directory / RUN_FILE
    try:
        return RunFile.from_json(json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise store_error(path, error) from error
    except ValueError as error:
        raise StoreError(
            f"{str(path)!r} is not the file salva wrote ({error}); "
            "restore it from a copy, or start anew with another --out"
        ) from error


def write_run_file(directory: Path, content: RunFile) -> None:
    """Replace run.json, if it does not say the same already; no secret is written."""
    path = directory / RUN_FILE
    temporary = directory / f".{RUN_FILE}.tmp"
    text = redact(json.dumps(content.to_json(), indent=2, ensure_ascii=True, allow_nan=False, sort_keys=True)) + "\n"
    try:
        if path.exists() and path.read_bytes() == text.encode():
            return
        with open(temporary, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        raise store_error(path, error) from error
