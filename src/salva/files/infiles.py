"""Files that people and other programs wrote, on their way in."""

from __future__ import annotations

from pathlib import Path

from salva.errors import UsageError


def file_bytes(path: Path) -> bytes:
    """A file as it is."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"{str(path)!r} cannot be read: {error.strerror or error}") from error
