"""Messages about files people give."""

from __future__ import annotations

from collections.abc import Mapping

from salva.messages.entry import Entry

ENTRIES: Mapping[str, Entry] = {
    "file-missing": Entry("There is no file or folder {path!r}."),
    "folder-invalid": Entry("{path!r} must hold {wanted}; it holds {found}."),
    "file-unreadable": Entry("{path!r} cannot be read: {why}."),
    "file-unwritable": Entry("{path!r} cannot be written: {why}."),
    "file-empty": Entry("{path!r} holds nothing to read."),
    "image-invalid": Entry(
        "No usable image: {why}.", "Images are PNG, JPEG or WEBP files, or objects of PIL, numpy or torch."
    ),
    "file-invalid": Entry("{path!r}, {where}: {why}."),
    "entry-invalid": Entry("{where}: {why}."),
    "json-invalid": Entry("{path!r}{where} is no JSON: {why}."),
    "json-shape": Entry("{path!r}{where} must hold {wanted}."),
    "key-duplicate": Entry("{path!r}{where} has the key {key!r} twice in one object."),
    "column-duplicate": Entry("{path!r} has the column {column!r} twice."),
    "column-missing": Entry("{path!r} has no column {column!r}, only {header}. Name it with {flag}."),
    "column-ambiguous": Entry("{path!r}: several columns could be {what} ({columns}). Name one with {flag}."),
    "value-invalid": Entry("{path!r}, {where}: {name} is {value!r}; it must be {wanted}."),
    "rows-invalid": Entry("{path!r} has {n} that cannot be used:{shown}"),
    "import-changed": Entry("{path!r} was edited or damaged. Import {name!r} again."),
    "output-exists": Entry("{path!r} exists already."),
}
