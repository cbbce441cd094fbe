"""Text that people and other programs wrote, on its way in: bytes to text, or one error that says where it stops."""

from __future__ import annotations

from pathlib import Path

from salva.errors import UsageError

_PACKED = b"PK\x03\x04"
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


def file_bytes(path: Path) -> bytes:
    """A file as it is."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"{str(path)!r} cannot be read: {error.strerror or error}") from error


def file_text(path: Path) -> str:
    """A file as text: UTF-8 with or without a mark, or UTF-16 with one."""
    data = file_bytes(path)
    if data.startswith(_PACKED):
        raise UsageError(f"{str(path)!r} is a spreadsheet or another packed file; save its sheet as CSV (UTF-8)")
    encoding = "utf-16" if data.startswith(_UTF16_MARKS) else "utf-8-sig"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UsageError(
            f"{str(path)!r}, line {line}: cannot be read as UTF-8 ({error.reason}); save the file in UTF-8"
        ) from error
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise UsageError(f"{str(path)!r}, line {line}: a NUL byte, which no text holds; save the file in UTF-8")
    return text
