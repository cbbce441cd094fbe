"""Files for people and other programs, written whole or not at all."""

from __future__ import annotations

import tempfile
from pathlib import Path

from salva.errors import StoreError


def write_text(path: Path, text: str) -> None:
    """Write a text file whole or not at all, making its folder."""
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file whole or not at all, making its folder."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("wb", dir=path.parent, delete=False) as file:
            temporary = Path(file.name)
            file.write(data)
        temporary.chmod(0o644)
        temporary.replace(path)
    except OSError as error:
        raise cannot_write(path, error) from error


def cannot_write(path: Path, error: OSError) -> StoreError:
    """The error of the tree for a file that could not be written."""
    return StoreError(
        f"cannot write {str(path)!r} ({error.strerror or error}); make room or choose another place with -o"
    )
