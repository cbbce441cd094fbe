"""Messages about files people give."""

from __future__ import annotations

from collections.abc import Mapping

from salva.messages.entry import Entry

ENTRIES: Mapping[str, Entry] = {
    "file-missing": Entry(
        "There is no file {path!r}.",
    ),
    "folder-invalid": Entry(
        "{path!r} must hold {wanted}; it holds {found}.",
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
    "image-invalid": Entry(
        "No usable image: {why}.",
        "Images are whole PNG, JPEG or WEBP files, or objects of PIL, numpy or torch with values from 0 to 1 or 0 to 255.",
    ),
    "file-invalid": Entry(
        "{path!r}, {where}: {why}.",
        "The place is a line, a row or a key of the file.",
    ),
    "entry-invalid": Entry(
        "{where}: {why}.",
        "The place is a field of the entry, and $ the entry itself.",
    ),
    "json-invalid": Entry(
        "{path!r}{where} is no JSON: {why}.",
    ),
    "json-shape": Entry(
        "{path!r}{where} must hold {wanted}.",
    ),
    "key-duplicate": Entry(
        "{path!r}{where} has the key {key!r} twice in one object. Keep one of them.",
    ),
    "column-duplicate": Entry(
        "{path!r} has the column {column!r} twice. Give each column a name of its own.",
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
    "rows-invalid": Entry(
        "{path!r} has {n} that cannot be used:{shown}",
        "Each line names the place and the problem; many problems of one kind share a line. Correct the file and run the command again.",
    ),
    "rows-skipped": Entry(
        "{n} rows of {path!r} are not used; the first: {why}.",
    ),
    "import-changed": Entry(
        "{path!r} is not the file that was imported. Import {name!r} again.",
        "A run keeps a copy of the files it was made of, with their digests; this copy was edited or damaged.",
    ),
    "output-exists": Entry(
        "{path!r} exists already. Choose another path or remove it.",
    ),
}
