"""Messages about the run directory."""

from __future__ import annotations

from collections.abc import Mapping

from salva.messages.entry import Entry

ENTRIES: Mapping[str, Entry] = {
    "run-missing": Entry(
        "{path!r} is no run: it has no {file}.",
    ),
    "run-format": Entry(
        "{path!r} was written by another version of salva (format {found}, this one reads {known}). "
        "Repeat the run in another directory.",
    ),
    "store-damaged": Entry(
        "{path!r} cannot be used: {why}.",
        "The database or a file was edited or damaged. Restore it from a copy, or start a new run.",
    ),
    "store-slow": Entry(
        "{path!r} was given up: one statement took more than {seconds} s.",
        "A database of salva's answers at once. Somebody made this one to be slow, or the disk does not keep up.",
    ),
    "key-unusable": Entry(
        "{path!r} is no {kind} Ed25519 key without a password ({why}).",
        "`openssl genpkey -algorithm ed25519 -out KEY.pem` makes a private key, and "
        "`openssl pkey -in KEY.pem -pubout -out PUBLIC.pem` its public one; keys of `ssh-keygen -t ed25519` do too.",
    ),
    "seal-unfinished": Entry(
        "{path!r} is not sealed: the run is not finished. Run the same `salva run` first.",
    ),
    "disk-error": Entry(
        "Cannot use {path!r} ({why}): {advice}.",
    ),
    "image-file-damaged": Entry(
        "{path!r} is damaged: {why}. Delete it and run the same `salva run`.",
    ),
    "row-invalid": Entry(
        "{path!r}, table {table}, row {row!r} is invalid ({why}). Restore the file from a copy.",
        "`salva verify` lists everything that is wrong with a run.",
    ),
    "rows-contradict": Entry(
        "{path!r} contradicts {table}, row {row!r}, merged before. Merge one of them alone.",
    ),
    "note-invalid": Entry(
        "The run's note {name!r} is invalid ({why}). Restore the run from a copy.",
    ),
    "images-not-named": Entry(
        "Only the run names {address}, where the images of {path!r} are; nothing was contacted. If you "
        "trust it, add --images {quoted}.",
    ),
    "images-elsewhere": Entry(
        "The images of {path!r} are {place}, and --images names {address}. Restore --images, or choose another --out.",
    ),
    "image-remote": Entry(
        "{place} is no file of this machine. Read its bytes instead.",
    ),
    "case-missing": Entry(
        "There is no case {case!r} in {path!r}.",
    ),
    "case-twice": Entry(
        "The suite {suite!r} gives two cases the id {case!r}. Ids must differ.",
    ),
    "run-locked": Entry(
        "Process {holder} writes to {path!r}. Wait, stop it, or choose another --out.",
    ),
}
