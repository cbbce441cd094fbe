"""Messages about the run directory."""

from __future__ import annotations

from collections.abc import Mapping

from salva.messages.entry import Entry

ENTRIES: Mapping[str, Entry] = {
    "run-missing": Entry("{path!r} is no run: it has no {file}."),
    "run-format": Entry(
        "{path!r} has format {found}; this version of salva reads {known}. Repeat the run in another directory."
    ),
    "store-damaged": Entry("{path!r} cannot be used: {why}. Restore a copy, or start a new run."),
    "store-slow": Entry("{path!r} was given up: a statement took more than {seconds} s."),
    "key-unusable": Entry(
        "{path!r} is no {kind} Ed25519 key without a password ({why}).", "`ssh-keygen -t ed25519` makes a pair."
    ),
    "seal-unfinished": Entry("{path!r} is not finished. Run the same `salva run` first."),
    "disk-error": Entry("Cannot use {path!r} ({why}): {advice}."),
    "image-file-damaged": Entry("{path!r} is damaged: {why}. Delete it and run the same `salva run`."),
    "row-invalid": Entry(
        "{path!r}, table {table}, row {row!r} is invalid ({why}). Restore a copy.", "`salva verify` lists everything."
    ),
    "rows-contradict": Entry("{path!r} contradicts {table}, row {row!r}, merged before."),
    "note-invalid": Entry("The note {name!r} is invalid ({why}). Restore the run from a copy."),
    "images-not-named": Entry(
        "Only the run names {address}, where the images of {path!r} are. If you trust it, add --images {quoted}."
    ),
    "images-elsewhere": Entry(
        "The images of {path!r} are {place}, not at {address}. Restore --images, or choose another --out."
    ),
    "image-remote": Entry("{place} is no local file. Read its bytes instead."),
    "case-missing": Entry("There is no case {case!r} in {path!r}."),
    "case-twice": Entry("The suite {suite!r} gives two cases the id {case!r}."),
    "run-locked": Entry("Process {holder} writes to {path!r}. Wait, or choose another --out."),
}
