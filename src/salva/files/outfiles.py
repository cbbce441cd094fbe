"""Files for people and other programs, written whole or not at all."""

from __future__ import annotations

import hashlib
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from salva.errors import StoreError, UsageError
from salva.messages import message


def write_text(path: Path, text: str) -> None:
    """Write a text file whole or not at all, making its folder."""
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file whole or not at all, making its folder."""
    with writing(path) as file:
        file.write(data)


@contextmanager
def writing(path: Path) -> Iterator[IO[bytes]]:
    """A file to write piece by piece, which gets its name once it is whole; its folder is made.

    A link in its place is replaced and not followed, since it may belong to somebody else. A pipe or a device is
    refused.
    """
    temporary: Path | None = None
    try:
        if path.exists() and not (path.is_symlink() or path.is_file() or path.is_dir()):
            raise UsageError(message("file-unwritable", path=str(path), why="it is a device or a pipe"))
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("wb", dir=path.parent, delete=False) as file:
            temporary = Path(file.name)
            yield file
        temporary.chmod(0o644)
        temporary.replace(path)
        temporary = None
    except OSError as error:
        raise cannot_write(path, error) from error
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)


def safe_name(text: str) -> str:
    """A file name for any text: small letters, digits and dashes stay, a hash stands for what is replaced."""
    return unique_name(re.sub(r"[^a-z0-9-]+", "-", text.lower()).strip("-"), text)


def unique_name(name: str, text: str) -> str:
    """A name made of a text, with a hash of the text where the two differ, so that no two texts share one."""
    name = name[:80]
    if name and name == text:
        return name
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{name}-{digest}" if name else digest


def cannot_write(path: Path, error: OSError) -> StoreError:
    """The error for a file that could not be written."""
    return StoreError(message("file-unwritable", path=str(path), why=error.strerror or error))
