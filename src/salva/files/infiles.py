"""Reads foreign files: their bytes, or their text in UTF-8 or UTF-16.

What is no text is one error with the line. Knows nothing of what the text means.
"""

from __future__ import annotations

from pathlib import Path

from salva.errors import UsageError
from salva.messages import message

_PACKED = b"PK\x03\x04"
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


def file_bytes(path: Path) -> bytes:
    """A file as it is."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError(message("file-unreadable", path=str(path), why=error.strerror or error)) from error


def file_text(path: Path) -> str:
    """A file as text: UTF-8 with or without a byte order mark, or UTF-16 with one."""
    data = file_bytes(path)
    if data.startswith(_PACKED):
        why = "it is a spreadsheet or another packed file; save its sheet as CSV (UTF-8)"
        raise UsageError(message("file-unreadable", path=str(path), why=why))
    encoding = "utf-16" if data.startswith(_UTF16_MARKS) else "utf-8-sig"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        why = f"cannot be read as UTF-8 ({error.reason}); save the file in UTF-8"
        raise UsageError(message("file-invalid", path=str(path), where=f"line {line}", why=why)) from error
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        why = "a NUL byte, which no text contains; save the file in UTF-8"
        raise UsageError(message("file-invalid", path=str(path), where=f"line {line}", why=why))
    return text
