"""RUN/run.json: what was asked, which components that meant, and where it ran.

Replaced as a whole, so that a reader sees the old text or the new one and never half of one.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

from salva.core.fingerprint import Json
from salva.errors import StoreError
from salva.store.blobs import store_error

RUN_FILE = "run.json"


def read_run_file(directory: Path) -> dict[str, Json] | None:
    """What run.json says; None where there is none yet."""
    path = directory / RUN_FILE
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        if isinstance(error, OSError):
            raise store_error(path, error) from error
        raise _broken(path, error) from error
    try:
        content = json.loads(text)
    except ValueError as error:
        raise _broken(path, error) from error
    if not isinstance(content, dict) or not isinstance(content.get("asked"), dict):
        raise _broken(path, ValueError("it has no object 'asked'"))
    return content


def write_run_file(directory: Path, content: Mapping[str, Json]) -> None:
    """Replace run.json."""
    path = directory / RUN_FILE
    temporary = directory / f".{RUN_FILE}.tmp"
    text = json.dumps(content, indent=2, ensure_ascii=True, allow_nan=False, sort_keys=True) + "\n"
    try:
        with open(temporary, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        raise store_error(path, error) from error


def _broken(path: Path, error: Exception) -> StoreError:
    return StoreError(
        f"{str(path)!r} is not the file salva wrote ({error}); restore it from a copy, or start anew with another --out"
    )
