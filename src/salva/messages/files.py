"""Messages about files people give."""

from __future__ import annotations

from collections.abc import Mapping

from salva.messages.entry import Entry

ENTRIES: Mapping[str, Entry] = {
    "file-missing": Entry(
        "There is no file {path!r}.",
    ),
    "file-unreadable": Entry(
        "{path!r} cannot be read: {why}.",
    ),
    "file-unwritable": Entry(
        "{path!r} cannot be written: {why}.",
    ),
    "file-empty": Entry(
        "{path!r} holds nothing to read.",
    ),
    "file-invalid": Entry(
        "{path!r}, {where}: {why}.",
        "The place is a line, a row or a key of the file.",
    ),
    "column-missing": Entry(
        "{path!r} has no column {column!r}; its columns are {header}. Name the column with {flag}.",
        "Columns are never guessed: they have the documented names, or a flag names them.",
    ),
    "column-ambiguous": Entry(
        "{path!r}: several columns could be {what} ({columns}). Name one with {flag}.",
        "Columns are never guessed: they have the documented names, or a flag names them.",
    ),
    "value-invalid": Entry(
        "{path!r}, {where}: {name} is {value!r}; it must be {wanted}.",
    ),
    "rows-skipped": Entry(
        "{n} rows of {path!r} are not used; the first: {why}.",
    ),
    "output-exists": Entry(
        "{path!r} exists already. Choose another path or remove it.",
    ),
}
